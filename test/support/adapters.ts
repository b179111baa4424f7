// The kinds of servers on which the tests run. Their names appear in test titles and in docs/conformance.md.
import { createServer, type RequestListener } from 'node:http';
import { createSecureServer as createSecureHttp2Server } from 'node:http2';
import { createServer as createSecureServer } from 'node:https';
import Fastify, { type FastifyInstance } from 'fastify';
import type { Http1Server } from '../../src/http/server.ts';
import { certificate } from '../fixtures/certificate.ts';

export const serverKinds = [
  'node:http',
  'node:https',
  'node:http2 without TLS',
  'node:http2 over TLS',
  'Fastify',
  'Fastify HTTP/2',
  'register',
] as const;
export type ServerKind = (typeof serverKinds)[number];

const onlyHttp2 = 'node:http2 without TLS';
export type AdapterName = Exclude<ServerKind, typeof onlyHttp2>;
export const adapterNames = serverKinds.filter((kind): kind is AdapterName => kind !== onlyHttp2);

// An HTTP/2 server over TLS passes HTTP/1.1 requests to its handlers as requests of node:http.
const mixed = { ...certificate, allowHTTP1: true };

/**
 * Each adapter is a function for one framework or Node module. It creates a server that passes its requests to
 * `listener`. The server does not listen yet.
 */
export const adapters: Readonly<Record<AdapterName, (listener: RequestListener) => Promise<Http1Server>>> = {
  'node:http': async (listener) => createServer(listener),
  'node:https': async (listener) => createSecureServer(certificate, listener),
  'node:http2 over TLS': async (listener) =>
    createSecureHttp2Server(mixed, listener as unknown as undefined) as unknown as Http1Server,
  Fastify: async (listener) => serverOf(Fastify(), listener),
  'Fastify HTTP/2': async (listener) =>
    // The cast is safe. Fastify declares another type for an HTTP/2 application, but this type has every member that
    // serverOf() uses.
    serverOf(Fastify({ http2: true, https: mixed }) as unknown as FastifyInstance, listener),
  // The program creates an ordinary server. lameduck/register adds the lifecycle later.
  register: async (listener) => createServer(listener),
};

/** isSecure returns whether clients of an adapter's server use TLS. */
export function isSecure(adapter: AdapterName): boolean {
  return adapter === 'node:https' || adapter === 'node:http2 over TLS' || adapter === 'Fastify HTTP/2';
}

async function serverOf(app: FastifyInstance, listener: RequestListener): Promise<Http1Server> {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => {
    done(null);
  });
  app.all('/*', (request, reply) => {
    reply.hijack();
    listener(request.raw, reply.raw);
  });
  await app.ready();
  return app.server;
}
