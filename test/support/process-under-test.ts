// A real child process that a scenario sends real signals to, with its log read line by line.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export type Line = Record<string, unknown> & { msg?: string };

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** ProcessUnderTest is killed when its scope ends, whatever the test made of it. */
export class ProcessUnderTest implements AsyncDisposable {
  readonly lines: Line[] = [];
  readonly exit: Promise<Exit>;
  readonly child: ChildProcess;
  stderr = '';
  readonly #onLine: (() => void)[] = [];

  constructor(fixture: string, env: Record<string, string> = {}, nodeOptions: readonly string[] = []) {
    const path = fileURLToPath(new URL(`../fixtures/${fixture}`, import.meta.url));
    this.child = spawn(process.execPath, [...nodeOptions, path], { env: { ...cleanEnvironment(), ...env } });
    this.exit = once(this.child, 'close').then(([code, signal]) => {
      for (const notify of this.#onLine) notify();
      return { code: code as number | null, signal: signal as NodeJS.Signals | null };
    });
    this.child.stderr?.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    createInterface({ input: this.child.stdout as NodeJS.ReadableStream }).on('line', (text) => {
      this.lines.push(parse(text));
      for (const notify of this.#onLine) notify();
    });
  }

  /** start starts the process and ends it with the test. */
  static start(
    scope: { after(end: () => unknown): void },
    ...how: ConstructorParameters<typeof ProcessUnderTest>
  ): ProcessUnderTest {
    const started = new ProcessUnderTest(...how);
    scope.after(() => started[Symbol.asyncDispose]());
    return started;
  }

  get pid(): number {
    return this.child.pid as number;
  }

  /** line resolves with the first line that matches, past or to come; it rejects when the process ends without one. */
  async line(what: string, matches: (line: Line) => boolean): Promise<Line> {
    let seen = 0;
    for (;;) {
      for (; seen < this.lines.length; seen++) if (matches(this.lines[seen] as Line)) return this.lines[seen] as Line;
      if (this.child.exitCode !== null || this.child.signalCode !== null) {
        await this.exit;
        if (seen === this.lines.length)
          throw new Error(`ended without ${what}: ${JSON.stringify(this.lines)} ${this.stderr}`);
        continue;
      }
      await new Promise<void>((resolve) => {
        this.#onLine.push(resolve);
      });
    }
  }

  /** signaled resolves when the lifecycle signal is in the log. */
  signaled(name: string): Promise<Line> {
    return this.line(name, (line) => line['name'] === name);
  }

  async port(): Promise<number> {
    return (await this.line('listening', ({ msg }) => msg === 'listening'))['port'] as number;
  }

  /** ready resolves with the port once the process has been ready, since before that it skips the delay. */
  async ready(): Promise<number> {
    await this.signaled('HasBeenReady');
    return this.port();
  }

  /** finalLine resolves, after the exit, with the record of the shutdown. */
  async finalLine(): Promise<Line> {
    await this.exit;
    return this.line('the final line', ({ schema }) => schema === 'lameduck/shutdown/v1');
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill('SIGKILL');
    await this.exit;
  }
}

function parse(text: string): Line {
  try {
    return JSON.parse(text) as Line;
  } catch {
    return { msg: text };
  }
}

// What npm and the machine put there would change what is tested.
function cleanEnvironment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined && !/^(npm_|LAMEDUCK_|KUBERNETES_|NODE_)/.test(entry[0]),
    ),
  );
}
