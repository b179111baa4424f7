// The servers that a lifecycle can be given, and which of them are refused.
import { Server as HttpServer } from 'node:http';
import type { Http2SecureServer, Http2Server } from 'node:http2';
import type { Server as HttpsServer } from 'node:https';
import { Server as NetServer } from 'node:net';
import { LameduckError, quoted, type LameduckErrorCode } from '../errors.ts';
import { hasBeenClosed } from './node-internals.ts';

/** Server is a server that the seam can be put on. */
export type Server = Http1Server | Http2Server | Http2SecureServer;

/** Http1Server is one that speaks HTTP/1.1 alone. */
export type Http1Server = HttpServer | HttpsServer;

const takenKey = Symbol.for('lameduck.servers/v1');

// Shared by all copies of this package in the process. Two lifecycles on one server would wait for each other.
function taken(): WeakSet<object> {
  const shared = globalThis as unknown as Record<symbol, WeakSet<object> | undefined>;
  return (shared[takenKey] ??= new WeakSet());
}

/** take marks a server as one that has a lifecycle. */
export function take(server: Server): void {
  taken().add(server);
}

/**
 * checkServer throws LAMEDUCK_ERR_SERVER_INVALID unless the argument is a server of node:http, node:https or node:http2. It throws
 * LAMEDUCK_ERR_SERVER_CLOSED for a closed server, and LAMEDUCK_ERR_SERVER_TAKEN for a server that has a lifecycle.
 */
export function checkServer(server: unknown, index = 0): asserts server is Server {
  if (!(server instanceof HttpServer) && !isHttps(server) && !isHttp2(server)) {
    refuse('LAMEDUCK_ERR_SERVER_INVALID', index, classOf(server), remedyFor(server));
  }
  if (taken().has(server)) {
    refuse('LAMEDUCK_ERR_SERVER_TAKEN', index, 'one for which lameduck() has been called before');
  }
  if (hasBeenClosed(server)) {
    refuse('LAMEDUCK_ERR_SERVER_CLOSED', index, 'one that has been closed');
  }
}

/** isFree tells whether `checkServer` lets a server pass: one that has a lifecycle keeps that. */
export function isFree(server: unknown): server is Server {
  try {
    checkServer(server);
    return true;
  } catch {
    return false;
  }
}

/** checkDistinct throws LAMEDUCK_ERR_SERVER_TAKEN for a server that is given twice at once. */
export function checkDistinct(servers: readonly Server[]): void {
  servers.forEach((server, index) => {
    if (servers.indexOf(server) < index) refuse('LAMEDUCK_ERR_SERVER_TAKEN', index, 'one that is given twice');
  });
}

/**
 * isSecure tells whether a server speaks TLS. It does not use `instanceof`, because a program without TLS does not load
 * node:tls, and loading it takes milliseconds.
 */
export function isSecure(server: unknown): boolean {
  return hasMethod(server, 'setSecureContext');
}

function isHttps(server: unknown): server is HttpsServer {
  return isSecure(server) && hasMethod(server, 'closeIdleConnections');
}

/** isHttp2 tells whether a server is of node:http2. It does not use `instanceof`, which would need to load node:http2. */
export function isHttp2(server: unknown): server is Http2Server | Http2SecureServer {
  return hasMethod(server, 'updateSettings');
}

function hasMethod(server: unknown, name: string): boolean {
  return server instanceof NetServer && typeof (server as unknown as Record<string, unknown>)[name] === 'function';
}

/** portOf returns the TCP port that a server listens on; NaN if it has none. */
export function portOf(server: Server): number {
  const address = server.address();
  return address === null || typeof address === 'string' ? NaN : address.port;
}

function refuse(code: LameduckErrorCode, index: number, given: string, remedy = ''): never {
  const allowed =
    'an open server of node:http, node:https or node:http2 that has no lifecycle yet, or an array of them';
  throw new LameduckError(code, `server ${String(index + 1)}: ${given}: allowed is ${allowed}${remedy}`);
}

function classOf(given: unknown): string {
  if (typeof given !== 'object' || given === null) return quoted(given);
  const { constructor } = given as { constructor?: unknown };
  return typeof constructor === 'function' && constructor.name !== '' ? constructor.name : 'an object';
}

type Application = Readonly<Record<string, unknown>>;

// Recognizes objects of frameworks by their methods, and names the server to pass instead. The first row that matches counts: a
// hapi server also has the methods of Fastify.
const applications: readonly { readonly methods: readonly string[]; readonly is: string; readonly pass: string }[] = [
  { methods: ['getHttpServer', 'init'], is: 'a Nest application', pass: '`app.getHttpServer()`' },
  { methods: ['inject', 'register', 'decorate', 'ext'], is: 'a hapi server', pass: '`server.listener`' },
  { methods: ['inject', 'register', 'decorate'], is: 'a Fastify application', pass: '`app.server`' },
  { methods: ['callback', 'listen', 'use'], is: 'a Koa application', pass: 'what `app.listen()` returns' },
  { methods: ['handle', 'listen', 'use'], is: 'an Express application', pass: 'what `app.listen()` returns' },
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
