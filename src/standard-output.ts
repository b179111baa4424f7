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

// A pipe that is full and set non-blocking says EAGAIN. After any other error there is nobody to write to.
function writeSome(descriptor: number, bytes: Buffer): number {
  try {
    return writeSync(descriptor, bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return bytes.length;
    Atomics.wait(pause, 0, 0, 10);
    return 0;
  }
}

const pause = new Int32Array(new SharedArrayBuffer(4));
