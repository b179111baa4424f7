// Writes the log to standard output: lines of JSON, in the format of pino or of Google Cloud.
import { hostname } from 'node:os';
import { inspect } from 'node:util';
import { isMainThread, threadId } from 'node:worker_threads';
import { wallTime } from '../clock.ts';
import { messageOf } from '../errors.ts';
import type { LineLevel, LogFormat } from '../settings/log-level.ts';
import { isUnread, standardOutput, writeOut } from '../standard-output.ts';
import type { Logger } from './logger.ts';

// Save `JSON.stringify` when lameduck loads, because the program may replace it later.
const { stringify } = JSON;

interface Form {
  /** `first()` returns the fields at the beginning of a log line with the given level. */
  first(level: LineLevel): object;
  /** `message` is the name of the field that contains the message of a log line. This field is the last of the line. */
  readonly message: string;
}

const numbers = { debug: 20, info: 30, warn: 40, error: 50 } as const;
const severities = { debug: 'DEBUG', info: 'INFO', warn: 'WARNING', error: 'ERROR' } as const;

const forms: Readonly<Record<LogFormat, Form>> = {
  json: { first: (level) => ({ level: numbers[level], time: wallTime() }), message: 'msg' },
  // Google Cloud expects the time of a log line as a text in the format of RFC 3339.
  gcp: { first: (level) => ({ severity: severities[level], time: isoTime() }), message: 'message' },
};

function isoTime(): string {
  return new Date(wallTime()).toISOString();
}

/**
 * createLineWriter returns the Logger that writes to standard output. A call returns after its line has been written
 * completely, even if the reader of standard output is slow (P-060).
 */
export function createLineWriter(format: LogFormat): Required<Omit<Logger, 'flush'>> {
  const thread = isMainThread ? {} : { threadId };
  const write =
    (level: LineLevel) =>
    (details: object, message: string): void => {
      writeOut(standardOutput, lineText(format, level, { ...thread, ...details }, message));
    };
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}

/**
 * checkRead throws while no process reads standard output, because log lines are then lost. When lines can be written
 * again, checkRead logs that lines were lost.
 */
export function checkRead(writer: Pick<Logger, 'warn'>): void {
  if (!isUnread()) return;
  writer.warn({}, 'log lines have been lost, because no process was reading standard output');
  if (isUnread()) throw new Error('no process reads standard output');
}

/** lineText returns one log line as text. The probe thread calls it too. It never throws. */
export function lineText(format: LogFormat, level: LineLevel, details: object, text: string): string {
  const form = forms[format];
  const first = { ...form.first(level), pid: process.pid, hostname: hostname() };
  const last = { [form.message]: text };
  try {
    return `${stringify({ ...first, ...serialized(details), ...last })}\n`;
  } catch {
    // A field may contain a value that the program has thrown, which can be anything. `stringify` may throw for such a
    // value.
    const shown = Object.entries(details).map(([name, value]) => [
      name,
      hasJson(value) ? (value as unknown) : inspected(value),
    ]);
    return `${stringify({ ...first, ...Object.fromEntries(shown), ...last })}\n`;
  }
}

function hasJson(value: unknown): boolean {
  try {
    return !(value instanceof Error) && (stringify(value) as string | undefined) !== undefined;
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

// Formats an error as pino does: with the messages and stacks of its causes after its own message and stack.
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
