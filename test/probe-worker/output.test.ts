// Standard output that nobody reads, or that takes a line in pieces, written to from beside the main thread.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { until } from '../support/until.ts';

const fixture = fileURLToPath(new URL('../fixtures/writes-beside.ts', import.meta.url));

interface Writer {
  readonly pid: number;
  /** Has a line of so many characters written. */
  write(length: number): void;
  /** What it has said of each line. */
  readonly said: readonly string[];
  /** Writes into the pipe until that takes no more. */
  fill(): void;
  /** Reads what is in the pipe. */
  read(): string;
}

/** startWriter starts the fixture on a pipe as a container runtime makes one, and not the pair of sockets of Node. */
async function startWriter(t: TestContext): Promise<Writer> {
  const folder = mkdtempSync(join(tmpdir(), 'output-'));
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  const filler = openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
  const written = openSync(pipe, constants.O_WRONLY);
  const program = spawn(process.execPath, [fixture], { stdio: ['pipe', written, 'pipe'] });
  closeSync(written);
  const exit = once(program, 'exit');
  t.after(async () => {
    program.kill('SIGKILL');
    await exit;
    for (const descriptor of [reader, filler]) closeSync(descriptor);
    rmSync(folder, { recursive: true });
  });
  const said: string[] = [];
  createInterface({ input: program.stderr as Readable }).on('line', (line) => said.push(line));
  await until(() => said.shift() === 'begins');
  return {
    ...{ pid: program.pid as number, said },
    write: (length) => (program.stdin as Writable).write(`${String(length)}\n`),
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

test('P-118 a pipe that is full takes no line and keeps nobody waiting, and the main thread’s own writes go on waiting', async (t) => {
  const writer = await startWriter(t);
  writer.fill();
  writer.write(10);
  await until(() => writer.said.length === 1);
  assert.deepEqual(writer.said, ['false']);
  assert.match(writer.read(), /^\.+$/);
  writer.write(10);
  await until(() => writer.said.length === 2);
  assert.equal(writer.said[1], 'true');
  assert.equal(writer.read(), `${'x'.repeat(10)}\n`);
  const [, flags = ''] = /^flags:\s+(\d+)$/m.exec(readFileSync(`/proc/${String(writer.pid)}/fdinfo/1`, 'utf8')) ?? [];
  assert.equal(Number.parseInt(flags, 8) & constants.O_NONBLOCK, 0);
});

test('P-118 a line that does not fit into the pipe is whole, as soon as somebody reads', async (t) => {
  const writer = await startWriter(t);
  const length = 300_000;
  writer.write(length);
  let text = '';
  await until(() => {
    text += writer.read();
    return text.length > length;
  });
  assert.equal(text, `${'x'.repeat(length)}\n`);
  await until(() => writer.said.length === 1);
  assert.deepEqual(writer.said, ['true']);
});
