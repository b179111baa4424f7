// The routes of an ordinary application. They contain no code for the shutdown.
import { setTimeout as pause } from 'node:timers/promises';
import { hostname } from 'node:os';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { Pool } from 'undici';

const slow = {
  querystring: {
    type: 'object',
    properties: { ms: { type: 'integer', minimum: 0, maximum: 60_000, default: 1_000 } },
  },
};

const order = {
  body: { type: 'object' },
};

// Seconds during which a client can resume an event stream after a disconnect.
const longestGap = 60;

export function addRoutes(app: FastifyInstance, pool: Pool): void {
  // X-Served-By names the replica that responded, for users who watch a rollout.
  app.addHook('onSend', async (_request, reply) => {
    void reply.header('X-Served-By', hostname());
  });

  app.get('/', async () => ({
    service: 'reference-service',
    pid: process.pid,
    routes: [
      'GET /slow?ms=3000',
      'GET /events',
      'POST /orders',
      'POST /upload',
      'GET /upstream',
      'GET /readyz?verbose',
      'GET /livez',
    ],
  }));

  app.get<{ Querystring: { ms: number } }>('/slow', { schema: slow }, async (request) => {
    await pause(request.query.ms);
    return { sleptMs: request.query.ms };
  });

  app.get('/events', async (request, reply) => {
    void reply.type('text/event-stream').header('Cache-Control', 'no-cache');
    return reply.send(Readable.from(seconds(Number(request.headers['last-event-id']))));
  });

  app.post('/orders', { schema: order }, async (request, reply) => reply.code(201).send({ accepted: request.body }));

  app.get('/upstream', async () => {
    const { body } = await pool.request({ path: '/', method: 'GET' });
    return { upstream: await body.json() };
  });

  // The handler of the route /upload reads the request body as a stream. The plugin of this route therefore replaces
  // Fastify's body parsers by a parser that accepts every content type and returns the stream.
  void app.register(async (uploads) => {
    uploads.removeAllContentTypeParsers();
    uploads.addContentTypeParser('*', (_request, payload, done) => {
      done(null, payload);
    });
    uploads.post<{ Body: AsyncIterable<Buffer> | undefined }>('/upload', async (request) => {
      let bytes = 0;
      for await (const chunk of request.body ?? []) bytes += chunk.length;
      return { bytes };
    });
  });
}

// One event per second. Every replica numbers the events alike, so that a client that reconnects to another replica
// continues where it stopped.
async function* seconds(last: number): AsyncGenerator<string> {
  const now = (): number => Math.floor(Date.now() / 1_000);
  let next = last > now() - longestGap && last <= now() ? last + 1 : now();
  for (;;) {
    for (; next <= now(); next++) yield `id: ${String(next)}\ndata: ${new Date(next * 1_000).toISOString()}\n\n`;
    await pause(1_000 - (Date.now() % 1_000));
  }
}
