// The other servers of an application: Fastify creates one for each further address of `localhost`.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { FastifyInstance } from 'fastify';
import type { Lameduck } from '../handle.ts';
import { isFree, type Server } from '../http/server.ts';
import { addServer } from '../manage.ts';
import type { Parts } from '../parts.ts';

// Node publishes on this channel which server is about to listen (P-112).
const channel = 'tracing:net.server.listen:asyncStart';

/**
 * joinServers adds every server whose requests the application handles to the lifecycle, before the server listens (P-020).
 * Fastify does not report the servers that it creates.
 */
export function joinServers(app: FastifyInstance, parts: Parts): void {
  const { handle } = parts;
  const onListen = (message: unknown): void => {
    const { server } = message as { readonly server: Server };
    // Only compared, never called.
    // eslint-disable-next-line @typescript-eslint/unbound-method
    if (server === app.server || !server.listeners('request').includes(app.routing) || !isFree(server)) return;
    addServer(parts, server);
  };
  subscribe(channel, onListen);
  void handle.ended.then(() => {
    unsubscribe(channel, onListen);
  });
}

/**
 * listenNoMore makes an `app.listen()` resolve without a further server, if it runs when a shutdown begins or is called later.
 * Otherwise Fastify would wait forever for a server that it does not start while it closes, and would read the address of a
 * closed server.
 */
export function listenNoMore(app: FastifyInstance, { signals }: Lameduck): void {
  const stop = async (): Promise<void> => {
    await signals.shutdownInitiated.signaled;
    // Fastify has no other interface for this. It also calls `app.close()`, and reports a failure to every other caller.
    await app.listen({ signal: AbortSignal.abort() });
  };
  stop().catch(() => undefined);
}
