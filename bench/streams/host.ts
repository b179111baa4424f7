// The server that the benchmark of streams shuts down. It runs in its own process, and sends only the first bytes of
// each response stream. At the end of the drain, it sends its measurements to its parent process.
//
//   node bench/streams/host.ts KIND
import { createServer, type RequestListener } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo, Server } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { WebSocketServer } from 'ws';
import type { Server as ServerOfLameduck } from '../../src/http/server.ts';
import { lameduck } from '../../src/index.ts';
import type { StreamKind } from './kinds.ts';

/**
 * Stills has the durations of the turns of the event loop during the drain, in milliseconds: the median, the 99th
 * percentile and the longest. During a turn, the main thread can do no other work.
 */
export interface Stills {
  readonly median: number;
  readonly p99: number;
  readonly longest: number;
}

const stream: RequestListener = (_request, response) => {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  response.write('data: first\n\n');
};

const create: Readonly<Record<StreamKind, () => Server>> = {
  'event streams': () => createServer(stream),
  // The cast is safe, because the compatibility API of node:http2 has every member that `stream` uses.
  'HTTP/2 streams': () => createHttp2Server(stream as never),
  WebSockets: () => {
    const http = createServer();
    new WebSocketServer({ server: http, perMessageDeflate: false });
    return http;
  },
};

const server = create[process.argv[2] as StreamKind]();
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const duck = lameduck(server as ServerOfLameduck, { shutdownDelayDuration: 0, logger: quiet });
const delay = monitorEventLoopDelay({ resolution: 1 });
duck.addPreShutdownHook('measure', () => {
  delay.enable();
});
duck.addDestroyHook('measurement', () => {
  const [median, p99, longest] = [delay.percentile(50), delay.percentile(99), delay.max].map((time) => time / 1e6);
  process.send?.({ median, p99, longest });
  process.disconnect();
});
server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 });
await duck.signals.hasBeenReady.signaled;
process.send?.((server.address() as AddressInfo).port);
