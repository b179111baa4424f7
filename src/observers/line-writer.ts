// Standard output for the log: lines are kept until pino is there, and written without it when that is too late.
import { hostname } from 'node:os';
import { inspect } from 'node:util';
import { wallTime } from '../clock.ts';
import { messageOf } from '../errors.ts';
import { isUnread, standardOutput, writeOut } from '../standard-output.ts';
import type { Logger } from './logger.ts';

const levels = { info: 30, warn: 40, error: 50 } as const;

interface Line {
  readonly level: keyof typeof levels;
  readonly time: number;
  readonly details: object;
  readonly message: string;
}

/** LineWriter is a Logger of which no line is lost, whenever the shutdown ends and however slow the reader is (P-060). */
export class LineWriter implements Logger {
  #pino: Logger | undefined;
  readonly #kept: Line[] = [];
  #isLoading = false;
  #isWithoutPino = false;

  info(details: object, message: string): void {
    this.#write('info', details, message);
  }

  warn(details: object, message: string): void {
    this.#write('warn', details, message);
  }

  error(details: object, message: string): void {
    this.#write('error', details, message);
  }

  /** load imports pino, once, in a turn of its own. If that fails, the lines are written as they are. */
  load(): void {
    if (this.#isLoading) return;
    this.#isLoading = true;
    setImmediate(() => void this.#import());
  }

  /** begin loads pino, or goes without it. Until then lines are kept. */
  begin(usesPino: boolean): void {
    if (usesPino) this.load();
    else this.goWithoutPino();
  }

  /** goWithoutPino writes what is kept, and each later line at once. */
  goWithoutPino(): void {
    this.#isWithoutPino = true;
    this.writeOut();
  }

  /** writeOut writes what is kept, synchronously, in pino's form. */
  writeOut(): void {
    for (const line of this.#kept.splice(0)) write(textOf(line));
  }

  /** checkRead throws while nobody reads standard output, so that lines are lost, and says that they were when somebody does. */
  checkRead(): void {
    if (!isUnread()) return;
    const message = 'nobody read the log: lines before this one are lost';
    write(textOf({ level: 'warn', time: wallTime(), details: {}, message }));
    if (isUnread()) throw new Error('nobody reads standard output');
  }

  async #import(): Promise<void> {
    try {
      const { pino } = await import('pino');
      // pino's own destination would wait for a slow reader, too, but cut through what the program wrote before.
      const log = pino({}, { write });
      this.writeOut();
      this.#pino = log;
    } catch (error) {
      this.goWithoutPino();
      this.warn({ err: error }, 'pino cannot be loaded: the log goes on without it');
    }
  }

  #write(level: keyof typeof levels, details: object, message: string): void {
    if (this.#logs(level, details, message)) return;
    this.#kept.push({ level, time: wallTime(), details, message });
    if (this.#isWithoutPino || this.#pino !== undefined) this.writeOut();
  }

  // What a program throws can be such that it throws again when pino looks at it.
  #logs(level: keyof typeof levels, details: object, message: string): boolean {
    try {
      this.#pino?.[level](details, message);
      return this.#pino !== undefined;
    } catch {
      return false;
    }
  }
}

function write(text: string): void {
  writeOut(standardOutput, text);
}

/** lineText is a line in pino's form, for whoever writes one beside this thread's. */
export function lineText(level: keyof typeof levels, details: object, message: string): string {
  return textOf({ level, time: wallTime(), details, message });
}

function textOf({ level, time, details, message }: Line): string {
  const first = { level: levels[level], time, pid: process.pid, hostname: hostname() };
  try {
    return `${JSON.stringify({ ...first, ...serialized(details), msg: message })}\n`;
  } catch {
    // What a program throws can be anything, also what JSON has no form for.
    const shown = Object.entries(details).map(([name, value]) => [
      name,
      hasJson(value) ? (value as unknown) : inspected(value),
    ]);
    return `${JSON.stringify({ ...first, ...Object.fromEntries(shown), msg: message })}\n`;
  }
}

function hasJson(value: unknown): boolean {
  try {
    return !(value instanceof Error) && (JSON.stringify(value) as string | undefined) !== undefined;
  } catch {
    return false;
  }
}

function inspected(value: unknown): string {
  try {
    return inspect(value);
  } catch {
    return messageOf(value);
  }
}

// As pino writes an error: with the messages and stacks of its causes behind its own.
function serialized(details: object): object {
  const { err } = details as { err?: unknown };
  if (!(err instanceof Error)) return details;
  const chain = [...causes(err)];
  const message = chain.map((error) => error.message).join(': ');
  const stack = chain.map((error) => error.stack).join('\ncaused by: ');
  return {
    ...details,
    err: { ...Object.fromEntries(Object.entries(err)), type: err.constructor.name, message, stack },
  };
}

function* causes(error: Error): Generator<Error> {
  const seen = new Set<unknown>();
  for (let cause: unknown = error; cause instanceof Error && !seen.has(cause); { cause } = cause) {
    seen.add(cause);
    yield cause;
  }
}
