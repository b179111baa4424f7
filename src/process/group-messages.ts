// The messages of a group, and how they are sent. A primary of node:cluster and its workers use them, and a main thread
// and its worker threads.
import type { Clock } from '../clock.ts';
import { onInternal, sendInternal, type InternalChannel } from '../node-internals.ts';
import type { ShutdownRecord } from '../observer.ts';

// The time that is reserved for the exit of a worker after its shutdown, in milliseconds. The worker waits up to a
// second until its event loop is empty.
const exitTime = 1_500;

// The largest share of the remaining time that is reserved for the exit of a worker. It is only a quarter, because most
// workers exit at once.
const exitShare = 0.25;

/** FromPrimary is a message from the primary to a worker. */
export type FromPrimary =
  /** `group`: the primary has a lifecycle. `probePort` is the primary's probe port, or 0 if it has none. */
  | { readonly kind: 'group'; readonly probePort: number }
  | { readonly kind: 'question'; readonly id: number }
  /**
   * `roll call`: the primary or main thread sends this message when it begins to receive messages. Each worker or worker
   * thread with a lifecycle must then send `hello` again, because its first `hello` may have been lost.
   */
  | { readonly kind: 'roll call' }
  /**
   * `listener closed`: the primary has closed the shared listener and sent every accepted connection to a worker.
   */
  | { readonly kind: 'listener closed' }
  /**
   * `shutdown`: this message tells the worker to shut down within `budgetMs` milliseconds, as after a process signal.
   */
  | { readonly kind: 'shutdown'; readonly signal: NodeJS.Signals; readonly budgetMs: number };

/** FromWorker is a message from a worker to its primary. */
export type FromWorker =
  | { readonly kind: 'hello'; readonly hasServer?: boolean }
  | { readonly kind: 'answer'; readonly id: number; readonly isReady: boolean }
  /** `holding`: the worker delays its requests and waits for the message `listener closed`. */
  | { readonly kind: 'holding' }
  | { readonly kind: 'record'; readonly record: ShutdownRecord }
  /** `bye`: the lifecycle of the worker or worker thread has ended. A worker may stay alive after its own shutdown. */
  | { readonly kind: 'bye'; readonly exitCode: number };

/**
 * GroupShutdown is the shutdown of a group. Every worker must exit by `endsAt`, in milliseconds of the clock of the
 * primary or the main thread.
 */
export interface GroupShutdown {
  readonly signal: NodeJS.Signals;
  readonly endsAt: number;
}

/**
 * sendShutdown sends the message `shutdown` to the workers on the other end of a channel, with the time that they have
 * until they must exit.
 */
export function sendShutdown(channel: InternalChannel, { signal, endsAt }: GroupShutdown, clock: Clock): void {
  const left = Math.max(0, endsAt - clock.now());
  sendOver(channel, { kind: 'shutdown', signal, budgetMs: left - Math.min(exitTime, left * exitShare) });
}

/** sendOver sends a message over a channel. If the channel is closed, it does nothing. */
export function sendOver(channel: InternalChannel, message: FromPrimary | FromWorker): void {
  sendInternal(channel, message);
}

/** receiveFrom calls `onMessage` for each message of lameduck that arrives on the channel. */
export function receiveFrom(channel: InternalChannel, onMessage: (message: FromPrimary | FromWorker) => void): void {
  onInternal(channel, (message) => {
    onMessage(message as FromPrimary | FromWorker);
  });
}
