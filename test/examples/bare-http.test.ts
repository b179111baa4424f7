// The short example on bare node:http does what the reference service does.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { disposed } from '../support/disposed.ts';
import { ProcessUnderTest } from '../support/process-under-test.ts';

test('the server of the bare example finishes its slow answer and ends with code 0', async (t) => {
  const server = disposed(t, new ProcessUnderTest('../../examples/bare-http.ts', { PORT: '0' }));
  const { addresses } = await server.line('the start', ({ msg = '' }) => msg.startsWith('lifecycle started'));
  const port = /\d+$/.exec((addresses as string[])[0] as string)?.[0] as string;
  await server.signaled('HasBeenReady');
  const slow = fetch(`http://localhost:${port}/slow`);
  assert.equal(await (await fetch(`http://localhost:${port}/here`)).text(), 'hello from /here\n');

  const { msg = '' } = await server.line('a line to copy', (line) => /^kill -TERM \d+$/.test(line.msg ?? ''));
  await promisify(execFile)('sh', ['-c', msg]);
  assert.equal(await (await slow).text(), 'hello from /slow\n');
  assert.deepEqual(await server.exit, { code: 0, signal: null });
});
