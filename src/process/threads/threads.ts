// The worker threads of this process that have a lifecycle. The main thread reads their readiness, shuts them down and
// waits until they have ended (P-072).
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Worker } from 'node:worker_threads';
import { withTimeout, type Clock } from '../../clock.ts';
import type { DrainedTransport } from '../../drained-transport.ts';
import type { InternalChannel } from '../../node-internals.ts';
import type { ShutdownRecord, ThreadEnd } from '../../observer.ts';
import { receiveFrom, sendOver, sendShutdown, type FromWorker, type GroupShutdown } from '../group-messages.ts';

// The diagnostics channel on which Node publishes each new worker thread.
const starts = 'worker_threads';

// How long a probe of /readyz waits for the answers of the worker threads, in milliseconds. If a thread does not answer
// in this time, its last answer is used.
const patience = 100;

type FromThread = FromWorker & { readonly threadId: number };

export interface ThreadsOptions {
  readonly channel: InternalChannel & { close(): void };
  readonly clock: Clock;
  readonly probePort: number;
  /** onExitCode is called with the exit code of each worker thread that ends during the shutdown. */
  readonly onExitCode: (exitCode: number) => void;
}

interface TrackedThread {
  readonly hasServer: boolean;
  /** isReady tells whether the lifecycle of the worker thread is ready, according to the last answer of this thread. */
  isReady: boolean;
  /** record is the shutdown record that the thread has sent, or undefined before that. */
  record: ShutdownRecord | undefined;
}

/**
 * Question is a message that the main thread sends to all worker threads, to find out whether each worker thread with a
 * server is ready.
 */
interface Question {
  /**
   * unanswered contains the ids of the worker threads that have not yet told the main thread whether they are ready.
   */
  readonly unanswered: Set<number>;
  readonly resolve: () => void;
}

/** Threads contains the worker threads of this process that have a lifecycle. */
export class Threads implements DrainedTransport {
  /** The log names the worker threads with `transport` in shutdown steps such as `drain worker threads`. */
  readonly transport = 'worker threads';
  readonly ends: ThreadEnd[] = [];
  readonly #options: ThreadsOptions;
  /** #threads contains each worker thread by its id. */
  readonly #threads = new Map<number, TrackedThread>();
  readonly #questions = new Map<number, Question>();
  #nextQuestion = 1;
  #onEmpty: () => void = () => undefined;
  #shutdown: GroupShutdown | undefined;

  constructor(options: ThreadsOptions) {
    this.#options = options;
    receiveFrom(options.channel, (message) => {
      this.#onMessage(message as FromThread);
    });
    subscribe(starts, this.#onStart);
    // Worker threads may have created their lifecycles before the main thread did, so request a `hello` from each of
    // them.
    sendOver(options.channel, { kind: 'roll call' });
  }

  /** haveServer tells whether a worker thread has a server. */
  get haveServer(): boolean {
    return this.#servers.length > 0;
  }

  get #servers(): [threadId: number, TrackedThread][] {
    return [...this.#threads].filter(([, { hasServer }]) => hasServer);
  }

  /**
   * ready rejects if any worker thread with a server is not ready. Worker threads share no listening socket, unlike the
   * workers of node:cluster, so each of them must be ready.
   */
  async ready(): Promise<void> {
    const { channel, clock } = this.#options;
    const id = this.#nextQuestion++;
    const unanswered = new Set(this.#servers.map(([threadId]) => threadId));
    const answered = new Promise<void>((resolve) => this.#questions.set(id, { unanswered, resolve }));
    sendOver(channel, { kind: 'question', id });
    await withTimeout(clock, answered, patience);
    this.#questions.delete(id);
    const notReady = this.#servers.find(([, { isReady }]) => !isReady);
    if (notReady !== undefined) throw new Error(`worker thread ${String(notReady[0])} is not ready`);
  }

  /** shutDown makes every worker thread shut down as after a process signal, within the time until `endsAt`. */
  shutDown(signal: NodeJS.Signals, endsAt: number): void {
    this.#shutdown = { signal, endsAt };
    sendShutdown(this.#options.channel, this.#shutdown, this.#options.clock);
  }

  /** drain resolves when every worker thread has ended. */
  async drain(): Promise<void> {
    if (this.#threads.size > 0) await new Promise<void>((resolve) => (this.#onEmpty = resolve));
  }

  /**
   * After a call of `cut()`, the main thread no longer waits for its worker threads. A worker thread exits at the end
   * of its own shutdown budget. A worker thread with a blocked event loop ends only when the process exits.
   */
  cut(): void {
    this.#threads.clear();
  }

  close(): void {
    unsubscribe(starts, this.#onStart);
    this.#options.channel.close();
  }

  // Watch for the exit of each worker thread, because a terminated thread cannot report the end of its lifecycle. The
  // exit code of a terminated thread is 1, which does not show how its lifecycle ended.
  readonly #onStart = (message: unknown): void => {
    const { worker } = message as { readonly worker: Worker };
    const { threadId } = worker;
    worker.once('exit', (exitCode) => {
      this.#onEnd(threadId, exitCode);
    });
  };

  #onMessage(message: FromThread): void {
    const { threadId } = message;
    const thread = this.#threads.get(threadId);
    if (message.kind === 'record' && thread !== undefined) thread.record = message.record;
    else if (message.kind === 'answer' && thread !== undefined) {
      thread.isReady = message.isReady;
      const question = this.#questions.get(message.id);
      question?.unanswered.delete(threadId);
      if (question?.unanswered.size === 0) question.resolve();
    } else if (message.kind === 'bye') {
      this.#onEnd(threadId, message.exitCode);
      if (this.#shutdown !== undefined) this.#options.onExitCode(message.exitCode);
    } else if (message.kind === 'hello') {
      const { hasServer = false } = message;
      this.#threads.set(threadId, { hasServer, isReady: thread?.isReady ?? false, record: undefined });
      const { channel, clock, probePort } = this.#options;
      sendOver(channel, { kind: 'group', probePort });
      if (this.#shutdown !== undefined) sendShutdown(channel, this.#shutdown, clock);
    }
  }

  #onEnd(threadId: number, exitCode: number): void {
    const record = this.#threads.get(threadId)?.record;
    if (!this.#threads.delete(threadId)) return;
    if (this.#shutdown !== undefined) this.ends.push({ threadId, exitCode, ...(record !== undefined && { record }) });
    if (this.#threads.size === 0) this.#onEmpty();
  }
}
