// Makes each worker that the primary forks load `lameduck/register`. Without a lifecycle, a worker would lose requests
// at the process signal.
import type { Cluster } from 'node:cluster';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

// The folder of the package's CommonJS files. It is undefined in an ECMAScript module.
declare const __dirname: string;

/**
 * preloadInWorkers makes each worker that is forked from now on load `lameduck/register`. It has no effect if a bundler
 * has moved this code, or if the program later sets `execArgv` itself.
 */
export function preloadInWorkers({ settings }: Cluster): void {
  const file = typeof __dirname === 'string' ? join(__dirname, 'cluster-worker.cjs') : '';
  if (!existsSync(file) || !canPreload()) return;
  // Change `settings` without calling `setupPrimary`. The first call of `setupPrimary` fixes `schedulingPolicy`, so the
  // program could no longer set it.
  settings.execArgv = [...(settings.execArgv ?? process.execArgv), '--require', file];
}

// Tells whether Node can load a file with `--require`, for which Node needs the path of the working directory. The
// directory may have been removed.
function canPreload(): boolean {
  try {
    process.cwd();
    return true;
  } catch {
    return false;
  }
}
