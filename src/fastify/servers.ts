// The servers that an application has beside `app.server`: Fastify makes one for each further address of `localhost`.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { FastifyInstance } from 'fastify';
import type { Lameduck } from '../handle.ts';
import { isFree, type Server } from '../http/server.ts';
import { addServer } from '../manage.ts';
import type { Parts } from '../parts.ts';

// Node says there which server is about to listen (P-112).
const channel = 'tracing:net.server.listen:asyncStart';

/**
 * joinServers lets every server that hands its requests to the application drain with the others, from before it listens
 * (P-020). Fastify tells nobody of those that it makes.
 */
export function joinServers(app: FastifyInstance, parts: Parts): void {
  const { handle } = parts;
  const onListen = (message: unknown): void => {
    const { server } = message as { readonly server: Server };
    // Compared, and never called.
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
 * listenNoMore lets an `app.listen()` that runs when a shutdown begins, or comes after it, resolve and make no further server.
 * Fastify would wait for ever for one that it does not start while it closes, and ask a closed one for its address.
 */
export function listenNoMore(app: FastifyInstance, { signals }: Lameduck): void {
  const stop = async (): Promise<void> => {
    await signals.shutdownInitiated.signaled;
    // Fastify has no other way to be told. It calls `app.close()`, too, whose failure is told to all others that call it.
    await app.listen({ signal: AbortSignal.abort() });
  };
  stop().catch(() => undefined);
}
