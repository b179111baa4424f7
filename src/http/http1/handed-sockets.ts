// Detects a server that gets requests although it does not listen. In such a program, a `net.Server` passes its sockets
// to the HTTP server.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Server } from '../server.ts';

// The diagnostics channel on which Node publishes each HTTP/1.1 request.
const channel = 'http.server.request.start';

/**
 * watchForHandedSockets calls `onFound` once when a server that does not listen gets a request. The program has then
 * handed a socket to this server. After a call of the returned function, later requests cost no additional time.
 */
export function watchForHandedSockets(servers: readonly Server[], onFound: () => void): () => void {
  const onRequest = (message: unknown): void => {
    const { server } = message as { readonly server: Server };
    if (!servers.includes(server) || server.listening) return;
    stop();
    onFound();
  };
  const stop = (): void => {
    unsubscribe(channel, onRequest);
  };
  subscribe(channel, onRequest);
  return stop;
}
