// A pipe as a container runtime makes one, and not the pair of sockets of Node, which a test can fill and read.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

export interface Pipe {
  /** The end for the program. The test closes it after it has started the program. */
  readonly written: number;
  /** Writes into the pipe until that takes no more. */
  fill(): void;
  /** Reads what is in the pipe. */
  read(): string;
}

/** makePipe makes one that is there until the test ends. */
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

/** attempted is 0 where the pipe is full, or empty. */
function attempted(use: () => number): number {
  try {
    return use();
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'EAGAIN');
    return 0;
  }
}
