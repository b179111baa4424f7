// The messages between a primary of node:cluster and its workers.
import type { ShutdownRecord } from '../../observer.ts';

// Node emits a message whose `cmd` begins with NODE_ as `internalMessage`, so that no listener of the program sees it.
const command = 'NODE_LAMEDUCK';

/** FromPrimary is a message of the primary. */
export type FromPrimary =
  /** The worker belongs to a group, whose primary has this probe port; 0 is none. */
  | { readonly kind: 'group'; readonly probePort: number }
  | { readonly kind: 'question'; readonly id: number }
  /** The listener of the group is closed, and every connection that it had accepted has been delivered. */
  | { readonly kind: 'listener closed' }
  /** Begins the shutdown as the process signal does. `budgetMs` is the most time that it may take. */
  | { readonly kind: 'shutdown'; readonly signal: NodeJS.Signals; readonly budgetMs: number };

/** FromWorker is a message of a worker. */
export type FromWorker =
  | { readonly kind: 'hello' }
  | { readonly kind: 'answer'; readonly id: number; readonly isReady: boolean }
  /** The worker holds requests, and waits until the listener of the group is closed. */
  | { readonly kind: 'holding' }
  | { readonly kind: 'record'; readonly record: ShutdownRecord };

interface Channel {
  readonly connected?: boolean;
  send?(message: object, callback: (error: Error | null) => void): unknown;
  on(event: string, listener: (message: unknown) => void): unknown;
}

/** sendOver sends a message, unless the channel is closed. */
export function sendOver(channel: Channel, message: FromPrimary | FromWorker): void {
  // Without a callback, an error of the channel would be an uncaught error of the program.
  if (channel.connected === true) channel.send?.({ cmd: command, ...message }, () => undefined);
}

/** receiveFrom calls `onMessage` for each message of the other side. */
export function receiveFrom(channel: Channel, onMessage: (message: FromPrimary | FromWorker) => void): void {
  channel.on('internalMessage', (message) => {
    const { cmd } = (message ?? {}) as { readonly cmd?: unknown };
    if (cmd === command) onMessage(message as FromPrimary | FromWorker);
  });
}
