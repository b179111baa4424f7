// Writes to standard output and standard error synchronously, because text that is still in the buffer of a stream is
// lost when the process exits.
import { writeSync } from 'node:fs';

/** standardOutput is the file descriptor of standard output, which receives the log. */
export const standardOutput = 1;
/**
 * standardError is the file descriptor of standard error. It receives error messages of lameduck's commands, and
 * uncaught errors, which Node would otherwise print.
 */
export const standardError = 2;

/**
 * writeOut writes a text to a standard stream synchronously. It waits for a slow reader, because `process.exit()` drops
 * the buffer of a stream (P-060). If the stream is closed, it does nothing.
 */
export function writeOut(descriptor: number, text: string): void {
  // Node may have written only a part of the program's last output line. Write a line feed first, so that lameduck's
  // text begins on a new line.
  const isInTheMiddle = descriptor === standardOutput && process.stdout.writableLength > 0;
  let rest = Buffer.from(isInTheMiddle ? `\n${text}` : text);
  while (rest.length > 0) rest = rest.subarray(writeSome(descriptor, rest));
}

/**
 * isUnread tells whether standard output is a pipe that has had no room for five seconds, because its reader does not
 * read. Log lines are then dropped until the reader reads again.
 */
export function isUnread(): boolean {
  return waitsLeft === 0;
}

// Writes some bytes and returns their number. If the stream is a non-blocking pipe without room, writeSync fails with
// EAGAIN, and writeSome waits 10 ms. If the pipe has had no room for five seconds, writeSome drops the bytes. After any
// other error, the stream is closed, so writeSome drops the bytes too.
function writeSome(descriptor: number, bytes: Buffer): number {
  try {
    const written = writeSync(descriptor, bytes);
    waitsLeft = mostWaits;
    return written;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || waitsLeft === 0) return bytes.length;
    waitsLeft--;
    Atomics.wait(pause, 0, 0, wait);
    return 0;
  }
}

// If a pipe is full, lameduck waits `wait` milliseconds and tries again, at most `mostWaits` times. All waits together
// take at most five seconds. The process has only one standard output, so all calls share `waitsLeft`.
const wait = 10;
const mostWaits = 500;
let waitsLeft = mostWaits;

const pause = new Int32Array(new SharedArrayBuffer(4));
