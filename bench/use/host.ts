// The measured process: one server, and the resources that its requests have used so far.
//
//   node --expose-gc bench/use/host.ts http|fastify none|code|register
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getHeapStatistics, GCProfiler } from 'node:v8';

/** Question is a request from the measuring process. Each response is one object of numbers. */
export type Question = 'cpu' | 'profile' | 'profiled' | 'memory';

/** Answers holds the type of the response to each Question. */
export interface Answers {
  /** CPU time of the process so far, in microseconds. */
  readonly cpu: number;
  readonly profile: number;
  /**
   * The bytes that were allocated in the heap since the question `profile`, and the microseconds of garbage collection
   * since then.
   */
  readonly profiled: { readonly bytes: number; readonly collecting: number };
  /** After a garbage collection: the open connections, and the bytes in the heap and in memory. */
  readonly memory: { readonly connections: number; readonly heap: number; readonly resident: number };
}

const [framework, by] = process.argv.slice(2);
// The route function is set, so that its cost is measured too.
const options = { route: () => '/' };

async function httpServer(): Promise<Server> {
  const server = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/plain');
    response.end('hello\n');
  });
  if (by === 'code') (await import('../../src/index.ts')).lameduck(server, options);
  await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, resolve));
  return server;
}

async function fastifyServer(): Promise<Server> {
  const { fastify } = await import('fastify');
  const app = fastify();
  if (by === 'code') await app.register((await import('../../src/fastify.ts')).default);
  app.get('/', (_request, reply) => reply.type('text/plain').send('hello\n'));
  await app.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 });
  return app.server;
}

const server = await (framework === 'fastify' ? fastifyServer() : httpServer());

let profiler: GCProfiler | undefined;
let usedBefore = 0;

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
