// One container: its command as PID 1 of a new PID namespace where the system allows that, else as an ordinary process.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { constants } from 'node:os';
import { systemClock } from '../../clock.ts';
import { sendSignal } from '../../process/send-signal.ts';
import { childrenOf, descendants, hasHandler, withVariable } from './processes.ts';

/** Exit is how a container ended, as the kubelet reports it. */
export interface Exit {
  /** 128 plus the number of the signal if one ended the process (K-108). */
  readonly code: number;
  readonly signal: NodeJS.Signals | undefined;
}

/** Isolation is how commands are started, as arguments before the command. Empty without namespaces. */
export type Isolation = readonly string[];

const namespaces = ['--pid', '--fork', '--mount-proc', '--kill-child'];
const candidates: readonly Isolation[] = [
  ['unshare', ...namespaces, '--'],
  ['unshare', '--user', '--map-current-user', ...namespaces, '--'],
  ['unshare', '--user', '--map-root-user', ...namespaces, '--'],
];

// The container is killed with the rehearsal, also if that is killed or crashes.
const leash: Isolation = ['setpriv', '--pdeathsig', 'KILL', '--'];

/** findIsolation returns the first way to make a PID namespace that works here. */
export function findIsolation(): Isolation {
  const works = ([program = '', ...args]: Isolation): boolean =>
    spawnSync(program, [...args, 'true'], { stdio: 'ignore' }).status === 0;
  const found = candidates.find(works);
  if (found === undefined) return [];
  return works([...leash, ...found]) ? [...leash, ...found] : found;
}

// A name of its own, since a program may warn of unknown variables with its own prefix.
const cookieName = 'REHEARSAL_CONTAINER';

// The most of its output that is kept, in characters: enough for the reason of a crash.
const outputKept = 16_384;

// unshare of util-linux 2.38 fails to end itself by the SIGKILL that has ended its child.
const unshareOfKilled = /^unshare: sigprocmask unblock failed: Invalid argument\n?/m;

/** Run is how a command inside a container ended. */
export type Run =
  | { readonly kind: 'exited'; readonly code: number; readonly output: string }
  | { readonly kind: 'timedOut' }
  | { readonly kind: 'notStarted'; readonly reason: string };

// How much of the output of an exec probe or hook is kept, in characters (K-035).
const runOutputKept = 10_240;

/** ContainerOptions is what a container is started with. */
export interface ContainerOptions {
  readonly command: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly isolation: Isolation;
}

/** Container is one running or ended instance of a container. */
export class Container {
  /** Resolves when the main process has ended and nothing of the container is left. */
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
    // A process group of its own, so that Ctrl-C at the terminal reaches the rehearsal alone.
    this.#child = spawn(program, args, { env: this.#env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output = (this.#output + text).slice(-outputKept);
      });
    }
    this.exited = this.#awaitExit();
  }

  /** The exit, if the container has ended. */
  get exit(): Exit | undefined {
    return this.#exit;
  }

  /** The last part of what the container wrote to its standard output and error. */
  get output(): string {
    return this.#output;
  }

  /** The main process as this machine numbers it; undefined when it has ended or is not there yet. */
  get pid(): number | undefined {
    const { pid } = this.#child;
    if (pid === undefined || this.#exit !== undefined) return undefined;
    return this.hasNamespace ? childrenOf(pid)[0] : pid;
  }

  /** All living processes of the container. */
  get pids(): number[] {
    const { pid } = this;
    return pid === undefined ? [] : descendants(pid);
  }

  /** signal sends a signal to the main process alone (K-099). */
  signal(signal: NodeJS.Signals): void {
    const { pid } = this;
    if (pid !== undefined) sendSignal(pid, signal);
  }

  /**
   * handles tells whether the main process has a handler for a signal; PID 1 ignores one without (K-100). Undefined where
   * that is not known. Node has a handler at first that removes itself, so the answer counts once a signal has been sent.
   */
  handles(signal: NodeJS.Signals): boolean | undefined {
    const { pid } = this;
    return pid === undefined ? undefined : hasHandler(pid, constants.signals[signal]);
  }

  /** killAll ends every process of the container at once, those included that have left its process tree. */
  killAll(): void {
    const { pids } = this;
    for (const pid of pids) sendSignal(pid, 'SIGKILL');
    if (!this.hasNamespace) for (const pid of withVariable(cookieName, this.#cookie)) sendSignal(pid, 'SIGKILL');
    else if (pids.length === 0) this.#child.kill('SIGKILL');
  }

  /** run runs a command inside the container to its end, or kills it after `limit` milliseconds. It never rejects. */
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
      // Processes that the command has forked live on (K-036).
      const cancel =
        limit === undefined
          ? undefined
          : systemClock.after(limit, () => {
              child.kill('SIGKILL');
              end({ kind: 'timedOut' });
            });
      child.once('error', ({ message }) => {
        end({ kind: 'notStarted', reason: message });
      });
      child.once('exit', (code, signal) => {
        const isMissing = this.hasNamespace && /^nsenter: failed to execute/m.test(output);
        // The output of a command that has just ended may still be in its pipe.
        setImmediate(() => {
          if (isMissing) end({ kind: 'notStarted', reason: output });
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
        // The code of a shell for a command that cannot be started.
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

// K-108.
function exitCode(signal: NodeJS.Signals | null): number {
  return 128 + constants.signals[signal ?? 'SIGKILL'];
}
