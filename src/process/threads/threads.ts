// The main thread's part for worker threads that have a lifecycle. The main thread shuts them down and waits for them
// (P-072).
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Worker } from 'node:worker_threads';
import type { Clock } from '../../clock.ts';
import type { ShutdownRecord, ThreadEnd } from '../../observer.ts';
import {
  receiveFrom,
  sendOver,
  sendShutdown,
  type Channel,
  type FromWorker,
  type GroupShutdown,
} from '../cluster/messages.ts';

// The diagnostics channel on which Node publishes each new worker thread.
const starts = 'worker_threads';

type FromThread = FromWorker & { readonly threadId: number };

export interface ThreadsOptions {
  readonly channel: Channel & { close(): void };
  readonly clock: Clock;
  readonly probePort: number;
  /** onExitCode is called with the exit code of each worker thread that ends during the shutdown. */
  readonly onExitCode: (exitCode: number) => void;
}

/** Threads contains the worker threads of this process that have a lifecycle. */
export class Threads {
  /** protocol is the name of the worker threads in the log, in the field that otherwise names a protocol. */
  readonly protocol = 'worker threads';
  readonly ends: ThreadEnd[] = [];
  readonly #options: ThreadsOptions;
  /** #members contains each worker thread by its id, with its shutdown record once the thread has sent it. */
  readonly #members = new Map<number, ShutdownRecord | undefined>();
  #onEmpty: () => void = () => undefined;
  #shutdown: GroupShutdown | undefined;

  constructor(options: ThreadsOptions) {
    this.#options = options;
    receiveFrom(options.channel, (message) => {
      this.#onMessage(message as FromThread);
    });
    subscribe(starts, this.#onStart);
    // Worker threads may have created their lifecycle before the main thread created its own. Make them report again.
    sendOver(options.channel, { kind: 'roll call' });
  }

  /** shutDown tells every worker thread to shut down as after a process signal, within the time until `endsAt`. */
  shutDown(signal: NodeJS.Signals, endsAt: number): void {
    this.#shutdown = { signal, endsAt };
    sendShutdown(this.#options.channel, this.#shutdown, this.#options.clock);
  }

  /** drain resolves when every worker thread has ended. */
  async drain(): Promise<void> {
    if (this.#members.size > 0) await new Promise<void>((resolve) => (this.#onEmpty = resolve));
  }

  /**
   * cut stops waiting for the worker threads. Each worker thread ends with its own shutdown budget. If its event loop
   * is blocked, it ends with the process.
   */
  cut(): void {
    this.#members.clear();
  }

  close(): void {
    unsubscribe(starts, this.#onStart);
    this.#options.channel.close();
  }

  // Detects that a worker thread was terminated, because it then sends no message. Its exit code is 1, which says
  // nothing about its lifecycle.
  readonly #onStart = (message: unknown): void => {
    const { worker } = message as { readonly worker: Worker };
    const { threadId } = worker;
    worker.once('exit', (exitCode) => {
      this.#onEnd(threadId, exitCode);
    });
  };

  #onMessage(message: FromThread): void {
    const { threadId } = message;
    if (message.kind === 'record' && this.#members.has(threadId)) this.#members.set(threadId, message.record);
    else if (message.kind === 'bye') {
      this.#onEnd(threadId, message.exitCode);
      if (this.#shutdown !== undefined) this.#options.onExitCode(message.exitCode);
    } else if (message.kind === 'hello') {
      this.#members.set(threadId, undefined);
      const { channel, clock, probePort } = this.#options;
      sendOver(channel, { kind: 'group', probePort });
      if (this.#shutdown !== undefined) sendShutdown(channel, this.#shutdown, clock);
    }
  }

  #onEnd(threadId: number, exitCode: number): void {
    const record = this.#members.get(threadId);
    if (!this.#members.delete(threadId)) return;
    if (this.#shutdown !== undefined) this.ends.push({ threadId, exitCode, ...(record !== undefined && { record }) });
    if (this.#members.size === 0) this.#onEmpty();
  }
}
