// Tests programs that change their own sockets, event listeners and process. Each of these programs must end within its
// shutdown budget.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { disposed } from '../support/disposed.ts';
import { ProcessUnderTest } from '../support/process-under-test.ts';

const budgetMs = 3_000;

// Milliseconds from the end of the shutdown budget to the time at which the backstop timer ends the process.
const margin = 250;

const shortBudget = {
  LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS: '5',
  LAMEDUCK_PRE_SHUTDOWN_HOOK_TIMEOUT: '500ms',
  LAMEDUCK_DESTROY_HOOK_TIMEOUT: '500ms',
};

interface Hindered {
  readonly hinder: string;
  /**
   * The expected exit code of the process. The client of the request in flight disconnects before the shutdown
   * (`leaves`), or stays connected (`stays`).
   */
  readonly codes: Readonly<Record<'leaves' | 'stays', number>>;
  /**
   * The exit codes in the final log line. Set only if these exit codes differ from `codes`, the exit codes with which
   * the process really exits.
   */
  readonly inLine?: Readonly<Record<'leaves' | 'stays', number>>;
}

async function request(t: TestContext, port: number, path: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  socket.on('error', () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  await once(socket, 'connect');
  return socket;
}

/**
 * `answered()` sends a request and resolves when the response arrives. When it resolves, the server has also received
 * all requests that were sent earlier on other connections.
 */
async function answered(t: TestContext, port: number): Promise<Socket> {
  const socket = await request(t, port, '/');
  await once(socket, 'data');
  return socket;
}

async function ended(program: ProcessUnderTest): Promise<number | null> {
  program.kill('SIGTERM');
  const { code, signal } = await program.exit;
  assert.equal(signal, null);
  return code;
}

/**
 * assertInTime measures the duration of the shutdown by the times in the log. On a busy machine, the test itself would
 * notice the exit of the process too late.
 */
async function assertInTime(program: ProcessUnderTest): Promise<void> {
  const begun = await program.signaled('ShutdownInitiated');
  const took = Number((await program.finalLine())['time']) - Number(begun['time']);
  assert.ok(took <= budgetMs + margin + 250, `the final log line was written after ${String(took)} ms`);
}

describe('a program that throws or hangs in its shutdown ends within its shutdown budget', { concurrency: 4 }, () => {
  for (const { hinder, codes, inLine = codes } of [
    { hinder: 'removes the close listeners of the socket', codes: { leaves: 0, stays: 80 } },
    { hinder: 'removes all listeners of the response', codes: { leaves: 0, stays: 80 } },
    { hinder: 'throws when the socket closes', codes: { leaves: 82, stays: 82 } },
    { hinder: 'throws when the response closes', codes: { leaves: 82, stays: 82 } },
    // The final log line is written before the signal listeners and `close` callbacks of the program run.
    { hinder: 'throws when the server closes', codes: { leaves: 82, stays: 82 }, inLine: { leaves: 0, stays: 80 } },
    { hinder: 'never destroys the socket', codes: { leaves: 0, stays: 80 } },
    { hinder: 'throws when the socket is destroyed', codes: { leaves: 82, stays: 80 } },
    { hinder: 'throws when the socket is ended', codes: { leaves: 0, stays: 80 } },
  ] as readonly Hindered[]) {
    for (const client of ['leaves', 'stays'] as const) {
      test(`P-023, P-058 the hooks and signal listeners run, and the process ends within its shutdown budget, if the program ${hinder} and the client of a request in flight ${client}`, async (t) => {
        const env = { HINDER: hinder, LISTENS: 'yes', ...shortBudget };
        const program = disposed(t, new ProcessUnderTest('hinders-its-end.ts', env));
        const port = await program.ready();
        const held = await request(t, port, '/held');
        await answered(t, port);
        if (client === 'leaves') {
          await program.signaled('HasBeenReady');
          held.resetAndDestroy();
        }
        const code = await ended(program);
        const final = await program.finalLine();
        const ran = program.lines.map(({ msg }) => msg).filter((msg) => msg === 'pool ended' || msg === 'own listener');
        assert.deepEqual(
          ran,
          ['pool ended', 'own listener'],
          'the destroy hook must run first, and then the signal listener',
        );
        assert.equal(code, codes[client], JSON.stringify(final));
        assert.equal(final['exitCode'], inLine[client]);
        await assertInTime(program);
      });
    }
  }

  for (const { hinder, code } of [
    { hinder: 'replaces process.exit by a function that throws', code: 0 },
    { hinder: 'replaces process.exit by a function that returns', code: 0 },
    { hinder: 'freezes its server', code: 81 },
    { hinder: 'has a socket whose address cannot be read', code: 81 },
    { hinder: 'fakes setTimeout', code: 0 },
    { hinder: 'fakes all timers', code: 0 },
    // The program replaces JSON.stringify by a function that throws. A hook of the program calls JSON.stringify and
    // therefore fails, so the exit code is 81.
    { hinder: 'replaces JSON.stringify', code: 81 },
    { hinder: 'replaces Promise.race', code: 80 },
    { hinder: 'throws in its exit listener', code: 80 },
    { hinder: 'removes the listeners of SIGTERM', code: 0 },
    { hinder: 'removes all listeners of its process', code: 0 },
    { hinder: 'removes all listeners of its process in the drain', code: 0 },
    { hinder: 'removes all listeners and throws', code: 82 },
    { hinder: 'removes all listeners and exits in the drain', code: 3 },
    { hinder: 'has an unhandled rejection in the drain', code: 82 },
    { hinder: 'adds a signal listener in the drain whose promise never settles', code: 80 },
    { hinder: 'has hooks that never settle', code: 81 },
    { hinder: 'returns a promise from process.exit', code: 0 },
  ] as const) {
    test(`P-058 a program that hinders its own shutdown (it ${hinder}) ends within its shutdown budget with exit code ${String(code)}, and writes its final log line`, async (t) => {
      const program = disposed(t, new ProcessUnderTest('hinders-its-end.ts', { HINDER: hinder, ...shortBudget }));
      await program.ready();
      assert.equal(await ended(program), code, program.output);
      assert.equal((await program.finalLine())['schema'], 'lameduck/shutdown/v1');
      await assertInTime(program);
    });
  }

  test('P-057, P-058 a second process signal ends a program at once, even if the program has replaced process.exit by a function that throws', async (t) => {
    const hinder = 'replaces process.exit by a function that throws';
    // lameduck counts two process signals within 100 ms as one. On a busy machine, the process may handle the first
    // signal late, and the 100 ms begin only at that time.
    const env = { HINDER: hinder, ...shortBudget, LAMEDUCK_SHUTDOWN_DELAY_DURATION: '1s' };
    const program = disposed(t, new ProcessUnderTest('hinders-its-end.ts', env));
    await request(t, await program.ready(), '/held');
    const code = await Promise.all([
      ended(program),
      program.signaled('AfterShutdownDelayDuration').then(() => {
        program.kill('SIGINT');
      }),
    ]).then(([end]) => end);
    assert.equal(code, 1, program.output);
    assert.equal((await program.finalLine())['exitCode'], 1);
  });
});
