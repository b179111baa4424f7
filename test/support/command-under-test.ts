// Runs a command in its own process group, as a user would start it, and reads its output as text.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

export interface CommandOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** With `ignore`, the command's standard input is empty. With `pipe`, the test writes the input to `child.stdin`. */
  readonly stdin?: 'ignore' | 'pipe';
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/**
 * CommandUnderTest is a running command. At the end of an `await using` block, the command and all processes that it
 * started are killed.
 */
export class CommandUnderTest implements AsyncDisposable {
  /** The text of standard output and standard error, in the order in which it arrived. */
  output = '';
  readonly exit: Promise<Exit>;
  readonly child: ChildProcess;
  protected isOver = false;
  readonly #waiting: (() => void)[] = [];

  constructor(
    command: string,
    args: readonly string[],
    { cwd = process.cwd(), env = {}, stdin = 'ignore' }: CommandOptions = {},
  ) {
    this.child = spawn(command, args, {
      cwd,
      env: { ...cleanEnvironment(), ...env },
      stdio: [stdin, 'pipe', 'pipe'],
      detached: true,
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.output += text;
        this.#wake();
      });
    }
    this.exit = once(this.child, 'close').then(([code, signal]) => {
      this.isOver = true;
      this.#wake();
      return { code: code as number | null, signal: signal as NodeJS.Signals | null };
    });
  }

  /** `printed()` resolves with the first match in the output. It rejects if the command ends without a match. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.output);
      if (match !== null) return match;
      if (this.isOver) throw new Error(`ended without printing ${String(pattern)}:\n${this.output}`);
      await this.changed();
    }
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      process.kill(-(this.child.pid as number), 'SIGKILL');
    } catch {
      // `kill` throws if the process group has no process left. Then there is nothing to kill.
    }
    await this.exit;
  }

  /** `changed()` resolves when more output has arrived, or when the command has ended. */
  protected changed(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

// Removes the variables of npm and of the test runner that would change how the program under test behaves. Also turns
// off npm's check for updates.
function cleanEnvironment(): Record<string, string | undefined> {
  const kept = Object.entries(process.env).filter(
    ([name]) => name === 'NODE_COMPILE_CACHE' || !/^(npm_|LAMEDUCK_|KUBERNETES_|NODE_)/.test(name),
  );
  return { ...Object.fromEntries(kept), npm_config_update_notifier: 'false' };
}
