// Standard output for the log: lines of JSON in pino's form.
import { hostname } from 'node:os';
import { inspect } from 'node:util';
import { wallTime } from '../clock.ts';
import { messageOf } from '../errors.ts';
import { isUnread, standardOutput, writeOut } from '../standard-output.ts';
import type { Logger } from './logger.ts';

const levels = { info: 30, warn: 40, error: 50 } as const;

/** lineWriter is the Logger of standard output: each line is written when its call returns, however slow the reader is (P-060). */
export const lineWriter: Logger = {
  info(details, message) {
    write('info', details, message);
  },
  warn(details, message) {
    write('warn', details, message);
  },
  error(details, message) {
    write('error', details, message);
  },
};

/** checkRead throws while nobody reads standard output, because lines are lost then. Later it writes a line that says so. */
export function checkRead(): void {
  if (!isUnread()) return;
  write('warn', {}, 'nobody read the log: lines before this one are lost');
  if (isUnread()) throw new Error('nobody reads standard output');
}

function write(level: keyof typeof levels, details: object, message: string): void {
  writeOut(standardOutput, lineText(level, details, message));
}

/** lineText is one line of the log, in the form that pino writes, also for the probe thread. It never throws. */
export function lineText(level: keyof typeof levels, details: object, message: string): string {
  const first = { level: levels[level], time: wallTime(), pid: process.pid, hostname: hostname() };
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
