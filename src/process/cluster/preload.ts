// Makes each worker that the primary forks load `lameduck/register`. Without a lifecycle, a worker would lose requests
// at the process signal.
import type { Cluster } from 'node:cluster';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

// The folder of the package's CommonJS files. It is undefined in an ECMAScript module.
declare const __dirname: string;

/**
 * preloadInWorkers makes each worker that is forked after this call load `lameduck/register`. If a bundler has moved
 * this code, the file `cluster-worker.cjs` is missing, and preloadInWorkers does nothing. If the program later sets
 * `execArgv` itself, the workers do not load `lameduck/register`.
 */
export function preloadInWorkers({ settings }: Cluster): void {
  const file = typeof __dirname === 'string' ? join(__dirname, 'cluster-worker.cjs') : '';
  if (!existsSync(file) || !canPreload()) return;
  // Assign to `settings` instead of calling `setupPrimary`. The first call of `setupPrimary` fixes `schedulingPolicy`,
  // which the program may still want to set.
  settings.execArgv = [...(settings.execArgv ?? process.execArgv), '--require', file];
}

// Tells whether the working directory of the process still exists. If it has been removed, Node cannot load a file with
// `--require`.
function canPreload(): boolean {
  try {
    process.cwd();
    return true;
  } catch {
    return false;
  }
}
