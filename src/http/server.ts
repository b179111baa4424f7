// The servers that a lifecycle can be given, and which of them are refused.
import { Server as HttpServer } from 'node:http';
import type { Http2SecureServer, Http2Server } from 'node:http2';
import { Server as HttpsServer } from 'node:https';
import { Server as NetServer, type Socket } from 'node:net';
import { LameduckError, quoted, type LameduckErrorCode } from '../errors.ts';

/** Server is a server that the seam can be put on. */
export type Server = Http1Server | Http2Server | Http2SecureServer;

/** Http1Server is one that speaks HTTP/1.1 alone. */
export type Http1Server = HttpServer | HttpsServer;

const takenKey = Symbol.for('lameduck.servers/v1');

// Of all copies of this package in the process: two lifecycles on one server would each wait for the other.
function taken(): WeakSet<object> {
  const shared = globalThis as unknown as Record<symbol, WeakSet<object> | undefined>;
  return (shared[takenKey] ??= new WeakSet());
}

/** take marks a server as one that has a lifecycle. */
export function take(server: Server): void {
  taken().add(server);
}

/**
 * checkServer throws LAMEDUCK_ERR_SERVER_INVALID for what is no server of node:http, node:https or node:http2,
 * LAMEDUCK_ERR_SERVER_CLOSED for one that has been closed, LAMEDUCK_ERR_SERVER_TAKEN for one that has a seam.
 */
export function checkServer(server: unknown, index = 0): asserts server is Server {
  if (!(server instanceof HttpServer) && !(server instanceof HttpsServer) && !isHttp2(server)) {
    refuse('LAMEDUCK_ERR_SERVER_INVALID', index, classOf(server));
  }
  if (taken().has(server)) {
    refuse('LAMEDUCK_ERR_SERVER_TAKEN', index, 'one for which lameduck() has been called before');
  }
  if (hasBeenClosed(server)) {
    refuse('LAMEDUCK_ERR_SERVER_CLOSED', index, 'one that has been closed');
  }
}

/** checkDistinct throws LAMEDUCK_ERR_SERVER_TAKEN for a server that is given twice at once. */
export function checkDistinct(servers: readonly Server[]): void {
  servers.forEach((server, index) => {
    if (servers.indexOf(server) < index) refuse('LAMEDUCK_ERR_SERVER_TAKEN', index, 'one that is given twice');
  });
}

/** isHttp2 tells a server of node:http2, which has no class that could be asked for without loading it. */
export function isHttp2(server: unknown): server is Http2Server | Http2SecureServer {
  return server instanceof NetServer && typeof (server as { updateSettings?: unknown }).updateSettings === 'function';
}

function refuse(code: LameduckErrorCode, index: number, given: string): never {
  const allowed =
    'an open server of node:http, node:https or node:http2 that has no lifecycle yet, or an array of them';
  throw new LameduckError(code, `server ${String(index + 1)}: ${given}: allowed is ${allowed}`);
}

function classOf(given: unknown): string {
  if (typeof given !== 'object' || given === null) return quoted(given);
  const { constructor } = given as { constructor?: unknown };
  return typeof constructor === 'function' && constructor.name !== '' ? constructor.name : 'an object';
}

interface ConnectionsList {
  all(): readonly Parser[];
  active(): readonly Parser[];
}

interface Parser {
  readonly socket?: Socket | null;
}

/** connectionsOf lists the connections that a server has; Node keeps them where only it looks, hence the guards. */
export function connectionsOf(server: Server): Socket[] {
  return (listOf(server)?.all() ?? []).flatMap(({ socket }) => socket ?? []);
}

/** socketsInMessage lists the connections on which a request has begun that is not whole, and those never used. */
export function socketsInMessage(server: Server): Socket[] {
  return (listOf(server)?.active() ?? []).flatMap(({ socket }) => socket ?? []);
}

function listOf(server: Server): ConnectionsList | undefined {
  return hidden(server, 'http.server.connections') as ConnectionsList | undefined;
}

/** hasBeenClosed tells a closed server from one that has never listened, which nothing public does. */
export function hasBeenClosed(server: Server): boolean {
  return !server.listening && checkingInterval(server)?._destroyed === true;
}

/**
 * checkingInterval returns Node's interval that looks for requests that take too long; it is there once a server has
 * listened.
 */
export function checkingInterval(server: Server): Interval | undefined {
  return hidden(server, 'http.server.connectionsCheckingInterval') as Interval | undefined;
}

function hidden(server: Server, description: string): unknown {
  const key = Object.getOwnPropertySymbols(server).find((symbol) => symbol.description === description);
  return key === undefined ? undefined : (server as unknown as Record<symbol, unknown>)[key];
}

type Interval = NodeJS.Timeout & { _destroyed?: boolean };
