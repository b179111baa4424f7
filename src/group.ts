// Connects a lifecycle with its group. A group is a primary of node:cluster with its workers, or a main thread with its
// worker threads. The primary or the main thread is the owner of the group. The workers or worker threads report to the
// owner.
import type { Cluster } from 'node:cluster';
import type { Server as NetServer } from 'node:net';
import type { EventEmitter } from 'node:events';
import { isMainThread, parentPort } from 'node:worker_threads';
import { startImmediate, systemClock } from './clock.ts';
import { Workers } from './process/cluster/workers.ts';
import { GroupMembership, type GroupMembershipOptions } from './process/group-membership.ts';
import { preloadInWorkers } from './process/cluster/preload.ts';
import { SharedListeners } from './process/cluster/shared-listeners.ts';
import { exitCodes } from './exit-codes.ts';
import { reasons, type ThreadReadiness } from './health/readyz.ts';
import type { Observer, ThreadEnd, WorkerEnd } from './observer.ts';
import { silent } from './observers/logging.ts';
import { combineObservers } from './observers/combine-observers.ts';
import { isUnderPm2 } from './process/pm2.ts';
import { onceAtExit, ThreadChannel } from './process/threads/channel.ts';
import { Threads } from './process/threads/threads.ts';
import { thisProcess } from './process/this-process.ts';
import type { Sources } from './settings/complete.ts';
import type { Environment } from './settings/environment.ts';
import type { Parts } from './parts.ts';
import type { Settings } from './settings/table.ts';

/**
 * InGroup is the interface through which a lifecycle works with the other lifecycles of its group. A group is a primary
 * of node:cluster with its workers, or a main thread with its worker threads.
 */
export interface InGroup {
  /**
   * `ends` lists how each worker of node:cluster has exited so far. Only the primary has this list. In every other
   * process, `ends` is undefined.
   */
  readonly ends: readonly WorkerEnd[] | undefined;
  /** `threads` lists the worker threads that have already ended. Each entry says how the thread ended. */
  readonly threads: readonly ThreadEnd[];
  readonly observer: Observer | undefined;
  /**
   * listenerClosed resolves when the primary of node:cluster has closed the listening socket that its workers share.
   * Until then, the worker that calls listenerClosed delays the requests that it receives.
   */
  readonly listenerClosed: (() => Promise<void>) | undefined;
  /**
   * In the main thread, `readiness` tells whether the worker threads are ready. In a worker thread, it is undefined.
   */
  readonly readiness: ThreadReadiness | undefined;
  /**
   * onStart is called when the servers listen. It calls `open` to open the probe port, unless the primary opens it for
   * the group.
   */
  readonly onStart: (open: () => void) => void;
}

export interface GroupOptions {
  readonly settings: Settings;
  readonly sources: Sources;
  readonly environment: Environment;
  readonly servers: readonly unknown[];
  readonly parts: () => Parts;
  /**
   * registerOptions is set only if `lameduck/register` has created the lifecycle. `listener` is the server in the
   * primary of node:cluster that listens for the workers, if there is one.
   */
  readonly registerOptions: { readonly listener?: NetServer | undefined } | undefined;
}

// The following texts appear in the field `hint` of log lines. These log lines warn about a program with node:cluster.
const lonelyHint =
  'call lameduck([]) in the primary, or start the primary with --import lameduck/register. SIGTERM reaches only the primary. ' +
  'If a primary without a lifecycle forwards SIGTERM, requests are still lost';
const bareHint =
  'call lameduck(server) in the workers, or start the program with --import lameduck/register: without a lifecycle, a ' +
  'worker loses requests at SIGTERM';

const lonelyThread =
  'a worker thread receives no process signals, and the main thread has no lifecycle: call lameduck([]) in the main thread, or call ' +
  'duck.shutdown() in the worker thread when the main thread sends a message';

const alone: InGroup = {
  ends: undefined,
  threads: [],
  observer: undefined,
  listenerClosed: undefined,
  readiness: undefined,
  onStart: (open) => {
    open();
  },
};

/**
 * joinGroup connects a lifecycle with its group. The lifecycle of a primary or a main thread covers its workers or
 * worker threads. The lifecycle of a worker or worker thread reports to the primary or main thread.
 */
export function joinGroup(options: GroupOptions): InGroup {
  return isMainThread ? withThreads(inCluster(options), options) : workerThread(options);
}

function inCluster(options: GroupOptions): InGroup {
  const { settings, servers, parts, registerOptions } = options;
  const hasServer = servers.length > 0;
  // Load node:cluster only if it is needed. Most processes have a server and no IPC channel, and do not need it.
  if (hasServer && process.channel === undefined) return alone;
  const cluster = process.getBuiltinModule('node:cluster') as unknown as Cluster;
  if (cluster.isWorker) return worker(options);
  if (hasServer) return alone;
  // Workers inherit the command-line options of the primary. If the primary runs without `lameduck/register`, add an
  // option with which each worker loads a lifecycle.
  if (registerOptions === undefined) preloadInWorkers(cluster);
  return primary(cluster, settings, parts, new SharedListeners(systemClock, registerOptions?.listener));
}

// Returns the InGroup of a process whose lifecycle has no server. Such a process can fork workers later, and then
// becomes a primary of node:cluster.
function primary(cluster: Cluster, settings: Settings, parts: () => Parts, listeners: SharedListeners): InGroup {
  const workers = new Workers({
    cluster,
    clock: systemClock,
    probePort: settings.probePort,
    listeners,
    stallLimit: settings.livezEventLoopStallLimit,
    onExitCode: noteExitCode(parts),
    onBareWorker(workerPid) {
      parts().warn('worker listens without a lifecycle', { workerPid, hint: bareHint });
    },
  });
  // Add the health checks of the workers before the lifecycle starts, because no health check can be added after its
  // start.
  startImmediate(() => {
    const { health, shutdown } = parts();
    shutdown.drainWith(workers);
    if (workers.isEmpty) return;
    health.addOwnReadyz(reasons.workers(workers));
    health.addLivez('worker-event-loops', () => {
      workers.live();
    });
  });
  return {
    ...alone,
    ends: workers.ends,
    observer: {
      ...silent,
      onSignal({ name }) {
        if (name === 'ShutdownInitiated') shutDown(workers, settings, parts());
        if (name === 'NotAcceptingNewRequest') void workers.stopAccepting();
      },
    },
  };
}

function shutDown(workers: Workers | Threads, settings: Settings, { shutdown, recorder }: Parts): void {
  const { reason } = recorder.soFar();
  const signal = settings.shutdownSignals.find((name) => name === reason) ?? settings.shutdownSignals[0] ?? 'SIGTERM';
  workers.shutDown(signal, shutdown.deadlines?.drainBy ?? systemClock.now());
}

// Returns a function that records the exit code of a worker, if it is one of lameduck's own exit codes. lameduck does
// not know the meaning of any other code.
function noteExitCode(parts: () => Parts): (exitCode: number) => void {
  return (exitCode) => {
    if (Object.values<number>(exitCodes).includes(exitCode)) parts().recorder.noteCause(exitCode);
  };
}

function worker(options: GroupOptions): InGroup {
  const { environment, parts } = options;
  const membership = new GroupMembership({ channel: process, ...membershipOptions(parts) });
  // Send the exit code only after lameduck has removed its signal listeners. The primary may send a process signal to
  // this worker as soon as it has the exit code. Node drops a signal whose last listener is removed before Node
  // delivers the signal.
  const onEnded = (exitCode: number): void => {
    startImmediate(() => {
      membership.sendBye(exitCode);
    });
  };
  const onNoOwner = (): void => {
    // Do not warn under PM2. There, the cluster primary is PM2 itself: it has no lifecycle, but it stops each worker.
    if (!isUnderPm2(environment)) parts().warn('primary has no lifecycle', { hint: lonelyHint });
  };
  return {
    ...inGroupOf(membership, { probePort: ownProbePort(options), onEnded, onNoOwner }),
    listenerClosed: () => membership.listenerClosed(),
  };
}

// Returns the probe port of a worker. Returns undefined if the worker's program has not set a probe port.
function ownProbePort({ settings, sources }: GroupOptions): number | undefined {
  return sources.probePort === 'default' ? undefined : settings.probePort;
}

interface WorkerActions {
  readonly probePort: number | undefined;
  /** onEnded is called at the end of the shutdown if the process continues after the shutdown. */
  readonly onEnded: (exitCode: number) => void;
  /**
   * onNoOwner is called in a cluster worker whose primary has no lifecycle. It is also called in a worker thread whose
   * main thread has no lifecycle.
   */
  readonly onNoOwner: () => void;
}

// Returns the InGroup of a cluster worker or worker thread. Through it, the worker reports the end of its lifecycle to
// the primary, and the worker thread to the main thread.
function inGroupOf(membership: GroupMembership, { probePort, onEnded, onNoOwner }: WorkerActions): InGroup {
  return {
    ...alone,
    observer: {
      ...silent,
      onEnd(record) {
        membership.report(record);
        if (!thisProcess().isEnding) onEnded(record.exitCode);
      },
    },
    onStart(open) {
      void membership.primaryProbePort().then((port) => {
        if (port === undefined) onNoOwner();
        if (port === undefined || (probePort !== undefined && port !== probePort)) open();
      });
    },
  };
}

function membershipOptions(parts: () => Parts): Omit<GroupMembershipOptions, 'channel'> {
  return {
    clock: systemClock,
    isReady: () => parts().health.readyz.passes(),
    async shutDown(signal, number, budgetMs) {
      const { shutdown } = parts();
      // Emit the process signal on `process`, as Node does, so that the program's own listeners receive it too.
      if (shutdown.endsAt === undefined) (process as EventEmitter).emit(signal, signal, number);
      await shutdown.begin(signal, { budget: budgetMs, isOfWorker: true });
    },
  };
}

// Extends the group of the main thread by its worker threads: the main thread also shuts them down. A worker thread may
// have a lifecycle of its own (P-072).
function withThreads(group: InGroup, { settings, parts }: GroupOptions): InGroup {
  const channel = new ThreadChannel();
  const { probePort } = settings;
  const threads = new Threads({ channel, clock: systemClock, probePort, onExitCode: noteExitCode(parts) });
  const observer: Observer = {
    ...silent,
    onSignal({ name }) {
      if (name !== 'ShutdownInitiated') return;
      parts().shutdown.drainWith(threads);
      shutDown(threads, settings, parts());
    },
    onEnd() {
      if (!thisProcess().isEnding) threads.close();
    },
  };
  return {
    ...group,
    threads: threads.ends,
    readiness: { isPresent: () => threads.haveServer, ready: () => threads.ready() },
    observer: combineObservers([group.observer, observer]),
  };
}

function workerThread(options: GroupOptions): InGroup {
  const { parts, servers } = options;
  const channel = new ThreadChannel();
  const { shutDown: begin, ...rest } = membershipOptions(parts);
  const membership = new GroupMembership({
    channel,
    hasServer: servers.length > 0,
    ...rest,
    async shutDown(...args) {
      await begin(...args);
      // Stop listening for messages of the main thread. Otherwise this worker thread could not end.
      parentPort?.unref();
    },
  });
  const onEnded = onceAtExit((exitCode) => {
    membership.sendBye(exitCode);
    channel.close();
  });
  return inGroupOf(membership, {
    probePort: ownProbePort(options),
    onEnded,
    onNoOwner: () => {
      parts().warn(lonelyThread);
    },
  });
}
