// An idle server that sends its CPU time and its memory to its parent process. It uses the built package: for the
// TypeScript sources, Node would load a compiler in each thread. The argument says what the server runs in addition:
// nothing, an empty thread, or a probe port.
//
//   node --expose-gc bench/probes/idle.ts without|empty-thread|PROBE_PORT
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import type * as Package from '../../src/index.ts';
import { logger, probePortListens } from './probe-port-logger.ts';

/** Quantity is the CPU time so far in milliseconds, or the resident memory after a garbage collection in bytes. */
export type Quantity = 'cpu' | 'resident';

const [mode = ''] = process.argv.slice(2);
const { lameduck } = createRequire(import.meta.url)('../../dist/index.cjs') as typeof Package;
const hasProbePort = /^\d+$/.test(mode);
const duck = lameduck(createServer().listen(0, '127.0.0.1'), {
  logger,
  ...(hasProbePort ? { probePort: Number(mode) } : {}),
});
await duck.signals.hasBeenReady.signaled;
if (hasProbePort) await probePortListens;
if (mode === 'empty-thread') new Worker('setInterval(() => undefined, 2 ** 30)', { eval: true });
process.on('message', (quantity: Quantity) => {
  const { user, system } = process.cpuUsage();
  if (quantity === 'resident') globalThis.gc?.();
  process.send?.(quantity === 'cpu' ? (user + system) / 1_000 : process.memoryUsage.rss());
});
process.send?.('ready');
