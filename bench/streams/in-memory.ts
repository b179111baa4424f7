// Shuts down a server with more event streams than a process may have sockets. Prints how long the drain took and how
// long the event loop was blocked. The connections are in memory. The server is Node's own.
import { createServer } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { duplexPair } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { lameduck } from '../../src/index.ts';

const count = Number(process.argv[2]);

const server = createServer((_, response) => {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  response.write('data: first\n\n');
});
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const duck = lameduck(server, { shutdownDelayDuration: 0, logger: quiet });
server.listen(0, '127.0.0.1');
await duck.signals.hasBeenReady.signaled;

const progress = { opened: 0, whole: 0 };
for (let index = 0; index < count; index++) {
  open();
  if (index % 500 === 0) await setImmediate();
}
while (progress.opened < count) await setImmediate();

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const since = performance.now();
const { exitCode } = await duck.shutdown('benchmark');
const result = {
  tookMs: performance.now() - since,
  whole: progress.whole,
  exitCode,
  stillMs: { median: delay.percentile(50) / 1e6, p99: delay.percentile(99) / 1e6, longest: delay.max / 1e6 },
};
console.log(JSON.stringify(result));

function open(): void {
  const [client, socket] = duplexPair();
  server.emit('connection', socket);
  let end = '';
  client.once('data', () => progress.opened++);
  client.on('data', (chunk: Buffer) => {
    end = (end + chunk.toString('latin1')).slice(-5);
    if (end === '0\r\n\r\n') progress.whole++;
  });
  client.on('end', () => client.end());
  client.write('GET /events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n');
}
