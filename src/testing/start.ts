// Starts the servers for `runShutdown`: makes them listen and waits until they are ready.
import { once } from 'node:events';
import { Server as TlsServer } from 'node:tls';
import { hostAndPort } from '../address.ts';
import { LameduckError } from '../errors.ts';
import { failingIn } from '../health/report.ts';
import type { Server } from '../http/server.ts';
import type { Parts } from '../parts.ts';
import { formatDuration } from '../settings/duration.ts';
import { isDoneWithin } from './outcome.ts';

/** Listen is a function that makes a server listen on an address. */
export type Listen = (server: Server, address: { port: number; host: string }) => PromiseLike<unknown>;

/**
 * `start()` makes each server that does not listen yet listen on a free port. It resolves when the lifecycle is ready
 * for the first time. If this takes longer than `milliseconds`, it throws LAMEDUCK_ERR_NEVER_READY.
 */
export async function start(
  parts: Parts,
  servers: readonly Server[],
  listen: Listen,
  milliseconds: number,
): Promise<void> {
  for (const one of servers) if (!one.listening) await listen(one, { port: 0, host: '127.0.0.1' });
  const { hasBeenReady, shutdownInitiated } = parts.handle.signals;
  await isDoneWithin(milliseconds, Promise.race([hasBeenReady.signaled, shutdownInitiated.signaled]));
  if (!hasBeenReady.hasSignaled) throw await neverReady(parts, milliseconds);
}

/**
 * listenPlainly calls `listen()` of a server of node:http, node:https or node:http2, and resolves when the server
 * listens.
 */
export const listenPlainly: Listen = (server, address) => {
  const listening = once(server, 'listening');
  server.listen(address);
  return listening;
};

async function neverReady({ health, handle }: Parts, milliseconds: number): Promise<LameduckError> {
  const report = (await health.answer('/readyz?verbose'))?.body ?? '';
  const failing = failingIn(report);
  const when = handle.signals.shutdownInitiated.hasSignaled
    ? 'when its shutdown began'
    : `after ${formatDuration(milliseconds)}`;
  const what = failing.length === 0 ? 'all readyz checks pass now' : `failing: ${failing.join(', ')}`;
  return new LameduckError('LAMEDUCK_ERR_NEVER_READY', `runShutdown(): the server was not ready ${when}; ${what}`);
}

/** originOf returns the origin at which this process can reach a listening server, such as `http://127.0.0.1:40123`. */
export function originOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') {
    throw new LameduckError(
      'LAMEDUCK_ERR_SERVER_INVALID',
      'runShutdown(): expected a server on a port, or a server that does not listen yet, but the server listens on a Unix socket',
    );
  }
  const protocol = server instanceof TlsServer ? 'https' : 'http';
  return `${protocol}://${hostAndPort(reachable(address.address), address.port)}`;
}

function reachable(address: string): string {
  if (address === '0.0.0.0') return '127.0.0.1';
  return address === '::' ? '::1' : address;
}
