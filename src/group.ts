// Connects a lifecycle with its group: a cluster of node:cluster, or a main thread with worker threads. The primary or
// the main thread owns the group. Each worker reports to the owner.
import type { Cluster } from 'node:cluster';
import type { Server as NetServer } from 'node:net';
import type { EventEmitter } from 'node:events';
import { isMainThread, parentPort } from 'node:worker_threads';
import { startImmediate, systemClock } from './clock.ts';
import { Group } from './process/cluster/group.ts';
import { Membership, type MembershipOptions } from './process/cluster/membership.ts';
import { SharedListeners } from './process/cluster/shared-listeners.ts';
import { exitCodes } from './exit-codes.ts';
import type { Observer, ThreadEnd, WorkerEnd } from './observer.ts';
import { silent } from './observers/logging.ts';
import { combineObservers } from './observers/combine-observers.ts';
import { isUnderPm2 } from './process/pm2.ts';
import { onceAtExit, ThreadChannel } from './process/threads/channel.ts';
import { Threads } from './process/threads/threads.ts';
import { thisProcess } from './process/this-process.ts';
import type { Environment } from './settings/environment.ts';
import type { Parts } from './parts.ts';
import type { Settings } from './settings/table.ts';

/** InGroup contains the parts of a group that a lifecycle uses. */
export interface InGroup {
  /** ends lists the workers that have exited. It is undefined unless this process is the primary. */
  readonly ends: readonly WorkerEnd[] | undefined;
  /** threads lists the worker threads that have ended. */
  readonly threads: readonly ThreadEnd[];
  readonly observer: Observer | undefined;
  /**
   * listenerClosed resolves when the primary has closed the shared listener. Until then, this worker delays its
   * requests.
   */
  readonly listenerClosed: (() => Promise<void>) | undefined;
  /**
   * onStart is called when the servers listen. It calls `open` to open the probe port, unless the primary opens it for
   * the group.
   */
  readonly onStart: (open: () => void) => void;
}

export interface GroupOptions {
  readonly settings: Settings;
  readonly environment: Environment;
  readonly servers: readonly unknown[];
  readonly parts: () => Parts;
  /** listener is the listening server of the workers, if there is one. */
  readonly listener: NetServer | undefined;
}

const lonely =
  'SIGTERM reaches only the primary of node:cluster, which has no lifecycle: call lameduck([]) there, or forward the signal';

const lonelyThread =
  'a worker thread receives no process signals, and the main thread has no lifecycle: call lameduck([]) there, or call ' +
  'duck.shutdown() here when the main thread sends a message';

const alone: InGroup = {
  ends: undefined,
  threads: [],
  observer: undefined,
  listenerClosed: undefined,
  onStart: (open) => {
    open();
  },
};

/**
 * joinGroup connects a lifecycle with its group. The lifecycle of a primary or a main thread covers its workers. The
 * lifecycle of a worker reports to the owner of the group.
 */
export function joinGroup(options: GroupOptions): InGroup {
  return isMainThread ? withThreads(inCluster(options), options) : workerThread(options);
}

function inCluster({ settings, environment, servers, parts, listener }: GroupOptions): InGroup {
  const hasServer = servers.length > 0;
  // Load node:cluster only if needed: most processes have a server and no IPC channel.
  if (hasServer && process.channel === undefined) return alone;
  const cluster = process.getBuiltinModule('node:cluster') as unknown as Cluster;
  if (cluster.isWorker) return worker(settings, environment, parts);
  return hasServer ? alone : primary(cluster, settings, parts, new SharedListeners(systemClock, listener));
}

// Returns the group for a lifecycle without a server, whose process may fork workers later.
function primary(cluster: Cluster, settings: Settings, parts: () => Parts, listeners: SharedListeners): InGroup {
  const group = new Group({
    cluster,
    clock: systemClock,
    probePort: settings.probePort,
    listeners,
    stallLimit: settings.livezEventLoopStallLimit,
    onExitCode: noteExitCode(parts),
  });
  // Add the checks before the lifecycle starts, because no check can be added after the start.
  startImmediate(() => {
    const { health, shutdown } = parts();
    shutdown.drainWith(group);
    if (group.isEmpty) return;
    health.addReadyz('workers', () => group.ready());
    health.addLivez('worker-event-loops', () => {
      group.live();
    });
  });
  return {
    ...alone,
    ends: group.ends,
    observer: {
      ...silent,
      onSignal({ name }) {
        if (name === 'ShutdownInitiated') shutDown(group, settings, parts());
      },
    },
  };
}

function shutDown(group: Group | Threads, settings: Settings, { shutdown, recorder }: Parts): void {
  const { reason } = recorder.soFar();
  const signal = settings.shutdownSignals.find((name) => name === reason) ?? settings.shutdownSignals[0] ?? 'SIGTERM';
  group.shutDown(signal, shutdown.deadlines?.drainBy ?? systemClock.now());
}

// Returns a function that records the exit code of a worker if it is one of `exitCodes`. Any other exit code has a
// meaning only for the program.
function noteExitCode(parts: () => Parts): (exitCode: number) => void {
  return (exitCode) => {
    if (Object.values<number>(exitCodes).includes(exitCode)) parts().recorder.noteCause(exitCode);
  };
}

function worker(settings: Settings, environment: Environment, parts: () => Parts): InGroup {
  const membership = new Membership({ channel: process, ...memberOf(parts) });
  const onEnded = membership.sendBye.bind(membership);
  const onNoOwner = (): void => {
    // PM2 is a primary without a lifecycle, and stops each worker itself. So a worker under PM2 needs no warning.
    if (!isUnderPm2(environment)) parts().warn(lonely);
  };
  return {
    ...inGroupOf(membership, { probePort: settings.probePort, onEnded, onNoOwner }),
    listenerClosed: () => membership.listenerClosed(),
  };
}

interface MemberActions {
  readonly probePort: number;
  /** onEnded is called when the lifecycle has ended but the process continues. */
  readonly onEnded: (exitCode: number) => void;
  /** onNoOwner is called if the primary or main thread has no lifecycle. */
  readonly onNoOwner: () => void;
}

// Returns the group of a worker or a worker thread, which reports to the owner of the group.
function inGroupOf(membership: Membership, { probePort, onEnded, onNoOwner }: MemberActions): InGroup {
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
        if (port !== probePort) open();
      });
    },
  };
}

function memberOf(parts: () => Parts): Omit<MembershipOptions, 'channel'> {
  return {
    clock: systemClock,
    isReady: () => parts().health.readyz.passes(),
    async shutDown(signal, number, budgetMs) {
      const { shutdown } = parts();
      // Emit the signal as the kernel would deliver it. The program's own listeners then receive it too.
      if (shutdown.endsAt === undefined) (process as EventEmitter).emit(signal, signal, number);
      await shutdown.begin(signal, { budget: budgetMs });
    },
  };
}

// Adds the worker threads to the group of the main thread. A worker thread may have its own lifecycle (P-072).
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
    observer: combineObservers([group.observer, observer]),
  };
}

function workerThread({ settings, parts }: GroupOptions): InGroup {
  const channel = new ThreadChannel();
  const { shutDown: begin, ...member } = memberOf(parts);
  const membership = new Membership({
    channel,
    ...member,
    async shutDown(...args) {
      await begin(...args);
      // Stop listening for messages of the main thread, so that this thread can end.
      parentPort?.unref();
    },
  });
  const onEnded = onceAtExit((exitCode) => {
    membership.sendBye(exitCode);
    channel.close();
  });
  return inGroupOf(membership, {
    probePort: settings.probePort,
    onEnded,
    onNoOwner: () => {
      parts().warn(lonelyThread);
    },
  });
}
