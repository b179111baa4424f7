// A pipe for the output of a program under test. The test can fill the pipe and read it. Container runtimes also create
// a pipe, but Node would create a pair of sockets.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

export interface Pipe {
  /**
   * The file descriptor of the end of the pipe to which the program writes. The test closes this descriptor after the
   * program has started.
   */
  readonly written: number;
  /** Writes into the pipe until it is full. */
  fill(): void;
  /** Reads and returns all bytes that are in the pipe. */
  read(): string;
}

/** makePipe creates a pipe that exists until the test ends. */
export function makePipe(t: TestContext): Pipe {
  const folder = mkdtempSync(join(tmpdir(), 'output-'));
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  const filler = openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
  t.after(() => {
    for (const descriptor of [reader, filler]) closeSync(descriptor);
    rmSync(folder, { recursive: true });
  });
  return {
    written: openSync(pipe, constants.O_WRONLY),
    fill() {
      while (attempted(() => writeSync(filler, Buffer.alloc(1_024, '.'))) > 0);
    },
    read() {
      const chunk = Buffer.alloc(1_048_576);
      let text = '';
      for (let length = -1; length !== 0; text += chunk.toString('latin1', 0, length)) {
        length = attempted(() => readSync(reader, chunk));
      }
      return text;
    },
  };
}

/**
 * `attempted()` calls `use`, which writes to the pipe or reads from it, and returns the number of bytes. If `use`
 * throws EAGAIN, `attempted()` returns 0. A write throws EAGAIN if the pipe is full, and a read if the pipe is empty.
 */
function attempted(use: () => number): number {
  try {
    return use();
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'EAGAIN');
    return 0;
  }
}
