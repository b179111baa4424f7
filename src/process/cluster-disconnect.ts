// Delays the disconnect of a worker of `node:cluster` until the drain has ended. Without this delay, Node closes the
// worker's servers at once if the primary or the worker calls `worker.disconnect()`. If the primary has exited, Node
// then exits the worker.

import type { Cluster } from 'node:cluster';

/**
 * TakeDisconnect is called when this worker of `node:cluster` is about to disconnect from its primary. It returns true
 * if lameduck will call `disconnect` later. It returns false if Node must disconnect the worker now.
 */
export type TakeDisconnect = (disconnect: () => void) => boolean;

/**
 * isClusterDisconnect recognizes two events: the internal message with which the primary disconnects a worker, and the
 * exit of the primary. The message is undocumented, but Node 22, 24 and 26 send it. If a later version of Node changes
 * the message, lameduck cannot delay the disconnect.
 */
export function isClusterDisconnect(
  target: NodeJS.Process,
  event: string | symbol,
  [message]: readonly unknown[],
): boolean {
  if (event === 'disconnect') {
    const worker = workerOf(target);
    return worker !== undefined && !worker.exitedAfterDisconnect;
  }
  if (event !== 'internalMessage' || typeof message !== 'object' || message === null) return false;
  const { cmd, act } = message as { readonly cmd?: unknown; readonly act?: unknown };
  return cmd === 'NODE_CLUSTER' && act === 'disconnect';
}

/**
 * interceptOwnDisconnect calls `take` when this worker of `node:cluster` disconnects itself. The returned function
 * restores Node's `disconnect`.
 */
export function interceptOwnDisconnect(target: NodeJS.Process, take: TakeDisconnect): () => void {
  // A process without an IPC channel is not a worker, so do not load `node:cluster`.
  if (target.channel === undefined) return () => undefined;
  const worker = workerOf(target);
  if (worker === undefined) return () => undefined;
  const disconnect = worker.disconnect.bind(worker);
  worker.disconnect = () => (take(disconnect) ? worker : disconnect());
  return () => {
    Reflect.deleteProperty(worker, 'disconnect');
  };
}

function workerOf(target: NodeJS.Process): Cluster['worker'] {
  return (target.getBuiltinModule('node:cluster') as unknown as Cluster).worker;
}
