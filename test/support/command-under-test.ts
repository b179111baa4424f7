// A command as a user types it, in a process group of its own, with what it prints read as text.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

export interface CommandOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** CommandUnderTest is killed with everything that it started when its scope ends. */
export class CommandUnderTest implements AsyncDisposable {
  output = '';
  /** Resolves with the exit code, or the name of the signal that ended the command. */
  readonly exit: Promise<number | NodeJS.Signals>;
  readonly #child: ChildProcess;
  #isOver = false;
  #wake: () => void = () => undefined;

  constructor(command: string, args: readonly string[], { cwd = process.cwd(), env = {} }: CommandOptions = {}) {
    this.#child = spawn(command, args, {
      cwd,
      env: { ...cleanEnvironment(), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.output += text;
        this.#wake();
      });
    }
    this.exit = once(this.#child, 'close').then(([code, signal]) => {
      this.#isOver = true;
      this.#wake();
      return (code ?? signal) as number | NodeJS.Signals;
    });
  }

  /** printed resolves with the first match in what is printed; it rejects when the command ends without one. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.output);
      if (match !== null) return match;
      if (this.#isOver) throw new Error(`ended without printing ${String(pattern)}:\n${this.output}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      process.kill(-(this.#child.pid as number), 'SIGKILL');
    } catch {
      // The whole group has ended.
    }
    await this.exit;
  }
}

// What npm, the test runner and the machine put there would change what is tested; npm must not look for news of itself.
function cleanEnvironment(): Record<string, string | undefined> {
  const kept = Object.entries(process.env).filter(([name]) => !/^(npm_|LAMEDUCK_|KUBERNETES_|NODE_)/.test(name));
  return { ...Object.fromEntries(kept), npm_config_update_notifier: 'false' };
}
