// Writes from the probe thread to standard output without waiting, even if standard output is a full pipe. A full pipe
// may be the reason why the main thread is blocked.
import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';
import { standardOutput } from '../standard-output.ts';

// In one write, standard output may accept only a part of a line. mostTries is the maximum number of writes for one
// line. pauseBetween is the pause between two writes, in milliseconds.
const mostTries = 100;
const pauseBetween = 10;

// wasFull is true if standard output was a full pipe when the probe thread last wrote to it. The main thread may have
// written only a part of a line. The probe thread's next line therefore begins with a line feed.
let wasFull = false;

/**
 * writeBeside writes a line to standard output, to which the main thread may write at the same time. It returns false
 * if standard output is a full pipe.
 */
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

// Opens the pipe of standard output a second time through /proc, with O_NONBLOCK. This flag belongs to one open file
// description, so the main thread's own writes to the pipe still block. Returns undefined if standard output is not a
// pipe, or if there is no /proc. The caller then writes to the original file descriptor.
function withoutWaiting(): number | undefined {
  try {
    if (!fstatSync(standardOutput).isFIFO()) return undefined;
    return openSync(`/proc/self/fd/${String(standardOutput)}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
}
