// Standard output from beside the main thread, which may be blocked on it: whoever writes here never waits for a reader.
import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';
import { standardOutput } from '../standard-output.ts';

// The rest of a line that has begun is tried so often, each so many milliseconds after the last.
const mostTries = 100;
const pauseBetween = 10;

// What filled the pipe is the main thread, which may be blocked in the middle of a line of its own.
let wasFull = false;

/** writeBeside writes a line at once, and tells whether it could; a pipe that is full takes none. */
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

// Whether a write waits belongs to the open pipe and not to the descriptor, and the main thread's must go on waiting:
// here the pipe is opened once more. Where that cannot be done, as with a socket or without /proc, it is written to as it is.
function withoutWaiting(): number | undefined {
  try {
    if (!fstatSync(standardOutput).isFIFO()) return undefined;
    return openSync(`/proc/self/fd/${String(standardOutput)}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
}
