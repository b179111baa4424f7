// Writes to standard output from the probe thread, without waiting for the reader: the main thread may be blocked because the
// reader does not read.
import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';
import { standardOutput } from '../standard-output.ts';

// How often to try to write the rest of a line after its first part, and the pause between two tries in milliseconds.
const mostTries = 100;
const pauseBetween = 10;

// Whether the pipe was full at the last line. If it was, the main thread may be blocked in the middle of writing a line. The
// next line then begins with a line feed.
let wasFull = false;

/** writeBeside writes a line, and returns false if the pipe is full. */
export function writeBeside(line: string): boolean {
  const descriptor = withoutWaiting();
  let rest = Buffer.from(wasFull ? `\n${line}` : line);
  try {
    for (let tries = 0; tries < mostTries && rest.length > 0; tries++) {
      const written = writeSome(descriptor ?? standardOutput, rest);
      if (tries === 0) wasFull = written === 0;
      if (wasFull) return false;
      rest = rest.subarray(written);
      if (rest.length > 0) Atomics.wait(pause, 0, 0, pauseBetween);
    }
    return true;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

const pause = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

function writeSome(descriptor: number, bytes: Buffer): number {
  try {
    return writeSync(descriptor, bytes);
  } catch {
    return 0;
  }
}

// Opens the pipe again through /proc. O_NONBLOCK belongs to the open pipe, not to the descriptor, and the main thread's own
// writes must keep blocking. For a socket, or without /proc, returns undefined: the line is written to the descriptor itself.
function withoutWaiting(): number | undefined {
  try {
    if (!fstatSync(standardOutput).isFIFO()) return undefined;
    return openSync(`/proc/self/fd/${String(standardOutput)}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
}
