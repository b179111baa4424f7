// The primary's part of a cluster of node:cluster. The primary probes its workers, shuts them down and waits for them.
import type { Cluster, Worker } from 'node:cluster';
import { syncBuiltinESMExports } from 'node:module';
import type { Clock } from '../../clock.ts';
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

interface Member {
  readonly worker: Worker;
  /** isMember tells whether the worker has a lifecycle. */
  isMember: boolean;
  isListening: boolean;
  /** isHolding is true while the worker holds its requests and waits until the shared listener is closed. */
  isHolding: boolean;
  /**
   * questions contains, by its id, each question that the worker has not answered yet, with the time of sending and the
   * callback.
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
}

/** Group contains the workers of this primary. */
export class Group {
  /** protocol is the name of the workers in the log, in the field that otherwise names a protocol. */
  readonly protocol = 'node:cluster';
  readonly ends: WorkerEnd[] = [];
  readonly #options: GroupOptions;
  readonly #members = new Set<Member>();
  readonly #onEmpty: (() => void)[] = [];
  #questions = 0;
  #shutdown: GroupShutdown | undefined;

  constructor(options: GroupOptions) {
    this.#options = options;
    const { cluster } = options;
    for (const worker of Object.values(cluster.workers ?? {})) if (worker !== undefined) this.#add(worker);
    cluster.on('fork', (worker) => {
      this.#add(worker);
    });
  }

  get isEmpty(): boolean {
    return this.#members.size === 0;
  }

  /** ready rejects unless at least one worker is ready now. */
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
   * worker at once.
   */
  shutDown(signal: NodeJS.Signals, endsAt: number): void {
    const shutdown = { signal, endsAt };
    this.#shutdown = shutdown;
    refuseForks(this.#options.cluster);
    for (const member of this.#members) this.#stop(member, shutdown);
  }

  /** drain resolves when every worker has exited. */
  async drain(): Promise<void> {
    if (!this.isEmpty) await new Promise<void>((resolve) => this.#onEmpty.push(resolve));
  }

  /** cut kills the remaining workers. */
  cut(): void {
    for (const { worker } of this.#members) worker.process.kill('SIGKILL');
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
    worker.once('listening', () => (member.isListening = true));
    worker.process.once('exit', (exitCode, signal) => {
      this.#onExit(member, exitCode, signal);
    });
    // The worker may have created its lifecycle before the primary created its own, so tell it now that the primary has
    // a lifecycle.
    this.#welcome(worker);
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
      member.isMember = true;
      this.#welcome(member.worker);
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

// Makes `cluster.fork()` return a worker object without a running process. Many primaries replace each worker that
// exits, and a new worker would end at once and be replaced again.
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
