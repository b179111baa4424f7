// Writes to the standard streams synchronously, for the last lines of a process.
import { writeSync } from 'node:fs';

/** standardOutput is the descriptor of the log. */
export const standardOutput = 1;
/** standardError is the descriptor of what Node would have printed. */
export const standardError = 2;

/**
 * writeOut writes a text to a standard stream. It waits for a slow reader, because `process.exit()` would drop the buffer of a
 * stream (P-060). A closed stream is not an error.
 */
export function writeOut(descriptor: number, text: string): void {
  // The reader may have got only a part of the program's last line. A line feed keeps the next line whole.
  const isInTheMiddle = descriptor === standardOutput && process.stdout.writableLength > 0;
  let rest = Buffer.from(isInTheMiddle ? `\n${text}` : text);
  while (rest.length > 0) rest = rest.subarray(writeSome(descriptor, rest));
}

/** isUnread tells whether a pipe has been full for so long that further lines are dropped. */
export function isUnread(): boolean {
  return waitsLeft === 0;
}

// A full pipe that is non-blocking fails with EAGAIN. After any other error there is no reader. If a reader has not read for
// `mostWaits` times `wait`, its lines are dropped without waiting until it reads again.
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

// Milliseconds between two tries, and the most tries: five seconds.
const wait = 10;
const mostWaits = 500;
let waitsLeft = mostWaits;

const pause = new Int32Array(new SharedArrayBuffer(4));
