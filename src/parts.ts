// Builds one lifecycle from its internal objects, such as the drain and the health checks. This file uses neither
// process signals nor the log.
import type { Clock } from './clock.ts';
import { createHandle, type Lameduck } from './handle.ts';
import { Health } from './health/health.ts';
import type { FlushFunction } from './health/log-check.ts';
import { readinessPaths } from './health/readiness-paths.ts';
import { reasons, type ThreadReadiness } from './health/readyz.ts';
import { Hooks } from './hooks/hooks.ts';
import { Drain, type DrainOptions } from './http/drain/drain.ts';
import { ProgramCloses, type Progress } from './http/drain/program-close.ts';
import { applyKeepAliveTimeout } from './http/http1/keep-alive-timeout.ts';
import { guarded, withPaths, type RequestFunctions } from './http/in-flight/request-functions.ts';
import type { Server } from './http/server.ts';
import { Traffic, type TrafficOptions } from './http/traffic.ts';
import { createLifecycle, type Lifecycle, type LifecycleSignals } from './lifecycle/signals.ts';
import type { Answer } from './message.ts';
import type { AuditLog, ElectorCounts, Observer, ThreadEnd, WorkerEnd } from './observer.ts';
import type { Metrics } from './observers/metrics/lifecycle-metrics.ts';
import { combineObservers } from './observers/combine-observers.ts';
import { Recorder } from './recorder.ts';
import { explainBudget, type ExplainedBudget } from './settings/budget.ts';
import type { Sources } from './settings/complete.ts';
import type { Settings } from './settings/table.ts';
import { Shutdown } from './shutdown.ts';
import { Startup } from './startup.ts';

export interface PartsOptions extends DrainOptions {
  readonly servers: readonly Server[];
  readonly settings: Settings;
  readonly sources: Sources;
  readonly clock: Clock;
  /**
   * `random()` returns a number from 0 up to, but not including, 1. From this number, lameduck computes at which times
   * clients disconnect and reconnect.
   */
  readonly random: () => number;
  /**
   * signOfLife is called for each event of a server, because the event shows that the event loop is running. It is
   * undefined if no thread watches the event loop.
   */
  readonly signOfLife?: (() => void) | undefined;
  readonly observer: Observer;
  readonly functions: RequestFunctions;
  /** `metrics` is undefined if metrics are neither served nor registered. */
  readonly metrics?: Metrics | undefined;
  /** `audit` is the audit log. It is undefined if `auditLogPath` is off. */
  readonly audit?: AuditLog | undefined;
  /**
   * `group` describes the processes or threads that shut down together with this one. They are the primary and the
   * workers of node:cluster, or the main thread and its worker threads.
   */
  readonly group?: {
    /**
     * `ends` lists the workers of node:cluster that have exited. It is undefined in every process that is not a
     * primary.
     */
    readonly ends: readonly WorkerEnd[] | undefined;
    /** `threads` is the list of worker threads that have ended. */
    readonly threads: readonly ThreadEnd[];
    /**
     * listenerClosed resolves when the primary of node:cluster has closed the listening socket that all its workers
     * share. It is undefined in a process that is not a worker.
     */
    readonly listenerClosed: (() => Promise<void>) | undefined;
    /** readiness is the readiness of the worker threads. It is undefined in a worker thread. */
    readonly readiness: ThreadReadiness | undefined;
  };
  /**
   * answersOnOwnServers is false if the program's servers must answer neither probes nor scrapes. Otherwise the
   * settings decide which endpoints the servers answer.
   */
  readonly answersOnOwnServers?: boolean | undefined;
  /** flushLog flushes the log. The health check `log` uses it. */
  readonly flushLog?: FlushFunction | undefined;
  /**
   * onStart is called once, when all servers listen, with the addresses of the servers. It is the first step of the
   * start.
   */
  readonly onStart: (addresses: readonly string[]) => void;
}

/**
 * Parts contains the handle and the internal objects of one lifecycle. For example, `traffic` receives the events of
 * the servers, and a process signal calls `shutdown`.
 */
export interface Parts {
  readonly handle: Lameduck;
  /** `servers` are all servers of the lifecycle, which drain together. They include servers that were added later. */
  readonly servers: readonly Server[];
  readonly settings: Settings;
  /**
   * `budget()` returns how the grace period is divided into shutdown delay, hooks and drain. It considers only the
   * hooks that have been registered so far.
   */
  readonly budget: () => ExplainedBudget;
  readonly hooks: Hooks;
  readonly recorder: Recorder;
  readonly traffic: Traffic;
  /** `closes` is the object that handles the program's calls of `close()` and similar methods on its servers. */
  readonly closes: ProgramCloses;
  readonly startup: Startup;
  readonly shutdown: Shutdown;
  readonly health: Health;
  /**
   * `electors` contains one function for each elector of the lifecycle. Each function returns the state of one elector
   * for the metrics and the debug socket.
   */
  readonly electors: (() => ElectorCounts)[];
  /** hasMetrics is true if metrics are served or registered. */
  readonly hasMetrics: boolean;
  /**
   * addServer adds a server to the servers that drain together. The caller must already have replaced the `emit` of
   * this server.
   */
  addServer(server: Server): void;
  /**
   * answerProbePort returns the response to a request on the probe port. It returns undefined if the URL is not an
   * endpoint of lameduck.
   */
  answerProbePort(url: string, method: string): Answer | Promise<Answer> | undefined;
  /** `warn()` writes a warning to the log. `details` contains additional fields of this log line. */
  readonly warn: (message: string, details?: object) => void;
}

/**
 * createParts builds one lifecycle. The lifecycle does nothing until one of its servers listens. Without servers, it
 * does nothing until `startup.begin()` is called.
 */
export function createParts(options: PartsOptions): Parts {
  const { settings, sources, clock, random, signOfLife, metrics, audit, group, onStart } = options;
  const observer = metrics === undefined ? options.observer : combineObservers([options.observer, metrics.observer]);
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
  const onFailure = (error: unknown): void => {
    recorder.noteStepFailure('check connections', error);
  };
  const traffic = new Traffic({
    clock,
    random,
    signOfLife,
    functions,
    ...limitsOf(settings),
    observer: metrics?.requests,
    audit,
    answer: answersOf(options, health, lifecycle),
    ...refusalsOf(settings, lifecycle.signals),
    onListening: (server) => {
      // When a server begins to listen, set its `keepAliveTimeout`, even if lameduck has set it before. Before
      // `listen()`, the program may have changed the value, or may have added the server to the lifecycle.
      applyKeepAliveTimeout(server, settings.keepAliveTimeout);
      startup.onListening(server);
    },
    onClose: (server) => closes.withholds(server),
    onFront: (front) => {
      shutdown.addFront(front);
    },
    onFailure,
  });
  const drain = new Drain(traffic, clock, onFailure, options);
  const recorder = new Recorder({ clock, traffic, hooks, observer, audit, group });
  const shutdown = new Shutdown({
    clock,
    settings,
    budget,
    servers,
    lifecycle,
    traffic,
    drain,
    hooks,
    recorder,
    audit,
    group,
    takeCloses: (server) => {
      closes.begin(server);
    },
  });
  const closes: ProgramCloses = new ProgramCloses(progressOf(lifecycle.signals, shutdown.ended));
  warnOfAwaitedClose(lifecycle.signals, hooks, closes, warn);

  void shutdown.ended.then(health.stop.bind(health));

  const handle = createHandle({ settings, budget, lifecycle, hooks, health, traffic, startup, shutdown });
  const addServer: Parts['addServer'] = servers.push.bind(servers);
  const electors: (() => ElectorCounts)[] = [];
  metrics?.watch({ budget, electors, handle, hooks, shutdown, traffic, route: functions.route });
  const answerProbePort: Parts['answerProbePort'] = (url, method) =>
    health.answer(url) ?? metrics?.answerProbePort(url, method);
  const own = { handle, settings, budget, hooks, recorder, traffic, closes, startup, shutdown, health, electors };
  return { ...own, servers, hasMetrics: metrics !== undefined, addServer, answerProbePort, warn };
}

function createHealth(
  { servers, settings, clock, flushLog, group }: PartsOptions,
  lifecycle: Lifecycle,
  observer: Observer,
): Health {
  const { healthCheckTimeout: checkTimeout, livezGracePeriod, probePort, debugSocketPath } = settings;
  const health = new Health(lifecycle.signals, {
    clock,
    checkTimeout,
    livezGracePeriod,
    observer,
    flushLog,
    isLoopWatched: probePort !== 0,
    onReady: () => {
      lifecycle.report('HasBeenReady');
    },
  });
  if (debugSocketPath !== '') health.addOwnReadyz(reasons.debugSocket(health));
  if (group?.readiness !== undefined) health.addOwnReadyz(reasons.threads(group.readiness));
  // A lifecycle with one server does not need the check `listening`: no probe can arrive before this server listens.
  if (servers.length > 1) health.addOwnReadyz(reasons.listening(lifecycle.signals));
  return health;
}

// The servers may stop listening before or after the last response. They stop listening after it only with the setting
// `shutdownSendRetryAfter`.
function progressOf(
  { httpServerStoppedListening, inFlightRequestsDrained }: LifecycleSignals,
  ended: Progress['ended'],
): Progress {
  return {
    isDrained: () => httpServerStoppedListening.hasSignaled && inFlightRequestsDrained.hasSignaled,
    answered: inFlightRequestsDrained.signaled,
    ended,
  };
}

// Logs a warning if a pre-shutdown hook has timed out while a call of `server.close()` waited for the end of the drain.
// If the hook awaits this call, it waits for itself, because the drain begins only after the hook.
function warnOfAwaitedClose(
  { preShutdownHooksStopped }: LifecycleSignals,
  { failures }: Hooks,
  closes: ProgramCloses,
  warn: Parts['warn'],
): void {
  void preShutdownHooksStopped.signaled.then(() => {
    const timedOut = failures.filter(
      ({ kind, error }) =>
        kind === 'pre-shutdown' && (error as { code?: unknown }).code === 'LAMEDUCK_ERR_HOOK_TIMED_OUT',
    );
    if (!closes.isAwaited || timedOut.length === 0) return;
    const names = timedOut.map(({ name }) => `"${name}"`).join(', ');
    warn(
      `pre-shutdown hooks timed out while server.close() waited for the end of the drain: ${names}. A pre-shutdown hook` +
        ' must not await server.close(). Close the server in a destroy hook, or let lameduck close it',
    );
  });
}

// Returns a function that answers requests to lameduck's endpoints. The returned function is called for each request,
// so it compares the URL only with the endpoints that the settings enable.
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

function limitsOf(settings: Settings): Pick<TrafficOptions, 'limits' | 'goawayChance' | 'eventStreams'> {
  const { goawayChance, eventStreams } = settings;
  return { limits: settings, goawayChance, eventStreams };
}

// Returns two functions, which read the lifecycle signal NotAcceptingNewRequest when they are called.
// `refusesUpgrades()` tells whether to refuse upgrades because of the shutdown. `refusesLate()` tells whether to refuse
// requests on new connections.
function refusalsOf(
  { shutdownSendRetryAfter }: Settings,
  { notAcceptingNewRequest }: LifecycleSignals,
): Pick<TrafficOptions, 'refusesUpgrades' | 'refusesLate'> {
  return {
    refusesUpgrades: () => notAcceptingNewRequest.hasSignaled,
    refusesLate: () => shutdownSendRetryAfter && notAcceptingNewRequest.hasSignaled,
  };
}
