// A program to which tests send real process signals, and whose log they read line by line.
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { CommandUnderTest, type CommandOptions } from './command-under-test.ts';

export type Line = Record<string, unknown> & { msg?: string };

/** LoggingCommand is a command that writes log lines, which tests read as objects. */
export class LoggingCommand extends CommandUnderTest {
  readonly lines: Line[] = [];
  stderr = '';

  constructor(command: string, args: readonly string[], options: CommandOptions = {}) {
    super(command, args, { stdin: 'pipe', ...options });
    this.child.stderr?.on('data', (text: string) => (this.stderr += text));
    createInterface({ input: this.child.stdout as NodeJS.ReadableStream }).on('line', (text) => {
      this.lines.push(parse(text));
    });
  }

  /**
   * killAgain sends a second process signal, and resolves when the process has ended. A signal within 100 ms of the
   * first counts as the same one (P-057). The test does not know when the process received the first, so it repeats the
   * signal until the process ends.
   */
  async killAgain(signal: NodeJS.Signals): Promise<void> {
    while (!this.isOver) {
      await Promise.race([setTimeout(110), this.exit]);
      this.kill(signal);
    }
  }

  /**
   * `line()` resolves with the first log line for which `matches` returns true, past or future. It rejects if the
   * process ends without such a line.
   */
  async line(what: string, matches: (line: Line) => boolean): Promise<Line> {
    for (let seen = 0; ;) {
      for (; seen < this.lines.length; seen++) if (matches(this.lines[seen] as Line)) return this.lines[seen] as Line;
      if (this.isOver) throw new Error(`ended without ${what}: ${JSON.stringify(this.lines)} ${this.stderr}`);
      await this.changed();
    }
  }

  /** finalLine waits for the exit, and resolves with the log line that has the record of the shutdown. */
  async finalLine(): Promise<Line> {
    await this.exit;
    return this.line('the final line', ({ schema }) => schema === 'lameduck/shutdown/v1');
  }
}

/**
 * ProcessUnderTest is a fixture in its own process. `fixture` may also be the path of another program, relative to the
 * fixtures.
 */
export class ProcessUnderTest extends LoggingCommand {
  constructor(fixture: string, env: Readonly<Record<string, string>> = {}, nodeOptions: readonly string[] = []) {
    const path = fileURLToPath(new URL(`../fixtures/${fixture}`, import.meta.url));
    super(process.execPath, [...nodeOptions, path], { env });
  }

  get pid(): number {
    return this.child.pid as number;
  }

  /** `signaled()` resolves when the log has the line for the given lifecycle signal. */
  signaled(name: string): Promise<Line> {
    return this.line(name, (line) => line['name'] === name);
  }

  async port(): Promise<number> {
    return (await this.line('listening', ({ msg }) => msg === 'listening'))['port'] as number;
  }

  /**
   * `ready()` waits until the process is ready, and resolves with its port. If a shutdown begins before the process is
   * ready, the process skips the shutdown delay.
   */
  async ready(): Promise<number> {
    await this.signaled('HasBeenReady');
    return this.port();
  }

  /**
   * acceptedPorts waits for the exit. It resolves with the client ports of the connections that the server port has
   * accepted. The program must import the fixture accepted-ports.
   */
  async acceptedPorts(port: number): Promise<readonly number[]> {
    await this.exit;
    const line = await this.line('the accepted ports', ({ msg }) => msg === 'accepted');
    const pairs = line['pairs'] as readonly { readonly client: number; readonly server: number }[];
    return pairs.filter(({ server }) => server === port).map(({ client }) => client);
  }
}

function parse(text: string): Line {
  try {
    return JSON.parse(text) as Line;
  } catch {
    return { msg: text };
  }
}
