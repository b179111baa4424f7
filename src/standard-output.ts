// Writing to the standard streams so that it has happened when the call returns: for what a process says last.
import { writeSync } from 'node:fs';

/** standardOutput is the descriptor of the log. */
export const standardOutput = 1;
/** standardError is the descriptor of what Node would have printed. */
export const standardError = 2;

/**
 * writeOut writes a text to a standard stream. A reader that is slow is waited for, since `process.exit()` would drop
 * what a stream of Node's still holds (P-060); one that has gone is not an error.
 */
export function writeOut(descriptor: number, text: string): void {
  // Of what the program itself wrote, a part may still wait for the reader: a new line keeps ours whole behind the rest.
  const isInTheMiddle = descriptor === standardOutput && process.stdout.writableLength > 0;
  let rest = Buffer.from(isInTheMiddle ? `\n${text}` : text);
  while (rest.length > 0) rest = rest.subarray(writeSome(descriptor, rest));
}

/** isUnread tells whether nobody has read a standard stream for so long that what is written is lost. */
export function isUnread(): boolean {
  return waitsLeft === 0;
}

// A pipe that is full and set non-blocking says EAGAIN. After any other error there is nobody to write to, nor is there
// when a reader has not read for so long: from then on it is not waited for until it does.
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

// Five seconds in all.
const wait = 10;
const mostWaits = 500;
let waitsLeft = mostWaits;

const pause = new Int32Array(new SharedArrayBuffer(4));
