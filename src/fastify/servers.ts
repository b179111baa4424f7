// Finds the servers that Fastify creates itself: one for each further address of `localhost`.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { FastifyInstance } from 'fastify';
import type { Lameduck } from '../handle.ts';
import { isFree, type Server } from '../http/server.ts';
import { addServer } from '../manage.ts';
import type { Parts } from '../parts.ts';

// The diagnostics channel on which Node publishes each server that is about to listen (P-112).
const channel = 'tracing:net.server.listen:asyncStart';

/**
 * joinServers adds every server of the application to the lifecycle before the server listens (P-020). Fastify does not
 * report the servers that it creates, so Node's diagnostics channel finds them.
 */
export function joinServers(app: FastifyInstance, parts: Parts): void {
  const { handle } = parts;
  const onListen = (message: unknown): void => {
    const { server } = message as { readonly server: Server };
    // The function `routing` is only compared and never called, so it needs no `this`.
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
 * listenNoMore makes an `app.listen()` end that is in progress when a shutdown begins, or that is called later.
 * Otherwise that call of `app.listen()` would wait forever, because Fastify starts no server while the application is
 * closing.
 */
export function listenNoMore(app: FastifyInstance, { signals }: Lameduck): void {
  const stop = async (): Promise<void> => {
    await signals.shutdownInitiated.signaled;
    // Only an aborted signal makes Fastify end the calls of `app.listen()` that wait. The signal also makes Fastify
    // call `app.close()`, and all other callers of `app.listen()` get the error.
    await app.listen({ signal: AbortSignal.abort() });
  };
  stop().catch(() => undefined);
}
