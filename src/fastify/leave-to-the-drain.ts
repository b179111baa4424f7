// What Fastify does to its servers when it closes: during a shutdown their listeners and connections are the drain's.
import type { Server } from '../http/server.ts';
import type { LifecycleSignals } from '../lifecycle/signals.ts';

/**
 * leaveToTheDrain lets the server's own closing, of itself and of its connections, do nothing while `isLeft` says so.
 * Whoever closes it then is called back when it no longer listens and every request has its answer, however long clients
 * keep their ends of the connections open (P-102).
 */
export function leaveToTheDrain(server: Server, signals: LifecycleSignals, isLeft: () => boolean): void {
  const { httpServerStoppedListening, inFlightRequestsDrained } = signals;
  const close = server.close.bind(server);
  const closeLater = (callback?: (error?: Error) => void): Server => {
    if (!isLeft()) return close(callback);
    void Promise.all([httpServerStoppedListening.signaled, inFlightRequestsDrained.signaled]).then(() => {
      if (callback !== undefined) process.nextTick(callback);
    });
    return server;
  };
  server.close = closeLater as typeof server.close;
  const closers = server as unknown as Record<string, (() => void) | undefined>;
  // Of Node, and for HTTP/2 of Fastify.
  for (const name of ['closeIdleConnections', 'closeAllConnections', 'closeHttp2Sessions']) {
    const closeConnections = closers[name]?.bind(server);
    if (closeConnections === undefined) continue;
    closers[name] = () => {
      if (!isLeft()) closeConnections();
    };
  }
}
