// Standard output for the log: lines of JSON, in the form of pino or of Google Cloud.
import { hostname } from 'node:os';
import { inspect } from 'node:util';
import { wallTime } from '../clock.ts';
import { messageOf } from '../errors.ts';
import type { LineLevel, LogFormat } from '../settings/log-level.ts';
import { isUnread, standardOutput, writeOut } from '../standard-output.ts';
import type { Logger } from './logger.ts';

interface Form {
  /** The fields before those of the line. */
  first(level: LineLevel): object;
  /** The name of the field with the message, which is the last one. */
  readonly message: string;
}

const numbers = { debug: 20, info: 30, warn: 40, error: 50 } as const;
const severities = { debug: 'DEBUG', info: 'INFO', warn: 'WARNING', error: 'ERROR' } as const;

const forms: Readonly<Record<LogFormat, Form>> = {
  json: { first: (level) => ({ level: numbers[level], time: wallTime() }), message: 'msg' },
  // Google Cloud reads the time of a line as a text in the form of RFC 3339.
  gcp: { first: (level) => ({ severity: severities[level], time: isoTime() }), message: 'message' },
};

function isoTime(): string {
  return new Date(wallTime()).toISOString();
}

/** createLineWriter is the Logger of standard output: each line is written when its call returns, however slow the reader is (P-060). */
export function createLineWriter(format: LogFormat): Required<Omit<Logger, 'flush'>> {
  const write =
    (level: LineLevel) =>
    (details: object, message: string): void => {
      writeOut(standardOutput, lineText(format, level, details, message));
    };
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}

/** checkRead throws while nobody reads standard output, because lines are lost then. Later it writes a line that says so. */
export function checkRead(writer: Pick<Logger, 'warn'>): void {
  if (!isUnread()) return;
  writer.warn({}, 'nobody read the log: lines before this one are lost');
  if (isUnread()) throw new Error('nobody reads standard output');
}

/** lineText is one line of the log, also for the probe thread. It never throws. */
export function lineText(format: LogFormat, level: LineLevel, details: object, text: string): string {
  const form = forms[format];
  const first = { ...form.first(level), pid: process.pid, hostname: hostname() };
  const last = { [form.message]: text };
  try {
    return `${JSON.stringify({ ...first, ...serialized(details), ...last })}\n`;
  } catch {
    // A program can throw any value, including values that JSON.stringify rejects.
    const shown = Object.entries(details).map(([name, value]) => [
      name,
      hasJson(value) ? (value as unknown) : inspected(value),
    ]);
    return `${JSON.stringify({ ...first, ...Object.fromEntries(shown), ...last })}\n`;
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

// Serializes an error as pino does: the messages and stacks of its causes follow its own.
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
