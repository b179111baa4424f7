// One container of a rehearsal. Its command runs as PID 1 of a new PID namespace. If the system allows no namespace, it
// runs as an ordinary process.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { constants } from 'node:os';
import { systemClock } from '../../clock.ts';
import { sendSignal } from '../../process/send-signal.ts';
import { childrenOf, descendants, hasHandler, withVariable } from './processes.ts';

/** Exit says how a container exited, as the kubelet reports it. */
export interface Exit {
  /** code is the exit code. If a signal killed the process, it is 128 plus the number of the signal (K-108). */
  readonly code: number;
  readonly signal: NodeJS.Signals | undefined;
}

/**
 * Isolation is the command line that starts another command in its own namespaces. It is empty if the machine does not
 * allow that.
 */
export type Isolation = readonly string[];

const namespaces = ['--pid', '--fork', '--mount-proc', '--kill-child'];
const candidates: readonly Isolation[] = [
  ['unshare', ...namespaces, '--'],
  ['unshare', '--user', '--map-current-user', ...namespaces, '--'],
  ['unshare', '--user', '--map-root-user', ...namespaces, '--'],
];

// This command prefix makes the kernel kill the container when the rehearsal ends, even if the rehearsal is killed or
// crashes.
const leash: Isolation = ['setpriv', '--pdeathsig', 'KILL', '--'];

/**
 * findIsolation returns the first command line that can create a PID namespace on this machine. It returns an empty
 * list if none can.
 */
export function findIsolation(): Isolation {
  const works = ([program = '', ...args]: Isolation): boolean =>
    spawnSync(program, [...args, 'true'], { stdio: 'ignore' }).status === 0;
  const found = candidates.find(works);
  if (found === undefined) return [];
  return works([...leash, ...found]) ? [...leash, ...found] : found;
}

// The name of a variable that marks all processes of a container. Its prefix is unusual, because a library may warn of
// unknown variables that begin with the library's name.
const cookieName = 'REHEARSAL_CONTAINER';

// The largest number of characters that are stored of a container's output. They suffice for the reason of a crash.
const outputKept = 16_384;

// A message of unshare in util-linux 2.38. When SIGKILL has killed its child, unshare tries to kill itself with SIGKILL
// too, and fails.
const unshareOfKilled = /^unshare: sigprocmask unblock failed: Invalid argument\n?/m;

// The messages of nsenter if the command does not exist or the container has just exited.
const nsenterFailed = /^nsenter: (failed to execute|cannot open|reassociate to namespace|fork failed)/m;

/** Run says how a command inside a container ended. */
export type Run =
  | { readonly kind: 'exited'; readonly code: number; readonly output: string }
  | { readonly kind: 'timedOut' }
  | { readonly kind: 'notStarted'; readonly reason: string };

// The largest number of characters that are stored of the output of an exec probe or hook (K-035).
const runOutputKept = 10_240;

export interface ContainerOptions {
  readonly command: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly isolation: Isolation;
}

/** Container is one instance of a container, running or exited. */
export class Container {
  /** exited resolves when the main process has exited and no process of the container is left. */
  readonly exited: Promise<Exit>;
  readonly hasNamespace: boolean;
  readonly #child: ChildProcess;
  readonly #cookie = randomUUID();
  readonly #env: NodeJS.ProcessEnv;
  #output = '';
  #exit: Exit | undefined;

  constructor({ command, env, isolation }: ContainerOptions) {
    const [program = '', ...args] = [...isolation, ...command];
    this.hasNamespace = isolation.length > 0;
    this.#env = { ...env, [cookieName]: this.#cookie };
    // Use a new process group, so that Ctrl-C in the terminal reaches only the rehearsal.
    this.#child = spawn(program, args, { env: this.#env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output = (this.#output + text).slice(-outputKept);
      });
    }
    this.exited = this.#awaitExit();
  }

  /** exit says how the container exited. It is undefined while the container runs. */
  get exit(): Exit | undefined {
    return this.#exit;
  }

  /** output is the last part of what the container wrote to standard output and standard error. */
  get output(): string {
    return this.#output;
  }

  /**
   * pid is the process id of the main process on this machine. It is undefined before the process starts and after it
   * has exited.
   */
  get pid(): number | undefined {
    const { pid } = this.#child;
    if (pid === undefined || this.#exit !== undefined) return undefined;
    return this.hasNamespace ? childrenOf(pid)[0] : pid;
  }

  /** pids are the process ids of all living processes of the container. */
  get pids(): number[] {
    const { pid } = this;
    return pid === undefined ? [] : descendants(pid);
  }

  /** signal sends a signal to the main process only (K-099). */
  signal(signal: NodeJS.Signals): void {
    const { pid } = this;
    if (pid !== undefined) sendSignal(pid, signal);
  }

  /**
   * handles tells whether the main process has a handler for a signal. PID 1 ignores a signal without a handler
   * (K-100). handles returns undefined if /proc does not show the handlers. Call it only after a signal was sent:
   * while a Node process starts, it has a temporary handler.
   */
  handles(signal: NodeJS.Signals): boolean | undefined {
    const { pid } = this;
    return pid === undefined ? undefined : hasHandler(pid, constants.signals[signal]);
  }

  /** killAll kills every process of the container, including processes that have left its process tree. */
  killAll(): void {
    const { pids } = this;
    for (const pid of pids) sendSignal(pid, 'SIGKILL');
    if (!this.hasNamespace) for (const pid of withVariable(cookieName, this.#cookie)) sendSignal(pid, 'SIGKILL');
    else if (pids.length === 0) this.#child.kill('SIGKILL');
  }

  /**
   * run runs a command inside the container and resolves with how the command ended. If the command runs longer than
   * `limit` milliseconds, run kills it. It never rejects.
   */
  run(command: readonly string[], limit?: number): Promise<Run> {
    const { pid } = this;
    if (pid === undefined) return Promise.resolve({ kind: 'notStarted', reason: 'the container is not running' });
    const enter = this.hasNamespace
      ? ['nsenter', `--target=${String(pid)}`, ...(this.#hasUserNamespace ? ['--user'] : []), '--mount', '--pid', '--']
      : [];
    const [program = '', ...args] = [...enter, ...command];
    const child = spawn(program, args, { env: this.#env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    return new Promise((resolve) => {
      let output = '';
      const onOutput = (text: string): void => {
        output = (output + text).slice(0, runOutputKept);
      };
      for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', onOutput);
      const end = (run: Run): void => {
        cancel?.();
        resolve(run);
      };
      // Kill only the command itself: processes that it has forked continue (K-036).
      const cancel =
        limit === undefined
          ? undefined
          : systemClock.after(limit, () => {
              // In a PID namespace, the command is a child of nsenter, and would survive if only nsenter were killed.
              const inside = this.hasNamespace && child.pid !== undefined ? childrenOf(child.pid) : [];
              for (const each of inside) sendSignal(each, 'SIGKILL');
              child.kill('SIGKILL');
              end({ kind: 'timedOut' });
            });
      child.once('error', ({ message }) => {
        end({ kind: 'notStarted', reason: message });
      });
      child.once('exit', (code, signal) => {
        // Output of the command may still be in the pipe, so wait until it has been read.
        setImmediate(() => {
          if (this.hasNamespace && nsenterFailed.test(output)) end({ kind: 'notStarted', reason: output });
          else end({ kind: 'exited', code: code ?? exitCode(signal), output });
        });
      });
    });
  }

  get #hasUserNamespace(): boolean {
    return this.#child.spawnargs.includes('--user');
  }

  async #awaitExit(): Promise<Exit> {
    const exit = await new Promise<Exit>((resolve) => {
      this.#child.once('error', (error) => {
        this.#output += error.message;
        // A shell exits with 127 if a command cannot be started.
        resolve({ code: 127, signal: undefined });
      });
      this.#child.once('exit', (code, signal) => {
        const isKilled = this.hasNamespace && unshareOfKilled.test(this.#output);
        const [own, by] = isKilled ? [null, 'SIGKILL' as const] : [code, signal];
        this.#output = this.#output.replace(unshareOfKilled, '');
        resolve({ code: own ?? exitCode(by), signal: by ?? undefined });
      });
    });
    this.#exit = exit;
    this.killAll();
    return exit;
  }
}

// Returns the exit code that the kubelet reports. For a signal, it is 128 plus the number of the signal (K-108).
function exitCode(signal: NodeJS.Signals | null): number {
  return 128 + constants.signals[signal ?? 'SIGKILL'];
}
