// The measured process. It runs one server, and reports the resources that the requests to this server have used so
// far.
//
//   node --expose-gc bench/use/host.ts FRAMEWORK none|code|register
//
// The last argument says how lameduck is added: not at all, by a call in the code, or by lameduck/register.
import { createServer, type RequestListener } from 'node:http';
import { createSecureServer, createServer as createHttp2Server } from 'node:http2';
import { Session } from 'node:inspector/promises';
import type { AddressInfo, Server } from 'node:net';
import { getHeapStatistics, GCProfiler } from 'node:v8';
import { WebSocketServer } from 'ws';
import { partsOf, samplingInterval, type Parts } from '../cpu-profile.ts';
import type { Server as ServerOfLameduck } from '../../src/http/server.ts';
import { certificate } from '../../test/fixtures/certificate.ts';
import type { Framework } from './variants.ts';

/** Question is a message to the measured process, which runs this module. */
export type Question = 'cpu' | 'profile' | 'profiled' | 'sample' | 'sampled' | 'memory';

/**
 * Answers maps each type of message that the benchmark sends to the measured server process to the data of the
 * response.
 */
export interface Answers {
  /** The CPU time that the process of the measured server has used since its start, in microseconds. */
  readonly cpu: number;
  readonly profile: number;
  /**
   * Both numbers are totals since the measured process received the message `profile`. `bytes` is how many bytes the
   * process has allocated in the heap. `collecting` is how long garbage collections have taken, in microseconds.
   */
  readonly profiled: { readonly bytes: number; readonly collecting: number };
  readonly sample: number;
  /**
   * The CPU time, in microseconds, that the main thread has used since the process received the message `sample`. It is
   * divided between lameduck, Node and the program.
   */
  readonly sampled: Parts;
  /**
   * The number of open connections, the bytes in the heap, and the resident memory in bytes. All are measured after a
   * garbage collection.
   */
  readonly memory: { readonly connections: number; readonly heap: number; readonly resident: number };
}

const [framework, by] = process.argv.slice(2) as [Framework, string];
// Set lameduck's option `route`, so that the benchmark includes the CPU time of its calls.
const options = { route: () => '/' };

const handle: RequestListener = (_request, response) => {
  response.setHeader('Content-Type', 'text/plain');
  response.end('hello\n');
};
// The cast is safe, because the compatibility API of node:http2 has every member that `handle` uses.
const handleHttp2 = handle as never;

function webSocketServer(): Server {
  const http = createServer();
  const sockets = new WebSocketServer({ server: http, perMessageDeflate: false });
  sockets.on('connection', (socket) => {
    socket.on('message', (data) => {
      socket.send(data);
    });
  });
  return http;
}

const create: Readonly<Record<Exclude<Framework, 'fastify'>, () => Server>> = {
  http: () => createServer(handle),
  'http2 without TLS': () => createHttp2Server(handleHttp2),
  'http2 over TLS': () => createSecureServer(certificate, handleHttp2),
  webSocket: webSocketServer,
};

async function nodeServer(kind: Exclude<Framework, 'fastify'>): Promise<Server> {
  const created = create[kind]();
  if (by === 'code') (await import('../../src/index.ts')).lameduck(created as ServerOfLameduck, options);
  await new Promise<void>((resolve) => created.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, resolve));
  return created;
}

async function fastifyServer(): Promise<Server> {
  const { fastify } = await import('fastify');
  const app = fastify();
  if (by === 'code') await app.register((await import('../../src/fastify.ts')).default);
  app.get('/', (_request, reply) => reply.type('text/plain').send('hello\n'));
  await app.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 });
  return app.server;
}

const server = await (framework === 'fastify' ? fastifyServer() : nodeServer(framework));

let profiler: GCProfiler | undefined;
let usedBefore = 0;
const session = new Session();
session.connect();

const answer: { readonly [Name in Question]: () => Promise<Answers[Name]> | Answers[Name] } = {
  cpu() {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
  profile() {
    profiler = new GCProfiler();
    profiler.start();
    return (usedBefore = getHeapStatistics().used_heap_size);
  },
  profiled() {
    let used = usedBefore;
    let bytes = 0;
    let collecting = 0;
    for (const { beforeGC, afterGC, cost } of profiler?.stop().statistics ?? []) {
      bytes += beforeGC.heapStatistics.usedHeapSize - used;
      used = afterGC.heapStatistics.usedHeapSize;
      collecting += cost;
    }
    return { bytes: bytes + getHeapStatistics().used_heap_size - used, collecting };
  },
  async sample() {
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: samplingInterval });
    await session.post('Profiler.start');
    return samplingInterval;
  },
  async sampled() {
    const { profile } = await session.post('Profiler.stop');
    await session.post('Profiler.disable');
    return partsOf(profile);
  },
  async memory() {
    const connections = await new Promise<number>((resolve, reject) => {
      server.getConnections((error, count) => {
        if (error === null) resolve(count);
        else reject(error);
      });
    });
    globalThis.gc?.();
    const { heapUsed, external, rss } = process.memoryUsage();
    return { connections, heap: heapUsed + external, resident: rss };
  },
};

process.on('message', (question: Question) => {
  void Promise.resolve(answer[question]()).then((answered) => process.send?.(answered));
});
process.on('disconnect', () => process.exit());
process.send?.((server.address() as AddressInfo).port);
