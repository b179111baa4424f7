// The end of this process as a worker of `node:cluster`: `worker.disconnect()`, called in the primary or in the worker.
// Node closes the worker's servers at once then.

import type { Cluster } from 'node:cluster';

/** TakeDisconnect returns true to keep `disconnect` for later; false lets it happen now. */
export type TakeDisconnect = (disconnect: () => void) => boolean;

/** isClusterDisconnect tells the internal message by which the primary disconnects a worker. */
export function isClusterDisconnect(event: string | symbol, [message]: readonly unknown[]): boolean {
  if (event !== 'internalMessage' || typeof message !== 'object' || message === null) return false;
  const { cmd, act } = message as { readonly cmd?: unknown; readonly act?: unknown };
  return cmd === 'NODE_CLUSTER' && act === 'disconnect';
}

/** interceptOwnDisconnect asks `take` when this worker disconnects itself, until the returned function is called. */
export function interceptOwnDisconnect(take: TakeDisconnect): () => void {
  // Only a worker has a channel; any other process would load the module for nothing.
  if (process.channel === undefined) return () => undefined;
  const { worker } = process.getBuiltinModule('node:cluster') as unknown as Cluster;
  if (worker === undefined) return () => undefined;
  const disconnect = worker.disconnect.bind(worker);
  worker.disconnect = () => (take(disconnect) ? worker : disconnect());
  return () => {
    Reflect.deleteProperty(worker, 'disconnect');
  };
}
