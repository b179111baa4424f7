// Tests how a parent process ends its child without a process signal: by PM2's message, and by disconnect() of
// node:cluster.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, test, type TestContext } from 'node:test';
import { disposed } from '../support/disposed.ts';
import { registered } from '../support/under-register.ts';
import { HeldRequest } from '../support/held-request.ts';
import { probe } from '../support/probe-client.ts';
import { reservePort } from '../support/reserved-port.ts';
import { ProcessUnderTest } from '../support/process-under-test.ts';

interface Forked {
  readonly lines: () => Record<string, unknown>[];
  readonly send: (message: string) => void;
  readonly said: (pattern: RegExp) => Promise<RegExpExecArray>;
  readonly exit: Promise<unknown[]>;
}

/**
 * `forked()` starts a fixture as the fork mode of PM2 does: with an IPC channel, and with `pm_id` in the environment.
 */
function forked(t: TestContext, fixture: string, env: Readonly<Record<string, string>>): Forked {
  const path = fileURLToPath(new URL(`../fixtures/${fixture}`, import.meta.url));
  const options = { execArgv: [], env: { PATH: process.env['PATH'], ...env } };
  const child = fork(path, { ...options, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  t.after(() => child.kill('SIGKILL'));
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text));
  return {
    lines: () =>
      output
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    send: (message) => child.send(message),
    async said(pattern) {
      for (;;) {
        const match = pattern.exec(output);
        if (match !== null) return match;
        await once(child.stdout as NodeJS.ReadableStream, 'data');
      }
    },
    exit: once(child, 'close'),
  };
}

void describe('a program drains when PM2 or its cluster primary ends it', { concurrency: 2 }, () => {
  test("P-068 PM2's shutdown message starts a drain like a process signal, and the log recommends a kill timeout", async (t) => {
    const program = forked(t, 'listens.ts', { pm_id: '0' });
    await program.said(/"name":"HasBeenReady"/);
    const [, port = ''] = await program.said(/"msg":"listening","port":(\d+)/);
    const request = await HeldRequest.open(t, Number(port));
    program.send('another message');
    program.send('shutdown');
    await program.said(/"name":"HTTPServerStoppedListening"/);
    assert.equal(await request.release(), 'served');
    assert.deepEqual(await program.exit, [0, null]);
    const final = program.lines().find(({ schema }) => schema === 'lameduck/shutdown/v1');
    assert.equal(final?.['reason'], 'shutdown message');
    const warnings = program.lines().filter(({ level }) => level === 40);
    assert.match(String(warnings[0]?.['msg']), /^PM2 sends SIGKILL 1\.6s after .* kill_timeout: 30000 /);
    assert.equal(warnings.length, 1);
  });

  test('P-068 lameduck ignores a shutdown message from a parent other than PM2', async (t) => {
    const program = forked(t, 'listens.ts', {});
    await program.said(/"name":"HasBeenReady"/);
    program.send('shutdown');
    const [, port = ''] = await program.said(/"msg":"listening","port":(\d+)/);
    assert.equal((await fetch(`http://127.0.0.1:${port}/readyz`)).status, 200);
    assert.ok(!program.lines().some((line) => line['name'] === 'ShutdownInitiated'));
  });

  for (const by of ['primary', 'worker']) {
    for (const [who, env] of [
      ['a program with lameduck() in its code', {}],
      ['a program with lameduck/register', registered({ UNDER_REGISTER: '1' })],
    ] as const) {
      test(`P-071 after the ${by} calls worker.disconnect(), /readyz of ${who} fails, and the worker exits with 0 when its requests in flight have ended`, async (t) => {
        const probePort = await reservePort();
        const all = { ...env, BY: by, LAMEDUCK_PROBE_PORT: String(probePort) };
        const primary = disposed(t, new ProcessUnderTest('disconnects-its-worker.ts', all));
        const request = await HeldRequest.open(t, await primary.ready());
        await primary.line('the probe port', ({ msg }) => msg === 'probe port listens');
        primary.kill('SIGUSR2');
        await primary.signaled('HTTPServerStoppedListening');
        assert.equal((await probe(probePort, '/readyz')).status, 500);
        assert.equal(await request.release(), 'served');
        const final = await primary.line('the final line', ({ schema }) => schema === 'lameduck/shutdown/v1');
        assert.deepEqual([final['reason'], final['exitCode']], ['cluster disconnect', 0]);
        const { code, wasMeant } = await primary.line('the end', ({ msg }) => msg === 'worker has ended');
        // The primary must treat the exit of this worker as intended. If the primary took the exit for a crash, it
        // would start another worker.
        assert.deepEqual([code, wasMeant], [0, true]);
      });
    }
  }

  for (const [who, env] of [
    ['a program with lameduck() in its code', {}],
    ['a program with lameduck/register', registered({ UNDER_REGISTER: '1' })],
  ] as const) {
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      test(`P-071 in ${who}, if ${signal} ends the primary process of node:cluster, the worker still completes its requests in flight`, async (t) => {
        const primary = disposed(t, new ProcessUnderTest('disconnects-its-worker.ts', env));
        const request = await HeldRequest.open(t, await primary.ready());
        primary.kill(signal);
        await primary.signaled('HTTPServerStoppedListening');
        assert.equal(await request.release(), 'served');
        const final = await primary.line('the final line', ({ schema }) => schema === 'lameduck/shutdown/v1');
        // With `lameduck/register`, the primary also has a lifecycle.
        const isGroup = 'UNDER_REGISTER' in env && signal === 'SIGTERM';
        assert.deepEqual([final['reason'], final['exitCode']], [isGroup ? 'SIGTERM' : 'cluster disconnect', 0]);
        // The primary exits only after its worker has exited.
        assert.deepEqual(await primary.exit, isGroup ? { code: 0, signal: null } : { code: null, signal });
      });
    }
  }

  for (const [by, call, clients] of [
    ['kill', 'worker.kill()', 'served'],
    ['primary', 'worker.disconnect()', 'refused'],
  ] as const) {
    test(`P-071 if the cluster primary calls ${call} for its only worker, new connections during the shutdown delay of this worker are ${clients}`, async (t) => {
      const env = { BY: by, LAMEDUCK_SHUTDOWN_DELAY_DURATION: '15s' };
      const primary = disposed(t, new ProcessUnderTest('disconnects-its-worker.ts', env));
      const port = await primary.ready();
      primary.kill('SIGUSR2');
      // worker.disconnect() notifies the worker before it closes the listening socket. So the worker may log
      // `ShutdownInitiated` before the primary logs `call has returned`.
      await primary.line('the call', ({ msg }) => msg === 'call has returned');
      await primary.signaled('ShutdownInitiated');
      const answered = await fetch(`http://127.0.0.1:${String(port)}`).then(
        (response) => response.text(),
        (error: unknown) => ((error as Error).cause as NodeJS.ErrnoException).code,
      );
      assert.equal(answered, clients === 'served' ? 'served' : 'ECONNREFUSED');
    });
  }
});
