// The target of the audit log: a file to append to, or standard output. No function in this file blocks the event loop.
import { close, constants, fstat, open, read, write } from 'node:fs';
import { promisify } from 'node:util';
import { standardOutput } from '../../standard-output.ts';

const openFile = promisify(open);
const statFile = promisify(fstat);
const readFile = promisify(read);
const writeFile = promisify(write);

// The maximum number of bytes that lameduck appends to the audit log file in one write.
const longestAppend = 65_536;

// The maximum number of bytes that a pipe accepts completely or not at all (PIPE_BUF of Linux). A longer write could be
// interleaved with writes of other processes.
const longestPipeWrite = 4_096;

// The file mode of a new audit log file. Only the owner may read the file, because request paths and client addresses
// may be personal data.
const mode = 0o600;

/** Target is the destination of the audit log: an open file or an open stream. */
export interface Target {
  /** longestWrite is the maximum number of bytes in one call of `write`. */
  readonly longestWrite: number;
  /**
   * `before` is written before the first event of this process. It is a line feed if the last line of the audit log's
   * file is incomplete, and otherwise empty.
   */
  readonly before: string;
  /**
   * `write()` appends bytes and resolves with the number of bytes that were written. It rejects if no byte was written.
   */
  write(bytes: Uint8Array): Promise<number>;
  close(): void;
}

/** openTarget opens or creates the file for appending. `-` means standard output. */
export function openTarget(path: string): Promise<Target> {
  return path === '-' ? Promise.resolve(output()) : openLog(path);
}

async function openLog(path: string): Promise<Target> {
  const { O_APPEND, O_CREAT, O_NONBLOCK, O_WRONLY } = constants;
  // Without O_NONBLOCK, a pipe without a reader blocks a thread of Node's pool, and the process waits for that thread
  // when it exits.
  const descriptor = await openFile(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, mode);
  return {
    longestWrite: longestAppend,
    before: (await isTorn(path, descriptor)) ? '\n' : '',
    write: async (bytes) => (await writeFile(descriptor, bytes)).bytesWritten,
    close: () => {
      close(descriptor);
    },
  };
}

// Tells whether the last line of the file is incomplete. A process that is killed during an append leaves an incomplete
// line.
async function isTorn(path: string, descriptor: number): Promise<boolean> {
  const stats = await statFile(descriptor);
  if (!stats.isFile() || stats.size === 0) return false;
  try {
    const reader = await openFile(path, constants.O_RDONLY);
    try {
      const { buffer } = await readFile(reader, Buffer.alloc(1), 0, 1, stats.size - 1);
      return buffer.toString() !== '\n';
    } finally {
      close(reader);
    }
  } catch {
    // Reading fails if the file of the audit log is writable but not readable. In this case, assume that the last line
    // of the file is complete.
    return false;
  }
}

function output(): Target {
  // Node makes the pipe of standard output non-blocking when `process.stdout` is first used.
  const { stdout } = process;
  return {
    longestWrite: longestPipeWrite,
    before: '',
    async write(bytes) {
      // The buffer of `process.stdout` may still contain a part of one of the program's log lines, because the pipe is
      // full. Do not write an audit event now, because it would split this log line.
      if (stdout.writableLength > 0) throw Object.assign(new Error('standard output is full'), { code: 'EAGAIN' });
      return (await writeFile(standardOutput, bytes)).bytesWritten;
    },
    close: () => undefined,
  };
}
