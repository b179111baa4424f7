// `worker.disconnect()` of `node:cluster`, called in the primary or in the worker. Node then closes the worker's servers at
// once, so lameduck keeps the call until the drain has ended.

import type { Cluster } from 'node:cluster';

/** TakeDisconnect returns true to call `disconnect` itself later. After false, Node disconnects now. */
export type TakeDisconnect = (disconnect: () => void) => boolean;

/** isClusterDisconnect tells the internal message by which the primary disconnects a worker. */
export function isClusterDisconnect(event: string | symbol, [message]: readonly unknown[]): boolean {
  if (event !== 'internalMessage' || typeof message !== 'object' || message === null) return false;
  const { cmd, act } = message as { readonly cmd?: unknown; readonly act?: unknown };
  return cmd === 'NODE_CLUSTER' && act === 'disconnect';
}

/** interceptOwnDisconnect calls `take` when this worker disconnects itself, until the returned function is called. */
export function interceptOwnDisconnect(take: TakeDisconnect): () => void {
  // A process without an IPC channel is no worker, and need not load `node:cluster`.
  if (process.channel === undefined) return () => undefined;
  const { worker } = process.getBuiltinModule('node:cluster') as unknown as Cluster;
  if (worker === undefined) return () => undefined;
  const disconnect = worker.disconnect.bind(worker);
  worker.disconnect = () => (take(disconnect) ? worker : disconnect());
  return () => {
    Reflect.deleteProperty(worker, 'disconnect');
  };
}
