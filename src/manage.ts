// Connects a lifecycle with this process: with the environment variables, the process signals and the log.
import type { Server as NetServer } from 'node:net';
import { systemClock } from './clock.ts';
import { createParts, type Parts } from './parts.ts';
import { joinGroup } from './group.ts';
import { applyKeepAliveTimeout } from './http/http1/keep-alive-timeout.ts';
import { readSocketTable } from './http/drain/read-socket-table.ts';
import { watchForHandedSockets } from './http/http1/handed-sockets.ts';
import { interceptServerEvents } from './http/server-events.ts';
import { SelfRequests } from './http/self-requests/self-requests.ts';
import { checkDistinct, checkServer, type Server } from './http/server.ts';
import type { RequestFunctions } from './http/in-flight/request-functions.ts';
import type { Observer, PreviousRun } from './observer.ts';
import { loggerAllowed, quiet, type Logger } from './observers/logger.ts';
import { createLogging, silent, type Logging } from './observers/logging.ts';
import { registryAllowed, type MetricsRegistry } from './observers/metrics/registry.ts';
import { createRecords } from './observers/records.ts';
import { combineObservers } from './observers/combine-observers.ts';
import { createProbePort } from './probe-thread.ts';
import type { ProbePort } from './probe-worker/probe-port.ts';
import { openCheckpoint, type Checkpoint } from './process/checkpoint.ts';
import { isDevelopment } from './process/development.ts';
import { isUnderPm2 } from './process/pm2.ts';
import { errorText, terminationText, writeTerminationMessage } from './process/termination-message.ts';
import { runsTests } from './process/test-runner.ts';
import { thisProcess } from './process/this-process.ts';
import { processWarnings } from './process/warnings.ts';
import { checkOptions } from './arguments.ts';
import { checkBudget, explainBudget, inStartLine, withoutDelay } from './settings/budget.ts';
import { completeSettings, type CompletedSettings, type Sources } from './settings/complete.ts';
import { functionAllowed } from './settings/kinds.ts';
import { relationWarnings } from './settings/relations.ts';
import { isDisabled, type Environment } from './settings/environment.ts';
import type { SettingsOptions } from './settings/table.ts';

/**
 * LameduckOptions contains the settings and functions of a lifecycle. For each setting there is an environment
 * variable, which overrides the value in code.
 */
export interface LameduckOptions extends SettingsOptions, Functions {}

interface Functions extends RequestFunctions {
  /** `logger` receives the log lines. The default is standard output, or no log in a process that runs tests. */
  readonly logger?: Logger | undefined;
  /**
   * `registry` receives all metrics of lameduck. It is a prom-client registry, or another object with the method
   * `registerMetric`.
   */
  readonly registry?: MetricsRegistry | undefined;
}

const functionOptions = {
  logger: loggerAllowed,
  registry: registryAllowed,
  longRunning: functionAllowed,
  route: functionAllowed,
};

/**
 * `manage()` implements `lameduck()`. It returns the handle together with the internal objects of the lifecycle. If it
 * throws, it has not changed any server.
 */
export function manage(
  servers: readonly Server[],
  options: LameduckOptions,
  environment: Environment,
): ManagedLifecycle {
  checkOptions('lameduck()', options);
  servers.forEach((one, index) => {
    checkServer(one, index);
  });
  checkDistinct(servers);
  if (isDisabled(environment) === true) return disabled();

  const completed = completeSettings<Functions>(options, environment, functionOptions);
  checkBudget(explainBudget(completed.settings, 0, completed.sources));
  return install(servers, completed, environment);
}

/** RegisterOptions are the options with which `lameduck/register` calls `install`. */
export interface RegisterOptions {
  /**
   * `problem` is one line of text that lists the invalid lameduck settings of the program. It is undefined if all
   * settings are valid.
   */
  readonly problem: string | undefined;
  /** `listener` is set in a primary of node:cluster: it is the server whose listening socket the workers share. */
  readonly listener?: NetServer | undefined;
}

/**
 * `install()` gives servers a lifecycle with validated settings. If `lameduck/register` calls it with
 * `registerOptions`, the servers do not answer probes.
 */
export function install(
  servers: readonly Server[],
  completed: CompletedSettings<Functions>,
  environment: Environment,
  registerOptions?: RegisterOptions,
): ManagedLifecycle {
  const isDeveloped = isDevelopment(environment);
  const { settings, sources, functions, warnings } = isDeveloped ? withoutDelay(completed) : completed;
  const logger = functions.logger ?? (runsTests(environment) ? quiet : undefined);
  // In development, log the lines about lifecycle signals only at the level `debug`. Otherwise they would fill the
  // terminal at every restart.
  const logging = createLogging(logger, settings, isDeveloped ? 'debug' : 'info');
  const previousRun = (): PreviousRun | undefined => checkpoint?.previousRun;
  const isUnderRegister = registerOptions !== undefined;
  const thread = createProbePort({ settings, sources, logging, isUnderRegister, parts: () => parts, previousRun });
  const probePort = settings.probePort === 0 && settings.debugSocketPath === '' ? undefined : thread;
  const { audit, metrics } = createRecords({
    settings,
    clock: systemClock,
    registry: functions.registry,
    logging,
    previousRun,
    eventLoop: settings.probePort === 0 ? undefined : () => thread.counts,
  });
  const checkpoint = openCheckpoint(settings.checkpointPath, logging);
  const group = joinGroup({ settings, sources, environment, servers, parts: () => parts, registerOptions });
  const parts = createParts({
    servers,
    settings,
    sources,
    functions,
    readSocketTable,
    metrics,
    clock: systemClock,
    random: Math.random,
    signOfLife: probePort?.signOfLife,
    // The log is the last of the observers, because writing a log line may block. All other observers have then already
    // received the event.
    observer: combineObservers([group.observer, probePort?.observer, observerOf(checkpoint), audit?.observer, logging]),
    audit,
    group,
    flushLog: logging.flushed,
    isHurried: isDeveloped,
    answersOnOwnServers: !isUnderRegister,
    onStart(addresses) {
      stopWatching();
      logStart(parts, logging, { addresses, sources, warnings }, environment, registerOptions);
      group.onStart(() => probePort?.open());
    },
  });
  const stopWatching = watchForHandedSockets(servers, () => {
    logging.onWarning(
      'a server gets requests but does not listen: lameduck starts the lifecycle of this server only when the server listens',
    );
  });
  for (const one of servers) putUnder(parts, one);
  // lameduck warns if a server gets requests but does not listen. End this check when the shutdown begins, because all
  // servers then stop listening.
  void parts.handle.signals.shutdownInitiated.signaled.then(stopWatching);
  const detach = joinProcess(parts, logging, thread, environment, isUnderRegister);
  void parts.handle.ended.then(({ exitCode }) => {
    // If the process is about to exit, the probe port answers until the exit. If the process outlives the shutdown, for
    // example in a test, close the probe port now.
    if (!thisProcess().isEnding) {
      parts.recorder.report();
      thread.noteReport();
      thread.close();
      checkpoint?.end(exitCode);
      void audit?.close();
      parts.closes.settle();
    }
    detach();
  });
  const lifecycle = { parts, servers, detach, log: logging.log, releaseProbePort: () => thread.release() };
  for (const one of [...servers, parts.handle]) lifecycles.set(one, lifecycle);
  parts.startup.begin();
  return lifecycle;
}

function observerOf(checkpoint: Checkpoint | undefined): Observer | undefined {
  if (checkpoint === undefined) return undefined;
  return {
    ...silent,
    onSignal: ({ name }) => {
      checkpoint.note(name);
    },
  };
}

interface Start {
  readonly addresses: readonly string[];
  readonly sources: Sources;
  readonly warnings: readonly string[];
}

function logStart(
  { settings, budget: budgetOf, hooks }: Parts,
  logging: Logging,
  start: Start,
  environment: Environment,
  registerOptions: RegisterOptions | undefined,
): void {
  const { addresses, sources, warnings } = start;
  const budget = budgetOf();
  logging.onStart({ addresses, ...inStartLine(settings, sources, hooks.longestPreShutdown) });
  if (registerOptions?.problem !== undefined) logging.onError(registerOptions.problem);
  const ofProcess = processWarnings(settings, environment, budget.total);
  for (const one of [...warnings, ...relationWarnings(settings, sources, budget), ...ofProcess]) logging.onWarning(one);
}

function joinProcess(
  parts: Parts,
  logging: Logging,
  thread: ProbePort,
  environment: Environment,
  isUnderRegister: boolean,
): () => void {
  const { settings, recorder, shutdown, closes } = parts;
  const refuseSelfRequests = acceptSelfRequests(parts);
  // Start the probe thread before the program's own listeners and hooks run, because they may block the event loop.
  const watched = <T>(ended: T): T => {
    thread.watch();
    return ended;
  };
  const leaveProcess = thisProcess().join({
    shutdownSignals: settings.shutdownSignals,
    begin(cause) {
      if (cause.kind === 'stop') return watched(shutdown.begin(cause.reason));
      if (cause.kind === 'leadership lost') return watched(shutdown.begin(cause.reason, { isLeadershipLost: true }));
      recorder.noteUncaughtError(errorText(cause.error));
      logging.onUncaughtError(cause.error);
      const ended = watched(shutdown.begin('uncaught error', { isUncaughtError: true }));
      // If a shutdown is already in progress, the state of the shutdown that the probe thread has does not contain this
      // uncaught error. So send the new state to the probe thread.
      thread.sendShutdown();
      return ended;
    },
    report(heldBy, exitCode) {
      const record = recorder.report(heldBy, exitCode);
      thread.noteReport();
      if (record === undefined || record.exitCode === 0) return;
      writeTerminationMessage(settings.terminationMessagePath, terminationText(record, recorder.uncaughtError));
    },
    cutShort: () => recorder.cutShort(),
    warn: parts.warn,
    endsAt: () => shutdown.endsAt,
    onListenersHeld: (signal, count) => {
      shutdown.reserveTimeForListeners();
      logging.onListenersHeld(signal, count);
    },
    onHeldOpen: (heldBy) => {
      logging.onHeldOpen(heldBy);
    },
    beforeListeners: closes.reopen.bind(closes),
    afterListeners: () => {
      // `settle()` emits the event `close` of each server, which lameduck has withheld so far. Under
      // `lameduck/register`, only a server that the program itself has closed must emit `close`. The program's own
      // signal listeners close servers only if `ownSignalListeners` is `run`.
      if (!isUnderRegister || settings.ownSignalListeners === 'run') closes.settle();
    },
    takesShutdownMessage: isUnderPm2(environment),
    isUnderRegister,
    isDeveloped: isDevelopment(environment),
    runsOwnListeners: settings.ownSignalListeners === 'run',
  });
  return () => {
    leaveProcess();
    refuseSelfRequests();
  };
}

// During the drain, the servers still accept the connections that this process makes to them. The requests of a test
// also come from this process, but the servers must refuse them like those of a client. So `runShutdown` of
// `lameduck/testing` calls `detach` before the drain.
function acceptSelfRequests({ servers, traffic, warn, recorder, handle: { signals } }: Parts): () => void {
  let requests: SelfRequests | undefined;
  let hasEnded = false;
  const end = (): void => {
    hasEnded = true;
    requests?.end();
  };
  const begin = (): void => {
    if (!hasEnded) requests = new SelfRequests({ servers: [...servers, ...traffic.fronts], traffic, warn });
  };
  const onFailure = recorder.noteStepFailure.bind(
    recorder,
    'accept the requests that the program sends to its own servers',
  );
  void signals.shutdownInitiated.signaled.then(begin).catch(onFailure);
  void signals.inFlightRequestsDrained.signaled.then(end);
  return end;
}

export function addServer(parts: Parts, server: Server): void {
  putUnder(parts, server);
  parts.addServer(server);
}

function putUnder({ settings, traffic }: Parts, server: Server): void {
  interceptServerEvents(server, traffic);
  applyKeepAliveTimeout(server, settings.keepAliveTimeout);
}

/**
 * ManagedLifecycle contains the internal objects, the servers and the log of one lifecycle. The function `detach`
 * disconnects the lifecycle from this process. The function `releaseProbePort` closes the probe port.
 */
export interface ManagedLifecycle {
  readonly parts: Parts;
  /** `servers` are all servers that were passed to one call of `lameduck()`. */
  readonly servers: readonly Server[];
  /**
   * `detach()` disconnects the lifecycle from this process. After that, a process signal or an uncaught error no longer
   * begins a shutdown of this lifecycle.
   */
  readonly detach: () => void;
  /** `log` receives the log lines of this lifecycle. */
  readonly log: Logger;
  /** releaseProbePort closes the probe port. It resolves when another server can listen on the port. */
  readonly releaseProbePort: () => Promise<void>;
}

// Maps each server, and each handle that `lameduck()` has returned, to its lifecycle. Each copy of the package lameduck
// has its own map, because a copy cannot use the objects in `parts` of another copy. http/server.ts recognizes the
// servers whose lifecycle belongs to another copy.
const lifecycles = new WeakMap<object, ManagedLifecycle>();

/** lifecycleOf returns the lifecycle of a server or of a handle, or undefined if there is none. */
export function lifecycleOf(it: object): ManagedLifecycle | undefined {
  return lifecycles.get(it);
}

// Returns the lifecycle that is used if LAMEDUCK_DISABLED is 1. This lifecycle starts nothing, listens for no process
// signal and answers no probe. It does not call post-start hooks. `shutdown()` still calls pre-shutdown hooks and
// destroy hooks. With a grace period of 2,000,000 seconds, no hook exceeds the shutdown budget.
function disabled(): ManagedLifecycle {
  const { settings, sources } = completeSettings({ terminationGracePeriodSeconds: 2_000_000 }, {});
  const parts = createParts({
    servers: [],
    settings,
    sources,
    clock: systemClock,
    random: Math.random,
    observer: silent,
    functions: {},
    onStart: () => undefined,
  });
  const { log } = createLogging(undefined, settings);
  return { parts, servers: [], detach: () => undefined, log, releaseProbePort: () => Promise.resolve() };
}
