// A server that answers requests and does not listen: a `net.Server` hands it the sockets.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Server } from './server.ts';

// Node publishes there each request of HTTP/1.1 that a server gets.
const channel = 'http.server.request.start';

/**
 * watchForHandedSockets calls `onFound`, once, if one of the servers gets a request while it does not listen. The returned
 * function ends the watch: a request costs nothing then.
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
