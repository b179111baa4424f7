// The package's main export: `lameduck()`, and the types of what it takes and gives.
import { systemClock } from './clock.ts';
import { createHandle, type Lameduck } from './handle.ts';
import { installSeam } from './http/seam.ts';
import { checkDistinct, checkServer, type Server } from './http/server.ts';
import { loggerProblem, type Logger } from './observers/logger.ts';
import { createLogging, silent } from './observers/logging.ts';
import { launcherWarning } from './process/launcher.ts';
import { isEnding, join } from './process/program.ts';
import { checkOptions } from './registration.ts';
import { budgetOf, checkBudget } from './settings/budget.ts';
import { completeSettings } from './settings/complete.ts';
import { isDisabled } from './settings/environment.ts';
import type { SettingsOptions } from './settings/table.ts';

export { isLameduckError, LameduckError, type LameduckErrorCode } from './errors.ts';
export type { Lameduck, ShutdownOptions } from './handle.ts';
export type { CheckFunction } from './health/check.ts';
export type { HookContext, HookFunction, HookOptions } from './hooks/hook.ts';
export type { Server } from './http/server.ts';
export type { SignalName } from './lifecycle/graph.ts';
export type { LifecycleSignal } from './lifecycle/signal.ts';
export type { LifecycleSignals } from './lifecycle/signals.ts';
export type { HookKind, ShutdownRecord, UnfinishedRequest } from './observer.ts';
export type { Logger } from './observers/logger.ts';
export type { Duration } from './settings/duration.ts';

/** LameduckOptions is what `lameduck()` can be given: the settings, which the environment overrules, and functions. */
export interface LameduckOptions extends SettingsOptions {
  /** Where the log goes; pino on standard output unless given. */
  readonly logger?: Logger | undefined;
}

/**
 * lameduck gives a server, or several that drain as one, the lifecycle of a Kubernetes apiserver: from now on a process
 * signal drains it, and its own `listen()` starts the rest. Throws LAMEDUCK_ERR_SETTINGS_INVALID with every problem,
 * LAMEDUCK_ERR_BUDGET_TOO_SHORT, or LAMEDUCK_ERR_SERVER_INVALID, _CLOSED or _TAKEN, before anything is changed.
 */
export function lameduck(server: Server | readonly Server[], options: LameduckOptions = {}): Lameduck {
  checkOptions('lameduck()', options);
  const { logger, ...given } = options;
  const servers = (Array.isArray(server) ? server : [server]) as readonly Server[];
  servers.forEach((one, index) => {
    checkServer(one, index);
  });
  checkDistinct(servers);
  if (isDisabled(process.env) === true) return disabled();

  const { settings, sources, warnings } = completeSettings(
    given,
    process.env,
    logger === undefined ? undefined : loggerProblem(logger),
  );
  checkBudget(budgetOf(settings, 0));
  const logging = createLogging(logger);
  const { handle, hooks, recorder, traffic, startup, shutdown } = createHandle({
    servers,
    settings,
    clock: systemClock,
    observer: logging,
    onStart(addresses) {
      const { sum } = budgetOf(settings, hooks.longestPreShutdown);
      logging.onStart({ addresses, budgetSum: sum, sources });
      const launcher = launcherWarning(process.env);
      for (const warning of launcher === undefined ? warnings : [...warnings, launcher]) logging.onWarning(warning);
    },
  });
  for (const one of servers) installSeam(one, traffic);
  const leave = join({
    shutdownSignals: settings.shutdownSignals,
    begin: async (reason) => (await shutdown.begin(reason)).exitCode,
    async beginAfterUncaughtError(error) {
      logging.onUncaughtError(error);
      return (await shutdown.begin('uncaught error', { isUncaughtError: true })).exitCode;
    },
    report(heldBy, exitCode) {
      recorder.report(heldBy, exitCode);
      logging.flush();
    },
    warn(message) {
      logging.onWarning(message);
    },
  });
  void handle.ended.then(() => {
    if (!isEnding()) recorder.report();
    leave();
  });
  startup.begin();
  return handle;
}

// LAMEDUCK_DISABLED=1: nothing starts, no process signal is listened for and no probe is answered; post-start hooks are not
// called and no signal fires by itself. `shutdown()` calls the other hooks. The grace period is one that refuses no hook.
function disabled(): Lameduck {
  const { settings } = completeSettings({ terminationGracePeriodSeconds: 2_000_000 }, {});
  return createHandle({ servers: [], settings, clock: systemClock, observer: silent, onStart: () => undefined }).handle;
}
