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
 * report the servers that it creates, so Node's diagnostics channel finds them. If the program never calls
 * `app.listen()`, the lifecycle starts with such a server.
 */
export function joinServers(app: FastifyInstance, parts: Parts): void {
  const { handle } = parts;
  const onListen = (message: unknown): void => {
    const { server } = message as { readonly server: Server };
    // The function `routing` is only compared and never called, so it needs no `this`.
    // eslint-disable-next-line @typescript-eslint/unbound-method
    if (server === app.server || !server.listeners('request').includes(app.routing) || !isFree(server)) return;
    addServer(parts, server);
    parts.startup.startWith(server);
  };
  subscribe(channel, onListen);
  void handle.ended.then(() => {
    unsubscribe(channel, onListen);
  });
}

/**
 * When a shutdown has begun, listenNoMore makes each pending or later call of `app.listen()` fail. Otherwise such a
 * call would wait forever, because Fastify starts no server while the application is closing.
 */
export function listenNoMore(app: FastifyInstance, { signals }: Lameduck): void {
  const stop = async (): Promise<void> => {
    await signals.shutdownInitiated.signaled;
    // Calling `app.listen()` with an aborted signal is Fastify's only way to end pending calls of `app.listen()`.
    // Fastify then also calls `app.close()`. The pending calls reject with an error.
    await app.listen({ signal: AbortSignal.abort() });
  };
  stop().catch(() => undefined);
}
