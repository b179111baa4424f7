// Tests log lines that the probe thread writes to a standard output that is not read, or that accepts only a part of a
// line.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { makePipe, type Pipe } from '../support/full-pipe.ts';
import { until } from '../support/until.ts';

const fixture = fileURLToPath(new URL('../fixtures/writes-beside.ts', import.meta.url));

interface Writer extends Pick<Pipe, 'fill' | 'read'> {
  readonly pid: number;
  /** Makes the test program call `writeBeside()`, as the probe thread does, with a line of `length` characters. */
  write(length: number): void;
  /**
   * The output of the test program: one `true` or `false` for each line that it got. `true` means that `writeBeside()`
   * could write the line.
   */
  readonly said: readonly string[];
}

/** startWriter starts the test program writes-beside.ts. The standard output of this program is a pipe. */
async function startWriter(t: TestContext): Promise<Writer> {
  const { written, ...pipe } = makePipe(t);
  const program = spawn(process.execPath, [fixture], { stdio: ['pipe', written, 'pipe'] });
  closeSync(written);
  const exit = once(program, 'exit');
  t.after(async () => {
    program.kill('SIGKILL');
    await exit;
  });
  const said: string[] = [];
  createInterface({ input: program.stderr as Readable }).on('line', (line) => said.push(line));
  await until(() => said.shift() === 'begins');
  return {
    pid: program.pid as number,
    said,
    write: (length) => (program.stdin as Writable).write(`${String(length)}\n`),
    ...pipe,
  };
}

test('P-118 if the pipe of standard output is full, the probe thread drops its log line and is not blocked; writes of the main thread still wait for the pipe', async (t) => {
  const writer = await startWriter(t);
  writer.fill();
  writer.write(10);
  await until(() => writer.said.length === 1);
  assert.deepEqual(writer.said, ['false']);
  assert.match(writer.read(), /^\.+$/);
  writer.write(10);
  await until(() => writer.said.length === 2);
  assert.equal(writer.said[1], 'true');
  // The probe thread writes a line feed before its line, because the text that filled the pipe may have no line feed at
  // its end.
  assert.equal(writer.read(), `\n${'x'.repeat(10)}\n`);
  writer.write(10);
  await until(() => writer.said.length === 3);
  assert.equal(writer.read(), `${'x'.repeat(10)}\n`);
  const [, flags = ''] = /^flags:\s+(\d+)$/m.exec(readFileSync(`/proc/${String(writer.pid)}/fdinfo/1`, 'utf8')) ?? [];
  assert.equal(Number.parseInt(flags, 8) & constants.O_NONBLOCK, 0);
});

test('P-118 if a log line of the probe thread does not fit into the pipe of standard output, the probe thread writes the rest of the line as soon as the pipe is read', async (t) => {
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
