// Tests that clients of the example's event stream and long poll see no error when the example shuts down.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { disposed } from '../support/disposed.ts';
import { ProcessUnderTest } from '../support/process-under-test.ts';

test('P-034, P-035 examples/long-running.ts sends events to streams and long polls, and all get complete responses at its shutdown', async (t) => {
  // During the shutdown delay, the example still serves every request. So the client's last poll gets a response even
  // if it arrives after the process signal.
  const env = { PORT: '0', LAMEDUCK_SHUTDOWN_DELAY_DURATION: '1s' };
  const server = disposed(t, new ProcessUnderTest('../../examples/long-running.ts', env));
  const { addresses } = await server.line('the start', ({ msg = '' }) => msg.startsWith('lifecycle started'));
  const url = `http://localhost:${/\d+$/.exec((addresses as string[])[0] as string)?.[0] as string}`;
  await server.signaled('HasBeenReady');

  const stream = await fetch(`${url}/events`, { headers: { Accept: 'text/event-stream' } });
  assert.equal(stream.headers.get('content-type'), 'text/event-stream');
  const answered = fetch(`${url}/poll`).then((answer) => answer.text());
  // The long poll receives only items that are published after the long poll has arrived. The test cannot see when it
  // arrives, so the test publishes repeatedly.
  let news: string | undefined;
  while (news === undefined) {
    assert.equal((await fetch(url, { method: 'POST', body: 'one\ntwo' })).status, 202);
    news = await Promise.race([answered, pause(5, undefined)]);
  }
  assert.equal(news, 'one\ntwo');
  assert.equal((await fetch(`${url}/nowhere`)).status, 404);

  const waiting = fetch(`${url}/poll`);
  const { msg = '' } = await server.line('a line to copy', (line) => /^kill -TERM \d+$/.test(line.msg ?? ''));
  await promisify(execFile)('sh', ['-c', msg]);
  assert.match(await stream.text(), /^(data: "one\\ntwo"\n\n)+retry: \d+\n\n?$/);
  assert.equal((await waiting).status, 204);
  assert.deepEqual(await server.exit, { code: 0, signal: null });
  const { requests, longRunningEnded } = await server.finalLine();
  assert.deepEqual([requests, longRunningEnded], [{ answered: 0, refused: 0, aborted: 0, cut: 0 }, 2]);
});
