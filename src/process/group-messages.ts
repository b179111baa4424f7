// The messages between a primary of node:cluster and its workers, or between a main thread and its worker threads.
// Contains the types of the messages, and the functions that send and receive them.
import type { Clock } from '../clock.ts';
import { onInternal, sendInternal, type InternalChannel } from '../node-internals.ts';
import type { ShutdownRecord } from '../observer.ts';

// How much time is reserved for the exit of a worker after its shutdown, in milliseconds. For up to one second of this
// time, the worker waits until its event loop is empty.
const exitTime = 1_500;

// A worker must have exited by `endsAt`. At most a quarter of the time until `endsAt` is reserved for the exit, because
// most workers exit at once.
const exitShare = 0.25;

/** FromPrimary is a message from the primary to a worker. */
export type FromPrimary =
  /** Message `group`: the primary has a lifecycle. `probePort` is the primary's probe port, or 0 if it has none. */
  | { readonly kind: 'group'; readonly probePort: number }
  | { readonly kind: 'question'; readonly id: number }
  /**
   * Message `roll call`: the primary or main thread sends this message when it begins to receive messages. Each worker
   * or worker thread with a lifecycle must then send `hello` again, because its first `hello` may have been lost.
   */
  | { readonly kind: 'roll call' }
  /**
   * Message `listener closed`: the primary has closed the shared listening socket, and has sent every accepted
   * connection to a worker.
   */
  | { readonly kind: 'listener closed' }
  /** Message `shutdown`: the worker must shut down within `budgetMs` milliseconds, as after a process signal. */
  | { readonly kind: 'shutdown'; readonly signal: NodeJS.Signals; readonly budgetMs: number };

/** FromWorker is a message from a worker to its primary. */
export type FromWorker =
  | { readonly kind: 'hello'; readonly hasServer?: boolean }
  | { readonly kind: 'answer'; readonly id: number; readonly isReady: boolean }
  /**
   * Message `holding`: the worker delays the requests of its clients until the primary has closed the shared listening
   * socket and sends the message `listener closed`.
   */
  | { readonly kind: 'holding' }
  | { readonly kind: 'record'; readonly record: ShutdownRecord }
  /**
   * Message `bye`: the lifecycle of the worker or worker thread has ended. The worker may still be alive at that time.
   */
  | { readonly kind: 'bye'; readonly exitCode: number };

/**
 * GroupShutdown is the shutdown of all workers of a primary, or of all worker threads of a main thread. Each of them
 * must exit by `endsAt`, in milliseconds of the clock of the primary or the main thread.
 */
export interface GroupShutdown {
  readonly signal: NodeJS.Signals;
  readonly endsAt: number;
}

/**
 * sendShutdown sends the message `shutdown` to the worker or the workers at the other end of a channel. The message
 * contains the time limit of a worker's shutdown.
 */
export function sendShutdown(channel: InternalChannel, { signal, endsAt }: GroupShutdown, clock: Clock): void {
  const left = Math.max(0, endsAt - clock.now());
  sendOver(channel, { kind: 'shutdown', signal, budgetMs: left - Math.min(exitTime, left * exitShare) });
}

/** sendOver sends a message to the process or thread at the other end of `channel`, unless the channel is closed. */
export function sendOver(channel: InternalChannel, message: FromPrimary | FromWorker): void {
  sendInternal(channel, message);
}

export function receiveFrom(channel: InternalChannel, onMessage: (message: FromPrimary | FromWorker) => void): void {
  onInternal(channel, (message) => {
    onMessage(message as FromPrimary | FromWorker);
  });
}
