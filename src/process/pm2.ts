// Detects PM2, which ends a process with SIGKILL after its own timeout.
import { formatDuration } from '../settings/duration.ts';
import type { Environment } from '../settings/environment.ts';

// PM2's default time between the process signal and SIGKILL, in milliseconds. If the option `kill_timeout` is set, PM2
// passes its value to the program as a variable. Otherwise, PM2 passes nothing.
const defaultKillTimeout = 1_600;

/** isUnderPm2 tells whether PM2 started this process. */
export function isUnderPm2(environment: Environment): boolean {
  return (environment['pm_id'] ?? '') !== '';
}

/**
 * pm2Warning returns a warning if PM2 kills this process before `gracePeriod` milliseconds have passed. The warning
 * names the option to set.
 */
export function pm2Warning(environment: Environment, gracePeriod: number): string | undefined {
  if (!isUnderPm2(environment)) return undefined;
  const given = Number(environment['kill_timeout'] ?? environment['PM2_KILL_TIMEOUT']);
  const killTimeout = given > 0 ? given : defaultKillTimeout;
  if (killTimeout >= gracePeriod) return undefined;
  return (
    `PM2 sends SIGKILL ${formatDuration(killTimeout)} after its stop signal, and this cuts requests in flight: set ` +
    `kill_timeout: ${String(gracePeriod)} in the configuration of PM2, or start with --kill-timeout ${String(gracePeriod)}`
  );
}
