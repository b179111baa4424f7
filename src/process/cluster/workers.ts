// The workers of a primary of node:cluster. The primary reads their readiness, shuts them down and waits until they
// have exited.
import type { Cluster, Worker } from 'node:cluster';
import { syncBuiltinESMExports } from 'node:module';
import { withTimeout, type Clock } from '../../clock.ts';
import type { DrainedTransport } from '../../drained-transport.ts';
import type { ShutdownRecord, WorkerEnd } from '../../observer.ts';
import {
  receiveFrom,
  sendOver,
  sendShutdown,
  type FromPrimary,
  type FromWorker,
  type GroupShutdown,
} from '../group-messages.ts';
import type { SharedListeners } from './shared-listeners.ts';

// How long the primary waits, in milliseconds, for workers that it has killed with SIGKILL. The final line lists the
// workers that have exited in this time.
const longestKill = 500;

// Milliseconds for which a worker may listen without a lifecycle before the primary logs a warning. Under
// `lameduck/register`, a worker loads its lifecycle after it listens. This takes seconds in a container with little
// CPU.
const bareTime = 10_000;

interface TrackedWorker {
  readonly worker: Worker;
  /** hasLifecycle tells whether the worker has a lifecycle. */
  hasLifecycle: boolean;
  isListening: boolean;
  /**
   * isHolding is true while this cluster worker delays the requests of its clients. The delay ends when the primary has
   * closed the shared listening socket.
   */
  isHolding: boolean;
  /**
   * questions contains the unanswered messages `question`, with the id of the message as the key. Such a message
   * requests the readiness of the worker.
   */
  readonly questions: Map<number, { readonly sentAt: number; readonly answer: (isReady: boolean) => void }>;
  record: ShutdownRecord | undefined;
}

export interface WorkersOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly probePort: number;
  readonly listeners: SharedListeners;
  /**
   * stallLimit is the time in milliseconds after which the event loop of a worker that does not answer counts as
   * blocked. With 0, no worker counts as blocked.
   */
  readonly stallLimit: number;
  /** onExitCode is called with the exit code of each worker that exits during the shutdown. */
  readonly onExitCode: (exitCode: number) => void;
  /** onBareWorker is called for a worker that listens without a lifecycle, but only for the first such worker. */
  readonly onBareWorker: (workerPid: number | undefined) => void;
}

/** Workers contains the workers of this primary. */
export class Workers implements DrainedTransport {
  /** The log names the workers with `transport` in shutdown steps such as `drain node:cluster`. */
  readonly transport = 'node:cluster';
  readonly ends: WorkerEnd[] = [];
  readonly #options: WorkersOptions;
  readonly #workers = new Set<TrackedWorker>();
  readonly #onEmpty: (() => void)[] = [];
  #questions = 0;
  #hasBareWorker = false;
  #shutdown: GroupShutdown | undefined;

  constructor(options: WorkersOptions) {
    this.#options = options;
    const { cluster } = options;
    for (const worker of Object.values(cluster.workers ?? {})) if (worker !== undefined) this.#add(worker);
    cluster.on('fork', (worker) => {
      if (this.#shutdown === undefined) this.#add(worker);
      else end(worker);
    });
  }

  get isEmpty(): boolean {
    return this.#workers.size === 0;
  }

  /**
   * ready is a readiness check of the primary. It resolves if at least one cluster worker reports that it is ready, and
   * rejects otherwise.
   */
  async ready(): Promise<void> {
    const answers = [...this.#workers].map(async (tracked) => {
      if (!(await this.#ask(tracked))) throw new Error('not ready');
    });
    await Promise.any(answers).catch(() => {
      throw new Error(`none of ${String(answers.length)} workers is ready`);
    });
  }

  /** live throws an error if the event loop of at least one worker is blocked. */
  live(): void {
    const { clock, stallLimit } = this.#options;
    for (const tracked of this.#workers) {
      const [oldest] = tracked.questions.values();
      const age = oldest === undefined ? 0 : clock.now() - oldest.sentAt;
      if (stallLimit > 0 && age >= stallLimit)
        throw new Error(`worker ${String(tracked.worker.process.pid)} is blocked`);
      if (tracked.hasLifecycle) void this.#ask(tracked);
    }
  }

  /**
   * shutDown makes every worker shut down and exit by `endsAt`. A worker with a lifecycle gets a message instead of the
   * process signal. After Ctrl-C, for example, the terminal has already sent the signal to the worker, and a second
   * signal would end the worker at once. A worker that listens without a lifecycle gets the process signal later, when
   * `stopAccepting` is called.
   */
  shutDown(signal: NodeJS.Signals, endsAt: number): void {
    const shutdown = { signal, endsAt };
    this.#shutdown = shutdown;
    refuseForks(this.#options.cluster);
    for (const tracked of this.#workers) if (!isBare(tracked)) this.#stop(tracked, shutdown);
  }

  /**
   * stopAccepting sends the process signal to each worker that listens without a lifecycle. Most of these workers exit
   * at once at the signal. So they get it only after load balancers have stopped sending connections.
   */
  async stopAccepting(): Promise<void> {
    // Close the shared listening socket before the workers get the process signal. Most workers without a lifecycle
    // exit at once at the signal, and each of their clients loses a request. If the socket were still open, a client
    // could reconnect to another such worker and lose its next request. If any worker has a lifecycle, keep the shared
    // listening socket open, because this worker still needs the socket.
    const workers = [...this.#workers];
    if (workers.some(isBare) && !workers.some(({ hasLifecycle }) => hasLifecycle))
      await this.#options.listeners.close();
    for (const tracked of this.#workers) {
      if (isBare(tracked) && this.#shutdown !== undefined) this.#stop(tracked, this.#shutdown);
    }
  }

  /** drain resolves when every worker has exited. */
  async drain(): Promise<void> {
    if (!this.isEmpty) await new Promise<void>((resolve) => this.#onEmpty.push(resolve));
  }

  /**
   * cut sends SIGKILL to every cluster worker that has not exited yet. It resolves when all cluster workers have
   * exited, or at the latest after `longestKill` milliseconds.
   */
  async cut(): Promise<void> {
    for (const { worker } of this.#workers) worker.process.kill('SIGKILL');
    await withTimeout(this.#options.clock, this.drain(), longestKill);
  }

  #add(worker: Worker): void {
    const tracked: TrackedWorker = {
      worker,
      hasLifecycle: false,
      isListening: false,
      isHolding: false,
      questions: new Map(),
      record: undefined,
    };
    this.#workers.add(tracked);
    receiveFrom(worker.process, (message) => {
      this.#onMessage(tracked, message);
    });
    this.#options.listeners.watch(worker);
    worker.once('listening', () => {
      tracked.isListening = true;
      this.#options.clock.afterUnref(bareTime, () => {
        this.#noteBare(tracked);
      });
    });
    worker.process.once('exit', (exitCode, signal) => {
      this.#onExit(tracked, exitCode, signal);
    });
    // The worker may have sent its message `hello` before the primary had a lifecycle. So request another `hello` from
    // the worker.
    sendOver(worker.process, { kind: 'roll call' });
  }

  #noteBare(tracked: TrackedWorker): void {
    if (this.#hasBareWorker || !isBare(tracked) || !this.#workers.has(tracked)) return;
    this.#hasBareWorker = true;
    this.#options.onBareWorker(tracked.worker.process.pid);
  }

  #onMessage(tracked: TrackedWorker, message: FromPrimary | FromWorker): void {
    if (message.kind === 'record') tracked.record = message.record;
    else if (message.kind === 'holding') {
      tracked.isHolding = true;
      this.#closeWhenHeld();
    } else if (message.kind === 'answer') {
      tracked.questions.get(message.id)?.answer(message.isReady);
      tracked.questions.delete(message.id);
    } else if (message.kind === 'hello') {
      const isLate = isBare(tracked);
      tracked.hasLifecycle = true;
      sendOver(tracked.worker.process, { kind: 'group', probePort: this.#options.probePort });
      // When the primary's shutdown began, the primary did not shut down this worker, because the worker was listening
      // without a lifecycle. The worker now has a lifecycle, so shut down the worker.
      if (this.#shutdown !== undefined && isLate) this.#stop(tracked, this.#shutdown);
    } else if (message.kind === 'bye') {
      tracked.hasLifecycle = false;
      tracked.isListening = false;
      if (this.#shutdown !== undefined) this.#stop(tracked, this.#shutdown);
    }
  }

  // Closes the shared listening socket when every worker delays the requests of its clients. A client that waits for a
  // response opens no new connection. So closing the socket resets no connection.
  #closeWhenHeld(): void {
    const workers = [...this.#workers];
    if (!workers.some(({ isHolding }) => isHolding) || !workers.every(({ isHolding }) => isHolding)) return;
    void this.#options.listeners.close().then(() => {
      for (const { worker } of this.#workers) sendOver(worker.process, { kind: 'listener closed' });
    });
  }

  #ask({ worker, questions, hasLifecycle, isListening }: TrackedWorker): Promise<boolean> {
    // Resolves if a worker is ready. A worker without a lifecycle is ready when it listens.
    if (!hasLifecycle) return Promise.resolve(isListening);
    const id = ++this.#questions;
    return new Promise((answer) => {
      questions.set(id, { sentAt: this.#options.clock.now(), answer });
      sendOver(worker.process, { kind: 'question', id });
    });
  }

  #stop({ worker, hasLifecycle }: TrackedWorker, shutdown: GroupShutdown): void {
    if (hasLifecycle) sendShutdown(worker.process, shutdown, this.#options.clock);
    else worker.process.kill(shutdown.signal);
  }

  #onExit(tracked: TrackedWorker, exitCode: number | null, signal: NodeJS.Signals | null): void {
    this.#workers.delete(tracked);
    this.#closeWhenHeld();
    for (const { answer } of tracked.questions.values()) answer(false);
    if (this.#shutdown !== undefined) {
      const { record, worker } = tracked;
      this.ends.push({ pid: worker.process.pid ?? 0, exitCode, signal, ...(record !== undefined && { record }) });
      if (exitCode !== null) this.#options.onExitCode(exitCode);
    }
    if (this.isEmpty) for (const resolve of this.#onEmpty.splice(0)) resolve();
  }
}

function isBare({ hasLifecycle, isListening }: TrackedWorker): boolean {
  return isListening && !hasLifecycle;
}

// Kills a worker that was started during the shutdown, with SIGKILL, before the worker accepts a connection. lameduck
// replaces `cluster.fork`, but a program can still start a worker if it saved a reference to the original function. The
// killed worker does not keep the primary alive.
function end({ process: child }: Worker): void {
  child.kill('SIGKILL');
  child.unref();
  child.channel?.unref();
}

// Makes `cluster.fork()` start no process during the shutdown: it returns the object of a dead worker. Many primaries
// fork a new worker for each worker that exits. During the shutdown, each new worker would exit at once, and the
// primary would fork the next one.
function refuseForks(cluster: Cluster): void {
  const { Worker: ClusterWorker } = cluster as unknown as { readonly Worker: new (options: object) => Worker };
  // Load node:child_process only when it is needed, because most processes have no workers.
  const { ChildProcess } = process.getBuiltinModule('node:child_process');
  cluster.fork = () => {
    const neverStarted = Object.assign(new ChildProcess(), { signalCode: 'SIGTERM', send: () => false });
    return new ClusterWorker({ id: 0, process: neverStarted, state: 'dead' });
  };
  syncBuiltinESMExports();
}
