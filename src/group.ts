// node:cluster and a lifecycle: the lifecycle of the primary is that of the group, and a worker belongs to it.
import type { Cluster } from 'node:cluster';
import type { Server as NetServer } from 'node:net';
import type { EventEmitter } from 'node:events';
import { startImmediate, systemClock } from './clock.ts';
import { Group } from './process/cluster/group.ts';
import { Membership } from './process/cluster/membership.ts';
import { SharedListeners } from './process/cluster/shared-listeners.ts';
import { exitCodes } from './exit-codes.ts';
import type { Observer, WorkerEnd } from './observer.ts';
import { silent } from './observers/logging.ts';
import { isUnderPm2 } from './process/pm2.ts';
import type { Environment } from './settings/environment.ts';
import type { Parts } from './parts.ts';
import type { Settings } from './settings/table.ts';

/** InGroup is the part that a lifecycle has in a group. */
export interface InGroup {
  /** The workers that have exited; undefined unless this process is the primary. */
  readonly ends: readonly WorkerEnd[] | undefined;
  readonly observer: Observer | undefined;
  /** Resolves when the listener of the group is closed, while this worker holds its requests. */
  readonly listenerClosed: (() => Promise<void>) | undefined;
  /** Called when the servers listen. `open` opens the probe port, unless the primary has it for the group. */
  readonly onStart: (open: () => void) => void;
}

/** GroupOptions is the lifecycle that may belong to a group. */
export interface GroupOptions {
  readonly settings: Settings;
  readonly environment: Environment;
  readonly servers: readonly unknown[];
  readonly parts: () => Parts;
  /** A listener of the workers that listens already. */
  readonly listener: NetServer | undefined;
}

const lonely =
  'SIGTERM reaches only the primary of node:cluster, which has no lifecycle: call lameduck([]) there, or forward the signal';

const alone: InGroup = {
  ends: undefined,
  observer: undefined,
  listenerClosed: undefined,
  onStart: (open) => {
    open();
  },
};

/** joinGroup makes a lifecycle that of the group, if it is the primary's, or a part of it, if it is a worker's. */
export function joinGroup({ settings, environment, servers, parts, listener }: GroupOptions): InGroup {
  const hasServer = servers.length > 0;
  // Most processes have a server and no IPC channel, and need not load node:cluster.
  if (hasServer && process.channel === undefined) return alone;
  const cluster = process.getBuiltinModule('node:cluster') as unknown as Cluster;
  if (cluster.isWorker) return worker(settings, environment, parts);
  return hasServer ? alone : primary(cluster, settings, parts, new SharedListeners(systemClock, listener));
}

// A lifecycle without a server. Whether it has workers shows when the program has forked them.
function primary(cluster: Cluster, settings: Settings, parts: () => Parts, listeners: SharedListeners): InGroup {
  const group = new Group({
    cluster,
    clock: systemClock,
    probePort: settings.probePort,
    listeners,
    stallLimit: settings.livezEventLoopStallLimit,
    onExitCode: (exitCode) => {
      // Any other code is the program's own.
      if (Object.values<number>(exitCodes).includes(exitCode)) parts().recorder.noteCause(exitCode);
    },
  });
  // Before the start, after which no check can be added.
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

function shutDown(group: Group, settings: Settings, { shutdown, recorder }: Parts): void {
  const { reason } = recorder.soFar();
  const signal = settings.shutdownSignals.find((name) => name === reason) ?? settings.shutdownSignals[0] ?? 'SIGTERM';
  group.shutDown(signal, shutdown.deadlines?.drainBy ?? systemClock.now());
}

function worker(settings: Settings, environment: Environment, parts: () => Parts): InGroup {
  const membership = new Membership({
    clock: systemClock,
    isReady: () => parts().health.readyz.passes(),
    shutDown(signal, number, budgetMs) {
      const { shutdown } = parts();
      // As the kernel delivers it, also to the program's own listeners.
      if (shutdown.endsAt === undefined) (process as EventEmitter).emit(signal, signal, number);
      void shutdown.begin(signal, { budget: budgetMs });
    },
  });
  return {
    ends: undefined,
    observer: {
      ...silent,
      onEnd(record) {
        membership.report(record);
      },
    },
    listenerClosed: () => membership.listenerClosed(),
    onStart(open) {
      void membership.primaryProbePort().then((port) => {
        // PM2 is such a primary, and ends each worker itself.
        if (port === undefined && !isUnderPm2(environment)) parts().warn(lonely);
        if (port === undefined || port !== settings.probePort) open();
      });
    },
  };
}
