// The server that is probed. Each request keeps its main thread busy for two milliseconds, and a message from the
// parent blocks the main thread.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { lameduck } from '../../src/index.ts';
import { logger, probePortListens } from './probe-port-logger.ts';

const requestTime = 2;

const server = createServer((_request, response) => {
  spin(requestTime);
  response.end('served\n');
});
const duck = lameduck(server, { probePort: Number(process.argv[2]), logger });
server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 });
await Promise.all([duck.signals.hasBeenReady.signaled, probePortListens]);
process.on('message', (milliseconds: number) => {
  process.send?.('blocks', () => {
    spin(milliseconds);
  });
});
process.send?.((server.address() as AddressInfo).port);

function spin(milliseconds: number): void {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
}
