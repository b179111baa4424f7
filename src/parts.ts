// One lifecycle, put together from its parts. It knows neither process nor log.
import type { Clock } from './clock.ts';
import { createHandle, type Lameduck } from './handle.ts';
import { Health } from './health/health.ts';
import type { FlushFunction } from './health/log-check.ts';
import { readinessPaths } from './health/readiness-paths.ts';
import { reasons } from './health/readyz.ts';
import { Hooks } from './hooks/hooks.ts';
import { Drain, type DrainOptions } from './http/drain/drain.ts';
import { ProgramCloses } from './http/drain/program-close.ts';
import { applyKeepAliveTimeout } from './http/http1/keep-alive-timeout.ts';
import { guarded, withPaths, type RequestFunctions } from './http/in-flight/request-functions.ts';
import type { Server } from './http/server.ts';
import { Traffic, type TrafficOptions } from './http/traffic.ts';
import { createLifecycle, type Lifecycle } from './lifecycle/signals.ts';
import type { Answer } from './message.ts';
import type { AuditLog, ElectorCounts, Observer, WorkerEnd } from './observer.ts';
import type { Metrics } from './observers/metrics/metrics.ts';
import { several } from './observers/several.ts';
import { Recorder } from './recorder.ts';
import { explainBudget, type ExplainedBudget } from './settings/budget.ts';
import type { Sources } from './settings/complete.ts';
import type { Settings } from './settings/table.ts';
import { Shutdown } from './shutdown.ts';
import { Startup } from './startup.ts';

/** PartsOptions is what one lifecycle is put together from. */
export interface PartsOptions extends DrainOptions {
  readonly servers: readonly Server[];
  readonly settings: Settings;
  readonly sources: Sources;
  readonly clock: Clock;
  readonly observer: Observer;
  readonly functions: RequestFunctions;
  /** Undefined when nobody can see any. */
  readonly metrics?: Metrics | undefined;
  /** Undefined when there is none. */
  readonly audit?: AuditLog | undefined;
  /** The part of the lifecycle in a group of node:cluster. */
  readonly group?: {
    /** The workers that have exited; undefined unless this process is their primary. */
    readonly ends: readonly WorkerEnd[] | undefined;
    /** In a worker, resolves when the listener of all workers is closed. */
    readonly listenerClosed: (() => Promise<void>) | undefined;
  };
  /** Whether the servers answer for the endpoints of lameduck, as far as the settings say so; by default they do. */
  readonly answersOnOwnServers?: boolean | undefined;
  /** How the log is flushed, for the check `log`. */
  readonly flushLog?: FlushFunction | undefined;
  /** Called once, when all servers listen, before anything else happens. */
  readonly onStart: (addresses: readonly string[]) => void;
}

/** Parts is the handle and what the world outside drives: events into `traffic`, the end into `shutdown`. */
export interface Parts {
  readonly handle: Lameduck;
  /** Those that drain together, with those that came later. */
  readonly servers: readonly Server[];
  readonly settings: Settings;
  /** The division of the grace period, with the hooks that are registered by now. */
  readonly budget: () => ExplainedBudget;
  readonly hooks: Hooks;
  readonly recorder: Recorder;
  readonly traffic: Traffic;
  /** How the program closes its servers. */
  readonly closes: ProgramCloses;
  readonly startup: Startup;
  readonly shutdown: Shutdown;
  readonly health: Health;
  /** The electors whose leadership is handed over at the shutdown. */
  readonly electors: (() => ElectorCounts)[];
  /** Whether anybody can see metrics. */
  readonly hasMetrics: boolean;
  /** addServer lets a server that comes later, and has a seam, drain and stop with the others. */
  addServer(server: Server): void;
  /** answerProbePort returns the answer to what comes to the probe port; undefined when it is no URL of ours. */
  answerProbePort(url: string, method: string): Answer | Promise<Answer> | undefined;
  /** warn puts a line into the log. */
  readonly warn: (message: string) => void;
}

/** createParts puts one lifecycle together. Nothing happens until the startup begins or a server listens. */
export function createParts(options: PartsOptions): Parts {
  const { settings, sources, clock, metrics, audit, group, onStart } = options;
  const observer = metrics === undefined ? options.observer : several([options.observer, metrics.observer]);
  const warn = (message: string, details?: object): void => {
    observer.onWarning(message, details);
  };
  const functions = withPaths(guarded(options.functions, warn), settings.longRunningPaths);
  const servers = [...options.servers];
  const lifecycle = createLifecycle(settings.shutdownSendRetryAfter, (name) => {
    recorder.noteSignal(name);
  });
  const health = createHealth(options, lifecycle, observer);
  const hooks = new Hooks(clock, observer);
  const budget = (): ExplainedBudget => explainBudget(settings, hooks.longestPreShutdown, sources);
  const startup = new Startup({ clock, servers, lifecycle, health, hooks, onStart });
  const traffic = new Traffic({
    clock,
    functions,
    limits: settings,
    eventStreams: settings.eventStreams,
    observer: metrics?.requests,
    audit,
    answer: answersOf(options, health, lifecycle),
    onListening: (server) => {
      // Again, since the program may have set its own in the meantime, and for one that came later.
      applyKeepAliveTimeout(server, settings.keepAliveTimeout);
      startup.onListening(server);
    },
    onClose: (server) => closes.withholds(server),
  });
  const onFailure = (error: unknown): void => {
    recorder.noteStepFailure('end connections', error);
  };
  const drain = new Drain(traffic, clock, onFailure, options);
  const recorder = new Recorder({ clock, traffic, hooks, observer, audit, workers: group?.ends });
  const shutdown = new Shutdown({
    ...{ clock, settings, budget, servers, lifecycle, traffic, drain, hooks, recorder, audit, group },
    takeCloses: (server) => {
      closes.begin(server);
    },
  });
  const { httpServerStoppedListening, inFlightRequestsDrained } = lifecycle.signals;
  const closes: ProgramCloses = new ProgramCloses({
    isDrained: () => httpServerStoppedListening.hasSignaled && inFlightRequestsDrained.hasSignaled,
    ended: shutdown.ended,
  });

  void shutdown.ended.then(health.stop.bind(health));

  const handle = createHandle({ settings, budget, lifecycle, hooks, health, traffic, startup, shutdown });
  const addServer = (server: Server): void => {
    servers.push(server);
  };
  const electors: (() => ElectorCounts)[] = [];
  metrics?.watch({ budget, electors, handle, hooks, shutdown, traffic, route: functions.route });
  const answerProbePort: Parts['answerProbePort'] = (url, method) =>
    health.answer(url) ?? metrics?.answerProbePort(url, method);
  const own = { handle, settings, budget, hooks, recorder, traffic, closes, startup, shutdown, health, electors };
  return { ...own, servers, hasMetrics: metrics !== undefined, addServer, answerProbePort, warn };
}

function createHealth(
  { servers, settings, clock, flushLog }: PartsOptions,
  lifecycle: Lifecycle,
  observer: Observer,
): Health {
  const { healthCheckTimeout: checkTimeout, livezGracePeriod, probePort, debugSocketPath } = settings;
  const health = new Health(lifecycle.signals, {
    ...{ clock, checkTimeout, livezGracePeriod, observer, flushLog },
    isLoopWatched: probePort !== 0,
    onReady: () => {
      lifecycle.report('HasBeenReady');
    },
  });
  if (debugSocketPath !== '') health.addReadyz(reasons.debugSocket, () => !health.isHeldUnready);
  // With one server this check could never fail: nothing can probe the server before it listens.
  if (servers.length > 1) health.addReadyz('listening', () => lifecycle.signals.muxAndDiscoveryComplete.hasSignaled);
  return health;
}

// Every request passes this function, so that it does no more than the settings need.
function answersOf(options: PartsOptions, health: Health, lifecycle: Lifecycle): TrafficOptions['answer'] {
  const { settings, metrics, answersOnOwnServers = true } = options;
  const answers: TrafficOptions['answer'][] = [];
  if (answersOnOwnServers && settings.probePaths === 'on') answers.push((url) => health.answer(url));
  if (answersOnOwnServers && metrics !== undefined) answers.push((url, method) => metrics.answer(url, method));
  if (settings.readinessPaths.length > 0) {
    answers.push(readinessPaths(settings.readinessPaths, lifecycle.signals.shutdownInitiated));
  }
  const none: TrafficOptions['answer'] = () => undefined;
  if (answers.length === 0) return none;
  return answers.reduce((first, next) => (url, method) => first(url, method) ?? next(url, method));
}
