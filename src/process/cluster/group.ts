// The workers of node:cluster as the primary sees them: they are probed, shut down and awaited as one.
import type { Cluster, Worker } from 'node:cluster';
import { syncBuiltinESMExports } from 'node:module';
import type { Clock } from '../../clock.ts';
import type { ShutdownRecord, WorkerEnd } from '../../observer.ts';
import { receiveFrom, sendOver, type FromPrimary, type FromWorker } from './messages.ts';
import type { SharedListeners } from './shared-listeners.ts';

// How long a worker may need to exit after its shutdown, in milliseconds: it waits a second for an empty event loop.
const exitTime = 1_500;

interface Member {
  readonly worker: Worker;
  /** Whether the worker has a lifecycle. */
  isMember: boolean;
  isListening: boolean;
  /** Whether the worker holds requests until the listener of the group is closed. */
  isHolding: boolean;
  /** The questions without an answer, with the time at which each was sent. */
  readonly questions: Map<number, { readonly sentAt: number; readonly answer: (isReady: boolean) => void }>;
  record: ShutdownRecord | undefined;
}

/** GroupOptions is what a group needs. */
export interface GroupOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly probePort: number;
  readonly listeners: SharedListeners;
  /** How long a worker may leave a question unanswered before it counts as blocked, in milliseconds; 0 is no limit. */
  readonly stallLimit: number;
  /** Called with the exit code of a worker that exits during the shutdown. */
  readonly onExitCode: (exitCode: number) => void;
}

/** Group is the workers of this primary. */
export class Group {
  /** In the words of the log. */
  readonly protocol = 'node:cluster';
  readonly ends: WorkerEnd[] = [];
  readonly #options: GroupOptions;
  readonly #members = new Set<Member>();
  readonly #onEmpty: (() => void)[] = [];
  #questions = 0;
  #shutdown: { readonly signal: NodeJS.Signals; readonly endsAt: number } | undefined;

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

  /** ready rejects unless one of the workers is ready now. */
  async ready(): Promise<void> {
    const answers = [...this.#members].map(async (member) => {
      if (!(await this.#ask(member))) throw new Error('not ready');
    });
    await Promise.any(answers).catch(() => {
      throw new Error(`none of ${String(answers.length)} workers is ready`);
    });
  }

  /** live throws if the event loop of a worker is blocked. */
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
   * shutDown forwards a process signal to every worker, which then has until `endsAt` to exit. A worker with a lifecycle gets
   * it as a message. A terminal sends the signal to the workers, too, and a second signal would end them at once.
   */
  shutDown(signal: NodeJS.Signals, endsAt: number): void {
    this.#shutdown = { signal, endsAt };
    refuseForks(this.#options.cluster);
    for (const member of this.#members) this.#stop(member);
  }

  /** drain resolves when every worker has exited. */
  async drain(): Promise<void> {
    if (!this.isEmpty) await new Promise<void>((resolve) => this.#onEmpty.push(resolve));
  }

  /** cut ends the workers that are left. */
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
    // A worker that had its lifecycle before the primary.
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
    }
  }

  // Clients that wait for an answer open no new connection. So nothing is lost if every worker holds its requests.
  #closeWhenHeld(): void {
    const members = [...this.#members];
    if (!members.some(({ isHolding }) => isHolding) || !members.every(({ isHolding }) => isHolding)) return;
    void this.#options.listeners.close().then(() => {
      for (const { worker } of this.#members) sendOver(worker.process, { kind: 'listener closed' });
    });
  }

  #ask({ worker, questions, isMember, isListening }: Member): Promise<boolean> {
    // Without a lifecycle, a worker that listens is ready.
    if (!isMember) return Promise.resolve(isListening);
    const id = ++this.#questions;
    return new Promise((answer) => {
      questions.set(id, { sentAt: this.#options.clock.now(), answer });
      sendOver(worker.process, { kind: 'question', id });
    });
  }

  #stop({ worker, isMember }: Member): void {
    const { signal, endsAt } = this.#shutdown as { readonly signal: NodeJS.Signals; readonly endsAt: number };
    const budgetMs = Math.max(0, endsAt - this.#options.clock.now() - exitTime);
    if (isMember) sendOver(worker.process, { kind: 'shutdown', signal, budgetMs });
    else worker.process.kill(signal);
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

// Many primaries replace each worker that exits. A worker that is started now would end at once, and be replaced again.
function refuseForks(cluster: Cluster): void {
  const { Worker: ClusterWorker } = cluster as unknown as { readonly Worker: new (options: object) => Worker };
  // Loaded here, because most processes have no workers and need no child process.
  const { ChildProcess } = process.getBuiltinModule('node:child_process');
  cluster.fork = () => {
    const neverStarted = Object.assign(new ChildProcess(), { signalCode: 'SIGTERM', send: () => false });
    return new ClusterWorker({ id: 0, process: neverStarted, state: 'dead' });
  };
  syncBuiltinESMExports();
}
