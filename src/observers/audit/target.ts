// Where the audit log goes: a file that is appended to, or standard output. Nothing here blocks the event loop.
import { close, constants, fstat, open, read, write } from 'node:fs';
import { promisify } from 'node:util';
import { standardOutput } from '../../standard-output.ts';

const openFile = promisify(open);
const statFile = promisify(fstat);
const readFile = promisify(read);
const writeFile = promisify(write);

// The most bytes of one append to a file.
const longestAppend = 65_536;

// A pipe takes so many bytes whole or not at all (PIPE_BUF of Linux), so that no other line gets between them.
const longestPipeWrite = 4_096;

// Only the owner can read the log: paths and addresses may be personal data.
const mode = 0o600;

/** Target is an open audit log. */
export interface Target {
  /** The most bytes for one call of `write`. */
  readonly longestWrite: number;
  /** Text that the writer writes before the first event. */
  readonly before: string;
  /** write appends, and resolves with the number of bytes that were written. It rejects if none was. */
  write(bytes: Uint8Array): Promise<number>;
  close(): void;
}

/** openTarget opens the file for appending, or creates it. `-` is standard output. */
export function openTarget(path: string): Promise<Target> {
  return path === '-' ? Promise.resolve(output()) : openLog(path);
}

async function openLog(path: string): Promise<Target> {
  const { O_APPEND, O_CREAT, O_NONBLOCK, O_WRONLY } = constants;
  // O_NONBLOCK: a pipe without a reader must not block a thread of Node's pool, for which the process would wait at its exit.
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

// Whether the last line has no end, because SIGKILL came in the middle of an append.
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
    // A file that may be written and not read.
    return false;
  }
}

function output(): Target {
  // Node makes a pipe non-blocking when the stream is first used.
  const { stdout } = process;
  return {
    longestWrite: longestPipeWrite,
    before: '',
    async write(bytes) {
      // A part of the program's last line may still wait for the reader.
      if (stdout.writableLength > 0) throw Object.assign(new Error('standard output is full'), { code: 'EAGAIN' });
      return (await writeFile(standardOutput, bytes)).bytesWritten;
    },
    close: () => undefined,
  };
}
