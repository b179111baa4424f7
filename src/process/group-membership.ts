// Connects a worker of node:cluster with its primary, or a worker thread with its main thread. The primary or main
// thread reads the readiness of the worker and shuts the worker down.
import { constants } from 'node:os';
import { withTimeout, type Clock } from '../clock.ts';
import type { InternalChannel } from '../node-internals.ts';
import type { ShutdownRecord } from '../observer.ts';
import { receiveFrom, sendOver, type FromWorker } from './group-messages.ts';

// How long a worker of node:cluster waits for an answer of its primary before it opens its own probe port, in
// milliseconds. A primary without a lifecycle never answers.
const patience = 500;

// The longest time, in milliseconds, for which a worker delays requests. It delays them until the primary has closed
// the listening socket that the workers share.
const longestHold = 2_000;

export interface GroupMembershipOptions {
  readonly clock: Clock;
  /**
   * channel carries the messages between this worker and its primary, or between this worker thread and the main
   * thread.
   */
  readonly channel: InternalChannel;
  /** hasServer tells whether this worker thread has a server. A worker of node:cluster does not set this field. */
  readonly hasServer?: boolean;
  readonly isReady: () => Promise<boolean>;
  /**
   * shutDown begins the shutdown of this worker, as a process signal would. If a shutdown is already in progress,
   * shutDown joins that shutdown.
   */
  readonly shutDown: (signal: NodeJS.Signals, number: number, budgetMs: number) => Promise<void>;
}

/** GroupMembership connects this worker with the primary of its group. */
export class GroupMembership {
  readonly #clock: Clock;
  readonly #channel: InternalChannel;
  readonly #primaryProbePort: Promise<number | undefined>;
  #onListenerClosed = (): void => undefined;

  constructor({ clock, channel, hasServer, isReady, shutDown }: GroupMembershipOptions) {
    this.#clock = clock;
    this.#channel = channel;
    const hello: FromWorker = { kind: 'hello', ...(hasServer !== undefined && { hasServer }) };
    this.#primaryProbePort = new Promise((resolve) => {
      receiveFrom(channel, (message) => {
        if (message.kind === 'group') resolve(message.probePort);
        else if (message.kind === 'roll call') sendOver(channel, hello);
        else if (message.kind === 'listener closed') this.#onListenerClosed();
        else if (message.kind === 'shutdown') {
          void shutDown(message.signal, constants.signals[message.signal], message.budgetMs);
        } else if (message.kind === 'question') {
          void isReady().then((ready) => {
            sendOver(channel, { kind: 'answer', id: message.id, isReady: ready });
          });
        }
      });
      clock.afterUnref(patience, () => {
        resolve(undefined);
      });
    });
    sendOver(channel, hello);
  }

  /**
   * primaryProbePort resolves with the port number of the primary's probe port. It resolves with undefined if the
   * primary has no lifecycle.
   */
  primaryProbePort(): Promise<number | undefined> {
    return this.#primaryProbePort;
  }

  /**
   * listenerClosed tells the primary that this worker now delays the requests of its clients. It resolves when the
   * primary has closed the listening socket that all workers share. A worker must not close this socket itself. If the
   * last worker closed it, the connections that the primary has already accepted would be reset.
   */
  async listenerClosed(): Promise<void> {
    const closed = new Promise<void>((resolve) => (this.#onListenerClosed = resolve));
    sendOver(this.#channel, { kind: 'holding' });
    if ((await this.primaryProbePort()) !== undefined) await withTimeout(this.#clock, closed, longestHold);
  }

  /** report sends the shutdown record of this worker to the primary. */
  report(record: ShutdownRecord): void {
    sendOver(this.#channel, { kind: 'record', record });
  }

  /** sendBye tells the primary or the main thread that the lifecycle of this worker has ended. */
  sendBye(exitCode: number): void {
    sendOver(this.#channel, { kind: 'bye', exitCode });
  }
}
