// Servers that answer requests and do not listen, because a `net.Server` hands them its sockets.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Server } from '../server.ts';

// Node publishes each request of HTTP/1.1 on this channel.
const channel = 'http.server.request.start';

/**
 * watchForHandedSockets calls `onFound` once, if one of the servers gets a request while it does not listen. The returned
 * function unsubscribes from the channel, so that a request costs nothing.
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
