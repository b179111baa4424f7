// Writes to standard output from the probe thread, without waiting for the reader: the main thread may be blocked because the
// reader does not read.
import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';
import { standardOutput } from '../standard-output.ts';

// How often the rest of a line is tried after its first part was written, and the pause between two tries in milliseconds.
const mostTries = 100;
const pauseBetween = 10;

// Whether the pipe was full at the last line. If so, the main thread may be blocked in the middle of a line of its own, and the
// next line begins with a line feed.
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

// O_NONBLOCK belongs to the open pipe, not to the descriptor, and the main thread's writes must go on blocking. So the pipe is
// opened again by way of /proc. A socket, or a system without /proc, is written to as it is.
function withoutWaiting(): number | undefined {
  try {
    if (!fstatSync(standardOutput).isFIFO()) return undefined;
    return openSync(`/proc/self/fd/${String(standardOutput)}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
}
