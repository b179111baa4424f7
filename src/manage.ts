// Puts a lifecycle on servers inside this process: settings from its environment, its process signals, its log.
import type { Server as NetServer } from 'node:net';
import { systemClock } from './clock.ts';
import { createParts, type Parts } from './parts.ts';
import { joinGroup } from './group.ts';
import { applyKeepAliveTimeout } from './http/http1/keep-alive-timeout.ts';
import { readSocketTable } from './http/drain/read-socket-table.ts';
import { watchForHandedSockets } from './http/http1/handed-sockets.ts';
import { installSeam } from './http/seam.ts';
import { SelfRequests } from './http/self-requests/self-requests.ts';
import { checkDistinct, checkServer, type Server } from './http/server.ts';
import type { RequestFunctions } from './http/in-flight/request-functions.ts';
import type { Observer, PreviousRun } from './observer.ts';
import { loggerAllowed, quiet, type Logger } from './observers/logger.ts';
import { createLogging, silent, type Logging } from './observers/logging.ts';
import { registryAllowed, type MetricsRegistry } from './observers/metrics/registry.ts';
import { createRecords } from './observers/records.ts';
import { several } from './observers/several.ts';
import { createProbePort } from './probe-thread.ts';
import type { ProbePort } from './probe-worker/probe-port.ts';
import { openCheckpoint, type Checkpoint } from './process/checkpoint.ts';
import { isDevelopment } from './process/development.ts';
import { isUnderPm2 } from './process/pm2.ts';
import { errorText, terminationText, writeTerminationMessage } from './process/termination-message.ts';
import { runsTests } from './process/test-runner.ts';
import { thisProcess } from './process/this-process.ts';
import { processWarnings } from './process/warnings.ts';
import { checkOptions } from './registration.ts';
import { checkBudget, explainBudget, inStartLine, withoutDelay } from './settings/budget.ts';
import { completeSettings, type CompletedSettings, type Sources } from './settings/complete.ts';
import { functionAllowed } from './settings/kinds.ts';
import { relationWarnings } from './settings/relations.ts';
import { isDisabled, type Environment } from './settings/environment.ts';
import type { SettingsOptions } from './settings/table.ts';

/** LameduckOptions is what `lameduck()` can be given: the settings, which the environment overrules, and functions. */
export interface LameduckOptions extends SettingsOptions, Functions {}

interface Functions extends RequestFunctions {
  /** Where the log goes. By default to standard output, or nowhere in a process that runs tests. */
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

/** Guest is a program into which `lameduck/register` was loaded. */
export interface Guest {
  /** The invalid settings, in one line. */
  readonly problem: string | undefined;
  /** The listener of the workers, if the program is a primary of node:cluster. */
  readonly listener?: NetServer | undefined;
}

/** install gives servers that can have one a lifecycle with these settings; a guest's own servers answer no probe. */
export function install(
  servers: readonly Server[],
  completed: CompletedSettings<Functions>,
  environment: Environment,
  guest?: Guest,
): ManagedLifecycle {
  const isDeveloped = isDevelopment(environment);
  const { settings, sources, functions, warnings } = isDeveloped ? withoutDelay(completed) : completed;
  const logging = createLogging(functions.logger ?? (runsTests(environment) ? quiet : undefined), settings);
  const previousRun = (): PreviousRun | undefined => checkpoint?.previousRun;
  const isGuest = guest !== undefined;
  const thread = createProbePort({ settings, sources, logging, isGuest, parts: () => parts, previousRun });
  const probePort = settings.probePort === 0 && settings.debugSocketPath === '' ? undefined : thread;
  const { audit, metrics } = createRecords({
    ...{ settings, clock: systemClock, registry: functions.registry, logging, previousRun },
    eventLoop: settings.probePort === 0 ? undefined : () => thread.counts,
  });
  const checkpoint = openCheckpoint(settings.checkpointPath, logging);
  const group = joinGroup({ settings, environment, servers, parts: () => parts, listener: guest?.listener });
  const parts = createParts({
    ...{ servers, settings, sources, functions, readSocketTable, metrics },
    clock: probePort?.clock ?? systemClock,
    // Before the log, because writing a line may take time.
    observer: several([group.observer, probePort?.observer, observerOf(checkpoint), audit?.observer, logging]),
    ...{ audit, group },
    flushLog: logging.flushed,
    isHurried: isDeveloped,
    answersOnOwnServers: !isGuest,
    onStart(addresses) {
      stopWatching();
      logStart(parts, logging, { addresses, sources, warnings }, environment, guest);
      group.onStart(() => probePort?.open());
    },
  });
  const stopWatching = watchForHandedSockets(servers, () => {
    logging.onWarning('a server that does not listen gets requests: its lifecycle starts when it listens itself');
  });
  for (const one of servers) putUnder(parts, one);
  // A shutdown that begins before the start closes the listeners, and requests still arrive on open connections.
  void parts.handle.signals.shutdownInitiated.signaled.then(stopWatching);
  const leave = joinProcess(parts, logging, thread, environment, isGuest);
  void parts.handle.ended.then(({ exitCode }) => {
    // If the process ends, the probe port stays open until then.
    if (!thisProcess().isEnding) {
      parts.recorder.report();
      thread.noteReport();
      thread.close();
      checkpoint?.end(exitCode);
      void audit?.close();
      parts.closes.settle();
    }
    leave();
  });
  const lifecycle = { parts, servers, leave, log: logging.log, releaseProbePort: () => thread.release() };
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
  guest: Guest | undefined,
): void {
  const { addresses, sources, warnings } = start;
  const budget = budgetOf();
  logging.onStart({ addresses, ...inStartLine(settings, sources, hooks.longestPreShutdown) });
  if (guest?.problem !== undefined) logging.onError(guest.problem);
  const ofProcess = processWarnings(settings, environment, budget.total);
  for (const one of [...warnings, ...relationWarnings(settings, sources, budget), ...ofProcess]) logging.onWarning(one);
}

function joinProcess(
  parts: Parts,
  logging: Logging,
  thread: ProbePort,
  environment: Environment,
  isGuest: boolean,
): () => void {
  const { settings, recorder, shutdown, closes } = parts;
  const refuseSelfRequests = acceptSelfRequests(parts);
  // Before own listeners and hooks of the program, which may block the event loop.
  const watched = <T>(ended: T): T => {
    thread.watch();
    return ended;
  };
  const leave = thisProcess().join({
    shutdownSignals: settings.shutdownSignals,
    begin(cause) {
      if (cause.kind === 'stop') return watched(shutdown.begin(cause.reason));
      if (cause.kind === 'leadership lost') return watched(shutdown.begin(cause.reason, { isLeadershipLost: true }));
      recorder.noteUncaughtError(errorText(cause.error));
      logging.onUncaughtError(cause.error);
      const ended = watched(shutdown.begin('uncaught error', { isUncaughtError: true }));
      // If the shutdown was running already, the thread does not know the error yet.
      thread.tellOfShutdown();
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
      shutdown.leaveTime();
      logging.onListenersHeld(signal, count);
    },
    onHeldOpen: (heldBy) => {
      logging.onHeldOpen(heldBy);
    },
    beforeListeners: closes.reopen.bind(closes),
    afterListeners: () => {
      // Under `lameduck/register`, only a close of the program itself emits `close`.
      if (!isGuest || settings.ownSignalListeners === 'run') closes.settle();
    },
    takesShutdownMessage: isUnderPm2(environment),
    isGuest,
    isDeveloped: isDevelopment(environment),
    runsOwnListeners: settings.ownSignalListeners === 'run',
  });
  return () => {
    leave();
    refuseSelfRequests();
  };
}

// `runShutdown` leaves the process before the shutdown begins: the clients of its test are not requests of the program to itself.
function acceptSelfRequests({ servers, traffic, warn, recorder, handle: { signals } }: Parts): () => void {
  let requests: SelfRequests | undefined;
  let hasEnded = false;
  const end = (): void => {
    hasEnded = true;
    requests?.end();
  };
  const begin = (): void => {
    if (!hasEnded) requests = new SelfRequests({ servers, traffic, warn });
  };
  const onFailure = recorder.noteStepFailure.bind(recorder, 'accept requests of the program to itself');
  void signals.shutdownInitiated.signaled.then(begin).catch(onFailure);
  void signals.inFlightRequestsDrained.signaled.then(end);
  return end;
}

/** addServer adds a server to a lifecycle that has others already. */
export function addServer(parts: Parts, server: Server): void {
  putUnder(parts, server);
  parts.addServer(server);
}

function putUnder({ settings, traffic }: Parts, server: Server): void {
  installSeam(server, traffic);
  applyKeepAliveTimeout(server, settings.keepAliveTimeout);
}

/** ManagedLifecycle is a lifecycle that ends with this process. */
export interface ManagedLifecycle {
  readonly parts: Parts;
  /** All servers that were passed to `lameduck()` together. */
  readonly servers: readonly Server[];
  /** Removes the lifecycle from the process: process signals and uncaught errors no longer begin its shutdown. */
  readonly leave: () => void;
  /** Where the log of this lifecycle goes. */
  readonly log: Logger;
  /** Ends the probe port; resolves when its port is free. */
  readonly releaseProbePort: () => Promise<void>;
}

const lifecycles = new WeakMap<object, ManagedLifecycle>();

/** lifecycleOf returns the lifecycle of a server that has one, or of a handle. */
export function lifecycleOf(it: object): ManagedLifecycle | undefined {
  return lifecycles.get(it);
}

// LAMEDUCK_DISABLED=1: nothing starts, no process signal is listened for and no probe is answered; post-start hooks are not
// called and no signal fires by itself. `shutdown()` calls the other hooks. The grace period is one that refuses no hook.
function disabled(): ManagedLifecycle {
  const { settings, sources } = completeSettings({ terminationGracePeriodSeconds: 2_000_000 }, {});
  const parts = createParts({
    servers: [],
    settings,
    sources,
    clock: systemClock,
    observer: silent,
    functions: {},
    onStart: () => undefined,
  });
  const { log } = createLogging(undefined, settings);
  return { parts, servers: [], leave: () => undefined, log, releaseProbePort: () => Promise.resolve() };
}
