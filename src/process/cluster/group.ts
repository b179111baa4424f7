// The workers of a primary of node:cluster. The primary queries their readiness, shuts them down and waits for their
// exit.
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
} from './messages.ts';
import type { SharedListeners } from './shared-listeners.ts';

// The longest wait for the exit of workers after SIGKILL, in milliseconds. The final line lists the workers that have
// exited until then.
const longestKill = 500;

// How long a worker may listen without a lifecycle before the primary warns, in milliseconds. Under `lameduck/register`,
// a worker loads its lifecycle after it listens, which takes seconds in a container with little CPU.
const bareTime = 10_000;

interface Member {
  readonly worker: Worker;
  /** isMember tells whether the worker has a lifecycle. */
  isMember: boolean;
  isListening: boolean;
  /** isHolding is true while the worker holds its requests and waits until the shared listener is closed. */
  isHolding: boolean;
  /**
   * questions contains each question about readiness that the worker has not answered yet. Its key is the id of the
   * question.
   */
  readonly questions: Map<number, { readonly sentAt: number; readonly answer: (isReady: boolean) => void }>;
  record: ShutdownRecord | undefined;
}

export interface GroupOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly probePort: number;
  readonly listeners: SharedListeners;
  /**
   * stallLimit is the time in milliseconds after which a worker that does not answer counts as blocked. With 0, no
   * worker counts as blocked.
   */
  readonly stallLimit: number;
  /** onExitCode is called with the exit code of each worker that exits during the shutdown. */
  readonly onExitCode: (exitCode: number) => void;
  /** onBareWorker is called once, for the first worker that listens without a lifecycle. */
  readonly onBareWorker: (workerPid: number | undefined) => void;
}

/** Group contains the workers of this primary. */
export class Group implements DrainedTransport {
  /** transport names the workers in the shutdown steps of the log, such as `drain node:cluster`. */
  readonly transport = 'node:cluster';
  readonly ends: WorkerEnd[] = [];
  readonly #options: GroupOptions;
  readonly #members = new Set<Member>();
  readonly #onEmpty: (() => void)[] = [];
  #questions = 0;
  #hasBareWorker = false;
  #shutdown: GroupShutdown | undefined;

  constructor(options: GroupOptions) {
    this.#options = options;
    const { cluster } = options;
    for (const worker of Object.values(cluster.workers ?? {})) if (worker !== undefined) this.#add(worker);
    cluster.on('fork', (worker) => {
      if (this.#shutdown === undefined) this.#add(worker);
      else end(worker);
    });
  }

  get isEmpty(): boolean {
    return this.#members.size === 0;
  }

  /** ready resolves if at least one worker is ready now, and rejects otherwise. */
  async ready(): Promise<void> {
    const answers = [...this.#members].map(async (member) => {
      if (!(await this.#ask(member))) throw new Error('not ready');
    });
    await Promise.any(answers).catch(() => {
      throw new Error(`none of ${String(answers.length)} workers is ready`);
    });
  }

  /** live throws if the event loop of any worker is blocked. */
  live(): void {
    const { clock, stallLimit } = this.#options;
    for (const member of this.#members) {
      const [oldest] = member.questions.values();
      const age = oldest === undefined ? 0 : clock.now() - oldest.sentAt;
      if (stallLimit > 0 && age >= stallLimit)
        throw new Error(`worker ${String(member.worker.process.pid)} is blocked`);
      if (member.isMember) void this.#ask(member);
    }
  }

  /**
   * shutDown makes every worker shut down and exit by `endsAt`. A worker with a lifecycle gets a message, and no
   * signal. If the signal came from a terminal, the worker has already received it, and a second signal would end the
   * worker at once. A worker that listens without a lifecycle gets the signal only at `stopAccepting`.
   */
  shutDown(signal: NodeJS.Signals, endsAt: number): void {
    const shutdown = { signal, endsAt };
    this.#shutdown = shutdown;
    refuseForks(this.#options.cluster);
    for (const member of this.#members) if (!isBare(member)) this.#stop(member, shutdown);
  }

  /**
   * stopAccepting sends the process signal to each worker that listens without a lifecycle. Most of these workers exit
   * at once, so they must serve until load balancers have stopped sending connections.
   */
  async stopAccepting(): Promise<void> {
    // Close the listener first. Otherwise a client that reconnects loses its next request too. A worker with a lifecycle
    // still needs the listener.
    const members = [...this.#members];
    if (members.some(isBare) && !members.some(({ isMember }) => isMember)) await this.#options.listeners.close();
    for (const member of this.#members) {
      if (isBare(member) && this.#shutdown !== undefined) this.#stop(member, this.#shutdown);
    }
  }

  /** drain resolves when every worker has exited. */
  async drain(): Promise<void> {
    if (!this.isEmpty) await new Promise<void>((resolve) => this.#onEmpty.push(resolve));
  }

  /** cut kills the remaining workers. It resolves when they have exited, or after `longestKill`. */
  async cut(): Promise<void> {
    for (const { worker } of this.#members) worker.process.kill('SIGKILL');
    await withTimeout(this.#options.clock, this.drain(), longestKill);
  }

  #add(worker: Worker): void {
    const member: Member = {
      worker,
      isMember: false,
      isListening: false,
      isHolding: false,
      questions: new Map(),
      record: undefined,
    };
    this.#members.add(member);
    receiveFrom(worker.process, (message) => {
      this.#onMessage(member, message);
    });
    this.#options.listeners.watch(worker);
    worker.once('listening', () => {
      member.isListening = true;
      this.#options.clock.afterUnref(bareTime, () => {
        this.#noteBare(member);
      });
    });
    worker.process.once('exit', (exitCode, signal) => {
      this.#onExit(member, exitCode, signal);
    });
    // The worker may have created its lifecycle before the primary did. So tell the worker now that the primary has a
    // lifecycle.
    this.#welcome(worker);
  }

  #noteBare(member: Member): void {
    if (this.#hasBareWorker || !isBare(member) || !this.#members.has(member)) return;
    this.#hasBareWorker = true;
    this.#options.onBareWorker(member.worker.process.pid);
  }

  #welcome(worker: Worker): void {
    sendOver(worker.process, { kind: 'group', probePort: this.#options.probePort });
  }

  #onMessage(member: Member, message: FromPrimary | FromWorker): void {
    if (message.kind === 'record') member.record = message.record;
    else if (message.kind === 'holding') {
      member.isHolding = true;
      this.#closeWhenHeld();
    } else if (message.kind === 'answer') {
      member.questions.get(message.id)?.answer(message.isReady);
      member.questions.delete(message.id);
    } else if (message.kind === 'hello') {
      const isLate = isBare(member);
      member.isMember = true;
      this.#welcome(member.worker);
      // The worker has created its lifecycle during the shutdown of the primary.
      if (this.#shutdown !== undefined && isLate) this.#stop(member, this.#shutdown);
    } else if (message.kind === 'bye') {
      member.isMember = false;
      member.isListening = false;
      if (this.#shutdown !== undefined) this.#stop(member, this.#shutdown);
    }
  }

  // Closes the shared listener when every worker holds its requests. The clients then wait for responses and open no
  // new connections, so no connection is lost.
  #closeWhenHeld(): void {
    const members = [...this.#members];
    if (!members.some(({ isHolding }) => isHolding) || !members.every(({ isHolding }) => isHolding)) return;
    void this.#options.listeners.close().then(() => {
      for (const { worker } of this.#members) sendOver(worker.process, { kind: 'listener closed' });
    });
  }

  #ask({ worker, questions, isMember, isListening }: Member): Promise<boolean> {
    // Resolves if a worker is ready. A worker without a lifecycle is ready when it listens.
    if (!isMember) return Promise.resolve(isListening);
    const id = ++this.#questions;
    return new Promise((answer) => {
      questions.set(id, { sentAt: this.#options.clock.now(), answer });
      sendOver(worker.process, { kind: 'question', id });
    });
  }

  #stop({ worker, isMember }: Member, shutdown: GroupShutdown): void {
    if (isMember) sendShutdown(worker.process, shutdown, this.#options.clock);
    else worker.process.kill(shutdown.signal);
  }

  #onExit(member: Member, exitCode: number | null, signal: NodeJS.Signals | null): void {
    this.#members.delete(member);
    this.#closeWhenHeld();
    for (const { answer } of member.questions.values()) answer(false);
    if (this.#shutdown !== undefined) {
      const { record, worker } = member;
      this.ends.push({ pid: worker.process.pid ?? 0, exitCode, signal, ...(record !== undefined && { record }) });
      if (exitCode !== null) this.#options.onExitCode(exitCode);
    }
    if (this.isEmpty) for (const resolve of this.#onEmpty.splice(0)) resolve();
  }
}

// Tells whether a worker listens without a lifecycle.
function isBare({ isMember, isListening }: Member): boolean {
  return isListening && !isMember;
}

// Kills a worker that the program has started during the shutdown. A program can start one with a reference to
// `cluster.fork` that it saved before. SIGKILL ends the worker before it accepts a connection. The worker does not keep
// the primary alive.
function end({ process: child }: Worker): void {
  child.kill('SIGKILL');
  child.unref();
  child.channel?.unref();
}

// Makes `cluster.fork()` return a worker object without a running process. Many primaries fork a new worker for each
// worker that exits. During the shutdown, each new worker would exit at once and be replaced again.
function refuseForks(cluster: Cluster): void {
  const { Worker: ClusterWorker } = cluster as unknown as { readonly Worker: new (options: object) => Worker };
  // Load node:child_process only here, because most processes have no workers.
  const { ChildProcess } = process.getBuiltinModule('node:child_process');
  cluster.fork = () => {
    const neverStarted = Object.assign(new ChildProcess(), { signalCode: 'SIGTERM', send: () => false });
    return new ClusterWorker({ id: 0, process: neverStarted, state: 'dead' });
  };
  syncBuiltinESMExports();
}
