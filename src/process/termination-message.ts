// The termination message: what the kubelet shows of a container that has ended badly. It is written once, in place.
import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';
import { messageOf } from '../errors.ts';
import type { ShutdownRecord } from '../observer.ts';
import { formatDuration } from '../settings/duration.ts';

// What stays whole beside the messages of three other containers (K-115, K-212).
const longestMessage = 3_072;

/** terminationText says why a shutdown ended badly, the cause first. */
export function terminationText(record: ShutdownRecord, uncaught?: { readonly error: unknown }): string {
  const { reason, exitCode, requests, unfinished, hookFailures, heldBy } = record;
  const lines = [
    ...(uncaught === undefined ? [] : [`uncaught error: ${stackOf(uncaught.error)}`]),
    ...(requests.cut === 0 ? [] : [`requests without an answer when the time was up: ${String(requests.cut)}`]),
    ...hookFailures.map(({ error }) => error),
    ...(heldBy.length === 0 ? [] : [`held by: ${heldBy.join(', ')}`]),
    `shutdown by ${reason} took ${formatDuration(record.durationMs)} of ${formatDuration(record.budgetMs)}; exit code ${String(exitCode)}`,
    ...unfinished.map(
      ({ method, route, peer, ageMs }) => `unanswered for ${formatDuration(ageMs)}: ${method} ${route} from ${peer}`,
    ),
  ];
  return lines.join('\n');
}

/**
 * writeTerminationMessage writes a message to a file that exists already, synchronously. It never throws: outside a
 * container there is no such file, and one that has been written to has the program's own message.
 */
export function writeTerminationMessage(path: string, message: string): void {
  if (path === '') return;
  try {
    // Neither created nor waited for, whatever stands there.
    const descriptor = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    try {
      const stats = fstatSync(descriptor);
      if (stats.isFile() && stats.size === 0) writeSync(descriptor, cut(message));
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return;
  }
}

// To whole characters.
function cut(message: string): Buffer {
  const bytes = Buffer.from(message);
  let end = Math.min(bytes.length, longestMessage);
  while (end < bytes.length && end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end);
}

function stackOf(error: unknown): string {
  try {
    return error instanceof Error ? (error.stack ?? messageOf(error)) : messageOf(error);
  } catch {
    return messageOf(error);
  }
}
