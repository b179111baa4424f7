// The termination message, which Kubernetes shows for a container that has exited. lameduck writes it once, into the
// existing file at `terminationMessagePath`.
import { closeSync, constants, fstatSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { messageOf } from '../errors.ts';
import type { ShutdownRecord } from '../observer.ts';
import { formatDuration } from '../settings/duration.ts';

/**
 * longestMessage is the largest number of bytes of a termination message. The kubelet stores this many bytes for each
 * container if the pod has four containers (K-115, K-212).
 */
export const longestMessage = 3_072;

/**
 * terminationText returns the termination message of a failed shutdown. The message begins with the cause of the
 * failure. `uncaughtError` is the text that errorText has returned for an uncaught error.
 */
export function terminationText(record: ShutdownRecord, uncaughtError?: string): string {
  const { reason, exitCode, requests, unfinished, hookFailures, stepFailures, heldBy } = record;
  const lines = [
    ...(uncaughtError === undefined ? [] : [`uncaught error: ${uncaughtError}`]),
    ...(requests.cut === 0
      ? []
      : [`requests without a complete response at the end of the drain: ${String(requests.cut)}`]),
    ...hookFailures.map(({ error }) => error),
    ...stepFailures.map(({ step, error }) => `${step}: ${error}`),
    ...(heldBy.length === 0 ? [] : [`held by: ${heldBy.join(', ')}`]),
    `shutdown by ${reason} took ${formatDuration(record.durationMs)} of its budget of ${formatDuration(record.budgetMs)}; exit code ${String(exitCode)}`,
    ...unfinished.map(({ method, route, peer, ageMs, unacknowledgedBytes }) =>
      unacknowledgedBytes === undefined
        ? `unanswered for ${formatDuration(ageMs)}: ${method} ${route} from ${peer}`
        : `${String(unacknowledgedBytes)} bytes not acknowledged by ${peer}`,
    ),
  ];
  return lines.join('\n');
}

/**
 * writeTerminationMessage writes a termination message to a file synchronously, if the file exists and is empty. It
 * never throws. Outside a container, the file does not exist, so nothing is written. A file that is not empty contains
 * the program's own message, and stays unchanged.
 */
export function writeTerminationMessage(path: string, message: string): void {
  withFile(path, constants.O_WRONLY, (descriptor, size) => {
    if (size === 0) writeSync(descriptor, cut(message));
  });
}

/**
 * takeBackTerminationMessage empties the file of the termination message if it contains exactly the given message. It
 * never throws.
 */
export function takeBackTerminationMessage(path: string, message: string): void {
  const written = cut(message);
  withFile(path, constants.O_RDWR, (descriptor, size) => {
    if (size === written.length && readFileSync(descriptor).equals(written)) ftruncateSync(descriptor);
  });
}

function withFile(path: string, access: number, use: (descriptor: number, size: number) => void): void {
  if (path === '') return;
  try {
    // Without O_CREAT, a missing file is not created. With O_NONBLOCK, opening a pipe does not wait for a reader.
    const descriptor = openSync(path, access | constants.O_NONBLOCK);
    try {
      const stats = fstatSync(descriptor);
      if (stats.isFile()) use(descriptor, stats.size);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return;
  }
}

// Truncates a message to longestMessage bytes, without splitting a character.
function cut(message: string): Buffer {
  const bytes = Buffer.from(message);
  let end = Math.min(bytes.length, longestMessage);
  while (end < bytes.length && end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end);
}

/**
 * errorText returns the stack of an error. If the thrown value is not an error, it returns the value as text. The
 * result is truncated to longestMessage characters. It never throws.
 */
export function errorText(error: unknown): string {
  return stackOf(error).slice(0, longestMessage);
}

function stackOf(error: unknown): string {
  try {
    const stack: unknown = error instanceof Error ? error.stack : undefined;
    return typeof stack === 'string' ? stack : messageOf(error);
  } catch {
    return messageOf(error);
  }
}
