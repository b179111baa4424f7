// The handle: what `lameduck()` returns, put together from the parts of one lifecycle. It knows neither process nor log.
import type { Clock } from './clock.ts';
import { LameduckError, quoted } from './errors.ts';
import type { CheckFunction } from './health/check.ts';
import { Health } from './health/health.ts';
import type { HookFunction, HookOptions } from './hooks/hook.ts';
import { Hooks } from './hooks/hooks.ts';
import { Drain } from './http/drain.ts';
import type { Server } from './http/server.ts';
import { Traffic } from './http/traffic.ts';
import { createLifecycle, type LifecycleSignals } from './lifecycle/signals.ts';
import type { HookKind, Observer, ShutdownRecord } from './observer.ts';
import { Recorder } from './recorder.ts';
import { checkOptions, readLimit } from './registration.ts';
import { budgetOf, checkBudget } from './settings/budget.ts';
import { formatDuration, type Duration } from './settings/duration.ts';
import type { Settings } from './settings/table.ts';
import { Shutdown } from './shutdown.ts';
import { Startup } from './startup.ts';

/** ShutdownOptions is what a call of `shutdown` may say beside the reason. */
export interface ShutdownOptions {
  /** All the time that the shutdown has from now on, if that is less than what is left of its budget (K-166). */
  readonly budget?: Duration;
}

/** Lameduck is the handle of one lifecycle. */
export interface Lameduck {
  /** The eight signals; they are the whole state. */
  readonly signals: LifecycleSignals;
  /** Resolves with the record of the shutdown when it has ended, whoever began it. */
  readonly ended: Promise<ShutdownRecord>;
  /**
   * shutdown begins the shutdown, or joins the one that runs, and resolves with its record. It never ends the process. A
   * later call can only shorten the budget. Throws LAMEDUCK_ERR_TIMEOUT_INVALID for a budget that is no duration.
   */
  shutdown(reason?: string, options?: ShutdownOptions): Promise<ShutdownRecord>;
  /** addReadyzCheck adds a check to /readyz; it has to be added before the server listens. */
  addReadyzCheck(name: string, check: CheckFunction): void;
  /** addLivezCheck adds a check to /livez and /healthz; it has to be added before the server listens. */
  addLivezCheck(name: string, check: CheckFunction): void;
  /** addPostStartHook registers what runs once the server listens; /readyz is red until it has ended well. */
  addPostStartHook(name: string, hook: HookFunction, options?: HookOptions): void;
  /** addPreShutdownHook registers what runs beside the delay, while everything is still served. */
  addPreShutdownHook(name: string, hook: HookFunction, options?: HookOptions): void;
  /** addDestroyHook registers what runs after the last request; the last registered runs first (A-018, P-097). */
  addDestroyHook(name: string, hook: HookFunction, options?: HookOptions): void;
}

/** HandleOptions is what one lifecycle is put together from. */
export interface HandleOptions {
  readonly servers: readonly Server[];
  readonly settings: Settings;
  readonly clock: Clock;
  readonly observer: Observer;
  /** Called once, when all servers listen, before anything else happens. */
  readonly onStart: (addresses: readonly string[]) => void;
}

/** Parts is the handle and what the world outside drives: events into `traffic`, the end into `shutdown`. */
export interface Parts {
  readonly handle: Lameduck;
  readonly hooks: Hooks;
  readonly recorder: Recorder;
  readonly traffic: Traffic;
  readonly startup: Startup;
  readonly shutdown: Shutdown;
}

/** createHandle puts one lifecycle together. Nothing happens until the startup begins or a server listens. */
export function createHandle({ servers, settings, clock, observer, onStart }: HandleOptions): Parts {
  const lifecycle = createLifecycle(settings.shutdownSendRetryAfter, (name) => {
    recorder.noteSignal(name);
  });
  const health = new Health(lifecycle.signals, { clock, checkTimeout: settings.healthCheckTimeout, observer });
  // With one server this could never be seen to fail, since nobody can ask it before it listens.
  if (servers.length > 1) health.readyz.add('listening', () => lifecycle.signals.muxAndDiscoveryComplete.hasSignaled);
  const hooks = new Hooks(clock, observer);
  const startup = new Startup({ clock, servers, lifecycle, health, hooks, onStart });
  const traffic = new Traffic({
    clock,
    health,
    onListening: (server) => {
      startup.onListening(server);
    },
  });
  const drain = new Drain(traffic, clock);
  const recorder = new Recorder({ clock, traffic, hooks, observer });
  const shutdown = new Shutdown({ clock, settings, servers, lifecycle, traffic, drain, hooks, recorder });

  const addHook = (kind: HookKind, name: string, run: HookFunction, options: HookOptions | undefined): void => {
    const hook = hooks.add(kind, name, run, timeoutOf(kind, name, options, settings));
    try {
      if (kind === 'post-start') startup.addPostStartCheck(name);
      if (kind === 'pre-shutdown') checkBudget(budgetOf(settings, hooks.longestPreShutdown));
    } catch (error) {
      hooks.remove(hook);
      throw error;
    }
  };

  const handle: Lameduck = {
    signals: lifecycle.signals,
    ended: shutdown.ended,
    shutdown: (reason, options) => shutdown.begin(reason ?? 'shutdown()', { budget: readBudget(options) }),
    addReadyzCheck: (name, check) => {
      health.readyz.add(name, check);
    },
    addLivezCheck: (name, check) => {
      health.livez.add(name, check);
      health.healthz.add(name, check);
    },
    addPostStartHook: (name, hook, options) => {
      addHook('post-start', name, hook, options);
    },
    addPreShutdownHook: (name, hook, options) => {
      addHook('pre-shutdown', name, hook, options);
    },
    addDestroyHook: (name, hook, options) => {
      addHook('destroy', name, hook, options);
    },
  };
  return { handle, hooks, recorder, traffic, startup, shutdown };
}

function timeoutOf(kind: HookKind, name: string, options: HookOptions | undefined, settings: Settings): number {
  const what = `${kind} hook ${quoted(name)}`;
  checkOptions(what, options, ['timeout']);
  const { destroyHookTimeout, preShutdownHookTimeout } = settings;
  const byDefault = { 'post-start': Infinity, 'pre-shutdown': preShutdownHookTimeout, destroy: destroyHookTimeout }[
    kind
  ];
  if (options?.timeout === undefined) return byDefault;
  const timeout = readLimit(`timeout of ${what}`, options.timeout);
  if (kind !== 'destroy' || timeout <= destroyHookTimeout) return timeout;
  throw new LameduckError(
    'LAMEDUCK_ERR_TIMEOUT_INVALID',
    `timeout of ${what}: ${quoted(options.timeout)}: allowed is at most destroyHookTimeout, ${formatDuration(destroyHookTimeout)}`,
  );
}

function readBudget(options: ShutdownOptions | undefined): number | undefined {
  checkOptions('the shutdown', options, ['budget']);
  return options?.budget === undefined ? undefined : readLimit('budget of the shutdown', options.budget);
}
