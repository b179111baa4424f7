// A server whose next run in the same pod blocks its event loop in a phase of its lifecycle. The run folder keeps the
// name of that phase. A pod runs it from a ConfigMap, with the package of the image.
//
//   GET /plan?phase=PHASE  ends this run with SIGTERM, so that the next run blocks in the phase
//   GET /block             blocks this run now
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
