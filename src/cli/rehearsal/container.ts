// One container of a rehearsal. Its command runs as PID 1 of a new PID namespace, or as an ordinary process if the
// system allows no namespaces.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { constants } from 'node:os';
import { stripVTControlCharacters } from 'node:util';
import { systemClock, wait, withTimeout } from '../../clock.ts';
import { sendSignal } from '../../process/send-signal.ts';
import { childrenOf, descendants, hasHandler, withVariable } from './processes.ts';

/** Exit says how a container exited, as the kubelet reports it. */
export interface Exit {
  /** `code` is the exit code. If a signal killed the process, it is 128 plus the number of the signal (K-108). */
  readonly code: number;
  readonly signal: NodeJS.Signals | undefined;
}

/**
 * Isolation is a command line prefix, such as `unshare`, that starts a command in new namespaces. It is empty if the
 * machine does not allow namespaces.
 */
export type Isolation = readonly string[];

const namespaces = ['--pid', '--fork', '--mount-proc', '--kill-child'];
const candidates: readonly Isolation[] = [
  ['unshare', ...namespaces, '--'],
  ['unshare', '--user', '--map-current-user', ...namespaces, '--'],
  ['unshare', '--user', '--map-root-user', ...namespaces, '--'],
];

// The rehearsal runs the container with this command prefix. The kernel then kills the container when the rehearsal
// ends, even if the rehearsal crashes or is killed.
const leash: Isolation = ['setpriv', '--pdeathsig', 'KILL', '--'];

/**
 * findIsolation returns the first command line that can create a PID namespace on this machine. It returns an empty
 * list if no PID namespace can be created.
 */
export function findIsolation(): Isolation {
  const works = ([program = '', ...args]: Isolation): boolean =>
    spawnSync(program, [...args, 'true'], { stdio: 'ignore' }).status === 0;
  const found = candidates.find(works);
  if (found === undefined) return [];
  return works([...leash, ...found]) ? [...leash, ...found] : found;
}

// The name of a variable that marks all processes of a container. The name does not begin with LAMEDUCK_, because
// lameduck warns about unknown variables with this prefix.
const cookieName = 'REHEARSAL_CONTAINER';

// The maximum number of characters of a container's output that are stored. This is enough to show the reason of a
// crash.
const outputKept = 16_384;

// An error message that unshare of util-linux 2.38 writes to standard error. If SIGKILL has killed the child of
// unshare, unshare tries to end with the same signal, and fails with this message.
const unshareOfKilled = /unshare: sigprocmask unblock failed: Invalid argument\n?$/;

// How long to wait until standard error is closed after the container has exited, in milliseconds. A process outside
// the container may have inherited standard error, and may never close it.
const longestRead = 1_000;

// After the start of a container, the rehearsal checks at this interval whether the main process exists, in
// milliseconds.
const startPollPeriod = 5;

// The longest time that the program `unshare` may take to start the main process, in milliseconds.
const longestFork = 5_000;

// Control characters except tab and line feed. They could change the terminal of the user.
// eslint-disable-next-line no-control-regex
const controlCharacters = /[\0-\x08\x0b-\x1f\x7f-\x9f]/g;

// Matches the messages that nsenter prints if the command does not exist or the container has exited.
const nsenterFailed = /^nsenter: (failed to execute|cannot open|reassociate to namespace|fork failed)/m;

/** Run says how a command inside a container ended. */
export type Run =
  | { readonly kind: 'exited'; readonly code: number; readonly output: string }
  | { readonly kind: 'timedOut' }
  | { readonly kind: 'notStarted'; readonly reason: string };

// The maximum number of characters of the output of an exec probe or hook that are stored (K-035).
const runOutputKept = 10_240;

export interface ContainerOptions {
  readonly command: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly isolation: Isolation;
}

// The containers that this process has started and that have not exited yet.
const running = new Set<Container>();

/** killContainers kills every process of every container that this process has started. */
export function killContainers(): void {
  for (const container of running) container.killAll();
}

/** Container is one instance of a container, running or exited. */
export class Container {
  /** `exited` resolves when the main process has exited and no process of the container is left. */
  readonly exited: Promise<Exit>;
  readonly hasNamespace: boolean;
  readonly #child: ChildProcess;
  readonly #cookie = randomUUID();
  readonly #env: NodeJS.ProcessEnv;
  #output = '';
  #errors = '';
  #exit: Exit | undefined;
  /** #isKilled tells whether this rehearsal has sent SIGKILL to the main process. */
  #isKilled = false;

  constructor({ command, env, isolation }: ContainerOptions) {
    const [program = '', ...args] = [...isolation, ...command];
    this.hasNamespace = isolation.length > 0;
    this.#env = { ...env, [cookieName]: this.#cookie };
    // Start the container in a new process group, so that Ctrl-C in the terminal reaches only the rehearsal.
    this.#child = spawn(program, args, { env: this.#env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output = (this.#output + text).slice(-outputKept);
        if (stream === this.#child.stderr) this.#errors = (this.#errors + text).slice(-outputKept);
      });
    }
    running.add(this);
    this.exited = this.#awaitExit();
  }

  /** `exit` says how the container exited. It is undefined while the container runs. */
  get exit(): Exit | undefined {
    return this.#exit;
  }

  /**
   * `output` is the last part of what the container wrote to standard output and standard error, without colours and
   * other control characters.
   */
  get output(): string {
    return plainText(this.#output.replace(unshareOfKilled, ''));
  }

  /**
   * `pid` is the process id of the main process on this machine. It is undefined before the process starts and after it
   * has exited.
   */
  get pid(): number | undefined {
    const { pid } = this.#child;
    if (pid === undefined || this.#exit !== undefined) return undefined;
    return this.hasNamespace ? childrenOf(pid)[0] : pid;
  }

  /** `pids` are the process ids of all living processes of the container. */
  get pids(): number[] {
    const { pid } = this;
    return pid === undefined ? [] : descendants(pid);
  }

  /** `signal()` sends a signal to the main process only (K-099). */
  signal(signal: NodeJS.Signals): void {
    const { pid } = this;
    if (pid === undefined) return;
    if (signal === 'SIGKILL') this.#isKilled = true;
    sendSignal(pid, signal);
  }

  /**
   * `handles()` tells whether the main process has a handler for a signal. PID 1 ignores a signal without a handler
   * (K-100). `handles()` returns undefined if /proc does not show the handlers. Call it only after a signal was sent:
   * while a Node process starts, it has a temporary handler.
   */
  handles(signal: NodeJS.Signals): boolean | undefined {
    const { pid } = this;
    return pid === undefined ? undefined : hasHandler(pid, constants.signals[signal]);
  }

  /** killAll kills every process of the container, including processes that have left its process tree. */
  killAll(): void {
    const { pids } = this;
    if (pids.length > 0) this.#isKilled = true;
    for (const pid of pids) sendSignal(pid, 'SIGKILL');
    if (!this.hasNamespace) for (const pid of withVariable(cookieName, this.#cookie)) sendSignal(pid, 'SIGKILL');
    else if (pids.length === 0) this.#child.kill('SIGKILL');
  }

  /**
   * `run()` runs a command inside the container and resolves with how the command ended. If the command runs longer
   * than `limit` milliseconds, `run()` kills the command. The promise never rejects.
   */
  async run(command: readonly string[], limit?: number): Promise<Run> {
    const pid = await this.#mainPid();
    if (pid === undefined) return { kind: 'notStarted', reason: 'the container is not running' };
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
      // At the time limit, kill only the process of the command. As under a kubelet, child processes of the command
      // continue (K-036).
      const cancel =
        limit === undefined
          ? undefined
          : systemClock.after(limit, () => {
              // In a PID namespace, the process of the command is a child of nsenter. This child would survive if only
              // nsenter were killed, so kill both.
              const inside = this.hasNamespace && child.pid !== undefined ? childrenOf(child.pid) : [];
              for (const each of inside) sendSignal(each, 'SIGKILL');
              child.kill('SIGKILL');
              end({ kind: 'timedOut' });
            });
      child.once('error', ({ message }) => {
        end({ kind: 'notStarted', reason: message });
      });
      child.once('exit', (code, signal) => {
        // Report the exit of the command only after Node has read all output that the command wrote before it exited.
        setImmediate(() => {
          const text = plainText(output);
          if (this.hasNamespace && nsenterFailed.test(text)) end({ kind: 'notStarted', reason: text });
          else end({ kind: 'exited', code: code ?? exitCode(signal), output: text });
        });
      });
    });
  }

  // Returns the process id of the main process of the container. The program `unshare` starts this process some
  // milliseconds after its own start.
  async #mainPid(): Promise<number | undefined> {
    const until = systemClock.now() + longestFork;
    const isStarting = (): boolean =>
      this.#child.pid !== undefined && this.#exit === undefined && this.pid === undefined;
    while (isStarting() && systemClock.now() < until) await wait(systemClock, startPollPeriod);
    return this.pid;
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
        void this.#hasUnshareFailed(code).then((hasFailed) => {
          const [own, by] = hasFailed ? [null, 'SIGKILL' as const] : [code, signal];
          resolve({ code: own ?? exitCode(by), signal: by ?? undefined });
        });
      });
    });
    this.#exit = exit;
    await this.#killRest();
    running.delete(this);
    return exit;
  }

  // Kills the container's processes that are no descendants of the main process, and waits until they have ended. In a
  // PID namespace, the kernel has already killed them.
  async #killRest(): Promise<void> {
    const until = systemClock.now() + longestRead;
    do {
      this.killAll();
      if (this.hasNamespace || withVariable(cookieName, this.#cookie).length === 0) return;
      await wait(systemClock, startPollPeriod);
    } while (systemClock.now() < until);
  }

  // Tells whether SIGKILL has killed the main process, which is the child of the program `unshare`. After such a kill,
  // `unshare` exits with code 1. Once every process of the PID namespace has ended, `unshare` also writes the message
  // `unshareOfKilled` to standard error. If standard error is full, this message is lost. If the rehearsal itself has
  // sent SIGKILL, the exit code 1 proves the kill without the message.
  async #hasUnshareFailed(code: number | null): Promise<boolean> {
    const { stderr } = this.#child;
    if (!this.hasNamespace || stderr === null) return false;
    if (this.#isKilled && code === 1) return true;
    const closed = new Promise((resolve) => stderr.once('close', resolve));
    if (!stderr.closed) await withTimeout(systemClock, closed, longestRead);
    return unshareOfKilled.test(this.#errors);
  }
}

function plainText(output: string): string {
  return stripVTControlCharacters(output).replace(controlCharacters, '');
}

// Returns the exit code that the kubelet reports for a process that a signal has ended: 128 plus the number of the
// signal (K-108).
function exitCode(signal: NodeJS.Signals | null): number {
  return 128 + constants.signals[signal ?? 'SIGKILL'];
}
