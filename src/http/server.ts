// The servers that a lifecycle can be given, and which of them are refused.
import { Server as HttpServer } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import { LameduckError } from '../errors.ts';

/** A server that the seam can be put on. */
export type Server = HttpServer | HttpsServer;

const taken = new WeakSet<object>();

/** take marks a server as one that has a lifecycle. */
export function take(server: Server): void {
  taken.add(server);
}

/**
 * checkServer throws LAMEDUCK_ERR_SERVER_INVALID for what is no server of node:http or node:https,
 * LAMEDUCK_ERR_SERVER_CLOSED for one that has been closed, LAMEDUCK_ERR_SERVER_TAKEN for one that has a seam.
 */
export function checkServer(server: unknown): asserts server is Server {
  if (!(server instanceof HttpServer) && !(server instanceof HttpsServer)) {
    const given = typeof server === 'object' && server !== null ? nameOf(server) : String(server);
    throw new LameduckError(
      'LAMEDUCK_ERR_SERVER_INVALID',
      `server: ${given}: allowed is a server of node:http or node:https, or an array of them`,
    );
  }
  if (taken.has(server)) {
    throw new LameduckError('LAMEDUCK_ERR_SERVER_TAKEN', 'server: lameduck() has been called for it before');
  }
  if (hasBeenClosed(server)) {
    throw new LameduckError('LAMEDUCK_ERR_SERVER_CLOSED', 'server: it has been closed already');
  }
}

/** checkDistinct throws LAMEDUCK_ERR_SERVER_TAKEN for a server that is given twice at once. */
export function checkDistinct(servers: readonly Server[]): void {
  if (new Set(servers).size < servers.length) {
    throw new LameduckError('LAMEDUCK_ERR_SERVER_TAKEN', 'server: the same one is given twice');
  }
}

function nameOf(object: object): string {
  return Object.hasOwn(object, 'constructor') || Object.getPrototypeOf(object) !== null
    ? object.constructor.name
    : 'an object';
}

/** hasBeenClosed tells a closed server from one that has never listened, which nothing public does. */
export function hasBeenClosed(server: Server): boolean {
  return !server.listening && checkingInterval(server)?._destroyed === true;
}

/** checkingInterval returns Node's interval that looks for requests that take too long; it is there once a server has listened. */
export function checkingInterval(server: Server): Interval | undefined {
  const key = Object.getOwnPropertySymbols(server).find(
    ({ description }) => description === 'http.server.connectionsCheckingInterval',
  );
  return key === undefined ? undefined : (server as unknown as Record<symbol, Interval>)[key];
}

type Interval = NodeJS.Timeout & { _destroyed?: boolean };
