import { writeSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { performance, type EventLoopUtilization } from 'node:perf_hooks';
import { lameduck } from 'lameduck';

const server = createServer((_request, response) => {
  response.end('hello');
});
const { signals } = lameduck(server, { shutdownDelayDuration: '10s' });
let before: EventLoopUtilization | undefined;
void signals.shutdownInitiated.signaled.then(() => {
  before = performance.eventLoopUtilization();
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(JSON.stringify({ msg: 'listening', port, pid: process.pid }));
});
process.on('exit', () => {
  const { idle } = performance.eventLoopUtilization(before);
  writeSync(1, `${JSON.stringify({ msg: 'exit', time: Date.now(), idle })}\n`);
});
