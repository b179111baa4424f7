// The types of server that `lameduck()` accepts, and the errors for all other values.
import { Server as HttpServer } from 'node:http';
import type { Http2SecureServer, Http2Server } from 'node:http2';
import type { Server as HttpsServer } from 'node:https';
import { Server as NetServer } from 'node:net';
import { LameduckError, quoted, type LameduckErrorCode } from '../errors.ts';
import { hasBeenClosed } from '../node-internals.ts';

/** Server is an HTTP server that can have a lifecycle. */
export type Server = Http1Server | Http2Server | Http2SecureServer;

/** Http1Server is an HTTP server that speaks only HTTP/1.1. */
export type Http1Server = HttpServer | HttpsServer;

const takenKey = Symbol.for('lameduck.servers/v1');

// Returns the set of servers that have a lifecycle. All copies of this package in the process share the set, because
// two lifecycles of one server would wait for each other.
function taken(): WeakSet<object> {
  const shared = globalThis as unknown as Record<symbol, WeakSet<object> | undefined>;
  return (shared[takenKey] ??= new WeakSet());
}

/** `take()` marks a server as taken: the server has a lifecycle, or lameduck itself has created the server. */
export function take(server: NetServer): void {
  taken().add(server);
}

export function isTaken(server: NetServer): boolean {
  return taken().has(server);
}

/**
 * checkServer throws LAMEDUCK_ERR_SERVER_INVALID unless the argument is a server of node:http, node:https or
 * node:http2. It throws LAMEDUCK_ERR_SERVER_CLOSED for a closed server, and LAMEDUCK_ERR_SERVER_TAKEN for a server that
 * has a lifecycle.
 */
export function checkServer(server: unknown, index = 0): asserts server is Server {
  if (!(server instanceof HttpServer) && !isHttps(server) && !isHttp2(server)) {
    refuse('LAMEDUCK_ERR_SERVER_INVALID', index, classOf(server), remedyFor(server));
  }
  if (isTaken(server)) {
    refuse('LAMEDUCK_ERR_SERVER_TAKEN', index, 'a server for which lameduck() has already been called');
  }
  if (hasBeenClosed(server)) {
    refuse('LAMEDUCK_ERR_SERVER_CLOSED', index, 'a server that has been closed');
  }
}

/** isFree tells whether a value is an open server without a lifecycle. For any other value, `checkServer` throws. */
export function isFree(server: unknown): server is Server {
  try {
    checkServer(server);
    return true;
  } catch {
    return false;
  }
}

/** checkDistinct throws LAMEDUCK_ERR_SERVER_TAKEN if one server is passed twice in an array. */
export function checkDistinct(servers: readonly Server[]): void {
  servers.forEach((server, index) => {
    if (servers.indexOf(server) < index) refuse('LAMEDUCK_ERR_SERVER_TAKEN', index, 'a server that is passed twice');
  });
}

/**
 * isSecure tells whether a server uses TLS. It does not use `instanceof`, because loading node:tls takes milliseconds,
 * and a program without TLS does not load it.
 */
export function isSecure(server: unknown): boolean {
  return hasMethod(server, 'setSecureContext');
}

function isHttps(server: unknown): server is HttpsServer {
  return isSecure(server) && hasMethod(server, 'closeIdleConnections');
}

/**
 * isHttp2 tells whether a server is a server of node:http2. It does not use `instanceof`, which would require loading
 * node:http2.
 */
export function isHttp2(server: unknown): server is Http2Server | Http2SecureServer {
  return hasMethod(server, 'updateSettings');
}

function hasMethod(server: unknown, name: string): boolean {
  return server instanceof NetServer && typeof (server as unknown as Record<string, unknown>)[name] === 'function';
}

/**
 * addressOf returns the address on which a server listens, even if the program has replaced `address()` of the server.
 */
export function addressOf(server: NetServer): ReturnType<NetServer['address']> {
  return NetServer.prototype.address.call(server);
}

/** portOf returns the TCP port on which a server listens, or NaN if it listens on no TCP port. */
export function portOf(server: NetServer): number {
  const address = addressOf(server);
  return address === null || typeof address === 'string' ? NaN : address.port;
}

function refuse(code: LameduckErrorCode, index: number, given: string, remedy = ''): never {
  const allowed =
    'an open server of node:http, node:https or node:http2 that has no lifecycle yet, or an array of such servers';
  throw new LameduckError(code, `server ${String(index + 1)}: ${given}: expected ${allowed}${remedy}`);
}

function classOf(given: unknown): string {
  if (typeof given !== 'object' || given === null) return quoted(given);
  const { constructor } = given as { constructor?: unknown };
  return typeof constructor === 'function' && constructor.name !== '' ? constructor.name : 'an object';
}

type Application = Readonly<Record<string, unknown>>;

// The frameworks whose application can be recognized by its methods. The error for such an application names the server
// that must be passed instead. The first entry that matches is used. hapi is before Fastify, because a hapi server also
// has the methods of Fastify.
const applications: readonly { readonly methods: readonly string[]; readonly is: string; readonly pass: string }[] = [
  { methods: ['getHttpServer', 'init'], is: 'a Nest application', pass: '`app.getHttpServer()`' },
  { methods: ['inject', 'register', 'decorate', 'ext'], is: 'a hapi server', pass: '`server.listener`' },
  { methods: ['inject', 'register', 'decorate'], is: 'a Fastify application', pass: '`app.server`' },
  { methods: ['callback', 'listen', 'use'], is: 'a Koa application', pass: 'the return value of `app.listen()`' },
  { methods: ['handle', 'listen', 'use'], is: 'an Express application', pass: 'the return value of `app.listen()`' },
];

function remedyFor(given: unknown): string {
  if ((typeof given !== 'object' || given === null) && typeof given !== 'function') return '';
  try {
    const has = (method: string): boolean => typeof (given as Application)[method] === 'function';
    const found = applications.find(({ methods }) => methods.every(has));
    return found === undefined ? '' : `. This is ${found.is}: pass ${found.pass}`;
  } catch {
    return '';
  }
}
