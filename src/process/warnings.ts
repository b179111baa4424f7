// The warnings that are logged when the lifecycle starts, about launchers, runtimes and libraries that may end this
// process before its shutdown has ended.
import type { Environment } from '../settings/environment.ts';
import type { Settings } from '../settings/table.ts';
import { closeWithGraceWarning } from './close-with-grace.ts';
import { launcherWarning } from './launcher.ts';
import { pm2Warning } from './pm2.ts';
import { runtimeWarning } from './runtime.ts';

/** processWarnings returns one line for each warning about how this process was started. `budget` is in milliseconds. */
export function processWarnings(settings: Settings, environment: Environment, budget: number): string[] {
  const { ownSignalListeners, shutdownSignals, terminationGracePeriodSeconds } = settings;
  // With `ownSignalListeners=hold`, the signal listener of close-with-grace is called only after the drain, so it
  // cannot end the process earlier.
  const closeWithGrace =
    ownSignalListeners === 'run' ? closeWithGraceWarning(shutdownSignals, budget, environment) : undefined;
  const pm2 = pm2Warning(environment, terminationGracePeriodSeconds * 1_000);
  const all = [launcherWarning(environment), closeWithGrace, pm2, runtimeWarning()];
  return all.filter((one) => one !== undefined);
}
