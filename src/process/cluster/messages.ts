// The messages between a primary of node:cluster and its workers, and between the main thread and worker threads.
import type { Clock } from '../../clock.ts';
import type { ShutdownRecord } from '../../observer.ts';

// The value of `cmd` in every message. Node emits a message whose `cmd` begins with NODE_ as `internalMessage`, so
// listeners of the program do not see it.
const command = 'NODE_LAMEDUCK';

// How long a worker may need to exit after its shutdown, in milliseconds. The worker waits up to a second for its
// event loop to become empty.
const exitTime = 1_500;

/** FromPrimary is a message from the primary to a worker. */
export type FromPrimary =
  /** `group`: the primary has a lifecycle. `probePort` is the primary's probe port, or 0 if it has none. */
  | { readonly kind: 'group'; readonly probePort: number }
  | { readonly kind: 'question'; readonly id: number }
  /**
   * `roll call`: every worker thread with a lifecycle must send `hello` again, because the sender has just begun to
   * listen.
   */
  | { readonly kind: 'roll call' }
  /**
   * `listener closed`: the primary has closed the shared listener and sent every accepted connection to a worker.
   */
  | { readonly kind: 'listener closed' }
  /** `shutdown`: begin the shutdown, as the process signal does. It may take at most `budgetMs`. */
  | { readonly kind: 'shutdown'; readonly signal: NodeJS.Signals; readonly budgetMs: number };

/** FromWorker is a message from a worker to its primary. */
export type FromWorker =
  | { readonly kind: 'hello' }
  | { readonly kind: 'answer'; readonly id: number; readonly isReady: boolean }
  /** `holding`: the worker holds its requests and waits for `listener closed`. */
  | { readonly kind: 'holding' }
  | { readonly kind: 'record'; readonly record: ShutdownRecord }
  /** `bye`: the lifecycle of the worker or worker thread has ended. A worker may stay alive after its own shutdown. */
  | { readonly kind: 'bye'; readonly exitCode: number };

/** Channel is one end of a connection that carries the messages of a group. */
export interface Channel {
  readonly connected?: boolean;
  send?(message: object, callback: (error: Error | null) => void): unknown;
  on(event: string, listener: (message: unknown) => void): unknown;
}

/**
 * GroupShutdown is the shutdown of a group. Every worker must exit by `endsAt`, in milliseconds of the clock of the
 * primary or the main thread.
 */
export interface GroupShutdown {
  readonly signal: NodeJS.Signals;
  readonly endsAt: number;
}

/** sendShutdown tells the workers on the other end of a channel to shut down and exit in time. */
export function sendShutdown(channel: Channel, { signal, endsAt }: GroupShutdown, clock: Clock): void {
  sendOver(channel, { kind: 'shutdown', signal, budgetMs: Math.max(0, endsAt - clock.now() - exitTime) });
}

/** sendOver sends a message. If the channel is closed, it does nothing. */
export function sendOver(channel: Channel, message: FromPrimary | FromWorker): void {
  // Pass a callback. Without a callback, an error of the channel would be an uncaught error in the program.
  if (channel.connected === true) channel.send?.({ cmd: command, ...message }, () => undefined);
}

/** receiveFrom calls `onMessage` for each message of lameduck that arrives on the channel. */
export function receiveFrom(channel: Channel, onMessage: (message: FromPrimary | FromWorker) => void): void {
  channel.on('internalMessage', (message) => {
    const { cmd } = (message ?? {}) as { readonly cmd?: unknown };
    if (cmd === command) onMessage(message as FromPrimary | FromWorker);
  });
}
