// Puts a lifecycle on servers inside this process: settings from its environment, its process signals, its log.
import { systemClock } from './clock.ts';
import { createParts, type Parts } from './parts.ts';
import { applyKeepAliveTimeout } from './http/keep-alive-timeout.ts';
import { installSeam } from './http/seam.ts';
import { checkDistinct, checkServer, type Server } from './http/server.ts';
import type { RequestFunctions } from './http/request-functions.ts';
import { loggerAllowed, type Logger } from './observers/logger.ts';
import { createLogging, silent } from './observers/logging.ts';
import { createMetrics } from './observers/metrics/metrics.ts';
import { registryAllowed, type MetricsRegistry } from './observers/metrics/registry.ts';
import { closeWithGraceWarning } from './process/close-with-grace.ts';
import { launcherWarning } from './process/launcher.ts';
import { isEnding, join } from './process/program.ts';
import { checkOptions } from './registration.ts';
import { checkBudget, explainBudget } from './settings/budget.ts';
import { completeSettings } from './settings/complete.ts';
import { functionAllowed } from './settings/kinds.ts';
import { relationWarnings } from './settings/relations.ts';
import { isDisabled, type Environment } from './settings/environment.ts';
import type { SettingsOptions } from './settings/table.ts';

/** LameduckOptions is what `lameduck()` can be given: the settings, which the environment overrules, and functions. */
export interface LameduckOptions extends SettingsOptions, Functions {}

interface Functions extends RequestFunctions {
  /** Where the log goes; pino on standard output unless given. */
  readonly logger?: Logger | undefined;
  /** A registry of prom-client, or anything with `registerMetric`, that all metrics are registered in. */
  readonly registry?: MetricsRegistry | undefined;
}

const functionOptions = {
  ...{ logger: loggerAllowed, registry: registryAllowed },
  ...{ longRunning: functionAllowed, route: functionAllowed },
};

/**
 * manage gives servers a lifecycle that ends with this process: what `lameduck()` does, with all the parts in hand. It
 * throws what `lameduck()` throws, before anything is changed.
 */
export function manage(servers: readonly Server[], options: LameduckOptions, environment: Environment): Parts {
  checkOptions('lameduck()', options);
  servers.forEach((one, index) => {
    checkServer(one, index);
  });
  checkDistinct(servers);
  if (isDisabled(environment) === true) return disabled();

  const { settings, sources, functions, warnings } = completeSettings<Functions>(options, environment, functionOptions);
  checkBudget(explainBudget(settings, 0, sources));
  const logging = createLogging(functions.logger);
  const warn = (message: string): void => {
    logging.onWarning(message);
  };
  const metrics = createMetrics({ settings, clock: systemClock, registry: functions.registry, warn });
  const parts = createParts({
    servers,
    settings,
    sources,
    clock: systemClock,
    observer: logging,
    functions,
    metrics,
    flushLog: logging.flushed,
    onStart(addresses) {
      const budget = parts.budget();
      logging.onStart({ addresses, budgetSum: budget.sum, sources });
      const closeWithGrace = closeWithGraceWarning(settings.shutdownSignals, budget.total, environment);
      const launcher = launcherWarning(environment);
      const all = [...warnings, ...relationWarnings(settings, sources, budget), launcher, closeWithGrace];
      for (const warning of all) if (warning !== undefined) logging.onWarning(warning);
    },
  });
  const { handle, recorder, shutdown } = parts;
  for (const one of servers) {
    installSeam(one, parts.traffic);
    applyKeepAliveTimeout(one, settings.keepAliveTimeout);
  }
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
    warn,
  });
  void handle.ended.then(() => {
    if (!isEnding()) recorder.report();
    leave();
  });
  for (const one of servers) lifecycles.set(one, { parts, servers, leave });
  parts.startup.begin();
  return parts;
}

/** ManagedLifecycle is the lifecycle of a server, for whoever has nothing but the server. */
export interface ManagedLifecycle {
  readonly parts: Parts;
  /** All that were given together. */
  readonly servers: readonly Server[];
  /** Takes the lifecycle out of the process: no process signal and no uncaught error concerns it any more. */
  readonly leave: () => void;
}

const lifecycles = new WeakMap<object, ManagedLifecycle>();

/** lifecycleOf returns the lifecycle of a server that has one. */
export function lifecycleOf(server: object): ManagedLifecycle | undefined {
  return lifecycles.get(server);
}

// LAMEDUCK_DISABLED=1: nothing starts, no process signal is listened for and no probe is answered; post-start hooks are not
// called and no signal fires by itself. `shutdown()` calls the other hooks. The grace period is one that refuses no hook.
function disabled(): Parts {
  const { settings, sources } = completeSettings({ terminationGracePeriodSeconds: 2_000_000 }, {});
  return createParts({
    servers: [],
    settings,
    sources,
    clock: systemClock,
    observer: silent,
    functions: {},
    onStart: () => undefined,
  });
}
