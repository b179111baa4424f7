// Tests a process whose standard output is a pipe that no other process reads. The health endpoints of the process
// fail until another process reads the pipe again.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, createReadStream, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const fixture = fileURLToPath(new URL('../fixtures/writes-what-nobody-reads.ts', import.meta.url));
const hurried = `--import=${new URL('../support/hurried.ts', import.meta.url).href}`;

test('A-077 the check "log" fails while the standard output of the process is not read, and passes when it is read again', async (t) => {
  // The standard output of the program is a pipe, as in a container. With `stdio: 'pipe'`, Node would create a pair of
  // sockets instead.
  const folder = mkdtempSync(join(tmpdir(), 'unread-'));
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const unread = openSync(pipe, constants.O_RDWR);
  const program = spawn(process.execPath, [hurried, fixture], { stdio: ['ignore', unread, 'pipe'] });
  closeSync(unread);
  const exit = once(program, 'exit');
  t.after(async () => {
    program.kill('SIGKILL');
    await exit;
    rmSync(folder, { recursive: true });
  });

  const [said] = (await once((program.stderr as Readable).setEncoding('utf8'), 'data')) as [string];
  const port = /^port (\d+)$/m.exec(said)?.[1] ?? '';
  const ask = async (path: string): Promise<string> => (await fetch(`http://127.0.0.1:${port}${path}`)).text();
  /** Probes /livez repeatedly, with a pause after each response, and returns the first response that matches. */
  const livez = async (pattern: RegExp): Promise<string> => {
    for (let attempt = 0; attempt < 600; attempt++) {
      const body = await ask('/livez?verbose');
      if (pattern.test(body)) return body;
      await setTimeout(50);
    }
    throw new Error(`/livez does not say ${String(pattern)}: ${await ask('/livez?verbose')}`);
  };

  // The log line about readiness is the last line that the program logs at its start. It has been written when /readyz
  // passes.
  while ((await ask('/readyz')) !== 'ok') await setTimeout(50);
  await livez(/^\[\+\]log ok$/m);
  assert.equal(await ask('/fill'), 'EAGAIN');
  assert.match(await ask('/livez?verbose'), /^\[\+\]log ok$/m, 'every log line so far must have been written');
  // Standard output is full. The next probe makes a check fail, and the log line about this check is the first log line
  // that is lost.
  await ask('/readyz');
  assert.equal(await livez(/^\[-\]/m), '[+]ping ok\n[-]log failed: reason withheld\nlivez check failed\n');
  for (const endpoint of ['/readyz', '/healthz']) assert.match(await ask(endpoint), /^\[-\]log failed/m);

  const lines: string[] = [];
  const reader = createInterface({ input: createReadStream(pipe) }).on('line', (line) => lines.push(line));
  const isRead = once(reader, 'close');
  await livez(/^\[\+\]log ok$/m);
  program.kill('SIGTERM');
  assert.deepEqual(await exit, [0, null]);
  await isRead;
  const messages = lines.filter((line) => line !== '').map((line) => (JSON.parse(line) as { msg: string }).msg);
  assert.equal(
    messages.filter((message) => message === 'log lines have been lost, because no process was reading standard output')
      .length,
    1,
  );
  assert.equal(messages.at(-1), 'shutdown ended');
});
