// A pipe as container runtimes create it, which a test can fill and read. Node itself would create a pair of sockets.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

export interface Pipe {
  /** The file descriptor of the writing end, for the program. The test closes it after it has started the program. */
  readonly written: number;
  /** Writes into the pipe until it is full. */
  fill(): void;
  /** Reads everything that is in the pipe. */
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

/** attempted returns 0 if a write finds the pipe full, or if a read finds the pipe empty. */
function attempted(use: () => number): number {
  try {
    return use();
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'EAGAIN');
    return 0;
  }
}
