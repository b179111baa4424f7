// Each kind of server that the tests run on, by the name that stands in their titles.
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import Fastify from 'fastify';
import type { Http1Server } from '../../src/http/server.ts';
import { certificate } from '../fixtures/certificate.ts';

export type AdapterName = 'node:http' | 'node:https' | 'Fastify';

/** Each adapter turns a plain handler into a server that does not listen yet. */
export const adapters: Readonly<Record<AdapterName, (listener: RequestListener) => Promise<Http1Server>>> = {
  'node:http': async (listener) => createServer(listener),
  'node:https': async (listener) => createSecureServer(certificate, listener),
  Fastify: async (listener) => {
    const app = Fastify();
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
  },
};

export const adapterNames = Object.keys(adapters) as AdapterName[];
