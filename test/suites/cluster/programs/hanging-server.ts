// A server that can block its event loop in a given phase of its lifecycle after the next start of its container. A file
// in the run folder keeps the name of the phase. A pod runs this server from a ConfigMap, with the package of the image.
//
//   GET /plan?phase=PHASE  stores PHASE for the next start, and ends this process with SIGTERM
//   GET /block             blocks the event loop of this process now
//   GET /fill              uses more memory than the container may use
//   GET /unhealthy         makes /livez fail
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { lameduck } from 'lameduck';

const nothing = new Int32Array(new SharedArrayBuffer(4));
const block = (): void => void Atomics.wait(nothing, 0, 0);

const plan = join(dirname(process.env['LAMEDUCK_CHECKPOINT_PATH'] ?? ''), 'plan');
const phase = existsSync(plan) ? readFileSync(plan, 'utf8') : '';
rmSync(plan, { force: true });

const write = (details: object, msg: string): void => {
  console.log(JSON.stringify({ ...details, msg }));
  // lameduck writes the name of a lifecycle signal to the checkpoint file before it logs the signal.
  if ((details as { name?: string }).name === phase) block();
};
const logger = { info: write, warn: write, error: write };

const hoard: Buffer[] = [];
let isHealthy = true;
const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  response.end('served\n');
  response.once('finish', () => {
    if (pathname === '/plan') {
      writeFileSync(plan, searchParams.get('phase') ?? '');
      process.kill(process.pid, 'SIGTERM');
    } else if (pathname === '/block') setImmediate(block);
    else if (pathname === '/fill') for (;;) hoard.push(Buffer.alloc(16_777_216, 1));
    else if (pathname === '/unhealthy') isHealthy = false;
  });
});
const duck = lameduck(server, { logger });
duck.addLivezCheck('health', () => isHealthy);
if (phase === 'Started') block();
void duck.signals.hasBeenReady.signaled.then(() => {
  if (phase !== '') process.kill(process.pid, 'SIGTERM');
});
server.listen(Number(process.env['PORT']));
