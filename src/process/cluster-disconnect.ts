// The disconnect of a worker of `node:cluster`. After `worker.disconnect()`, in the primary or in the worker, Node closes the
// worker's servers at once. When the primary has ended, Node exits. lameduck keeps both until the drain has ended.

import type { Cluster } from 'node:cluster';

/** TakeDisconnect returns true to call `disconnect` itself later. After false, Node disconnects now. */
export type TakeDisconnect = (disconnect: () => void) => boolean;

/** isClusterDisconnect tells the internal message by which the primary disconnects a worker, and the end of the primary. */
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

/** interceptOwnDisconnect calls `take` when this worker disconnects itself, until the returned function is called. */
export function interceptOwnDisconnect(target: NodeJS.Process, take: TakeDisconnect): () => void {
  // A process without an IPC channel is no worker, and need not load `node:cluster`.
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
