// Tests processes whose event loop is blocked at the end of the shutdown budget. The probe thread writes the final log
// line of such a process and ends the process. The probe thread does not end the process if the program has begun the
// shutdown with shutdown(), or while a debugger is attached.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { disposed } from '../support/disposed.ts';
import { attachDebugger } from '../support/inspector-client.ts';
import { ProbedProcess } from '../support/probed-process.ts';
import { ProcessUnderTest, type Line } from '../support/process-under-test.ts';
import { emptyFile } from '../support/termination-log.ts';

const shortBudget = {
  LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS: '4',
  LAMEDUCK_PRE_SHUTDOWN_HOOK_TIMEOUT: '500ms',
  LAMEDUCK_DESTROY_HOOK_TIMEOUT: '500ms',
};

const isFinal = ({ schema }: Line): boolean => schema === 'lameduck/shutdown/v1';

describe('the probe thread ends a blocked process that has no probe port', { concurrency: true }, () => {
  for (const { how, fixture, env, nodeOptions } of [
    { how: 'and has lameduck() in its code', fixture: 'blocks-for-a-while.ts', env: {}, nodeOptions: [] },
    {
      how: 'before its hooks have returned once',
      fixture: 'blocks-for-a-while.ts',
      env: { BLOCK_AT_SHUTDOWN: '60000' },
      nodeOptions: [],
    },
    {
      how: 'by its own signal listener, which lameduck calls at once,',
      fixture: 'blocks-for-a-while.ts',
      env: { BLOCK_AT_SIGNAL: '60000', LAMEDUCK_OWN_SIGNAL_LISTENERS: 'run' },
      nodeOptions: [],
    },
    {
      how: 'in a loop of JavaScript',
      fixture: 'blocks-for-a-while.ts',
      env: { SPIN: '1' },
      nodeOptions: [],
    },
    {
      how: 'although it has an inspector, to which no debugger is attached,',
      fixture: 'blocks-for-a-while.ts',
      env: {},
      nodeOptions: ['--inspect=127.0.0.1:0'],
    },
  ]) {
    test(`P-118 a process whose event loop is blocked ${how} is ended after its shutdown budget, and its final log line is written`, async (t) => {
      const all = { ...shortBudget, BLOCK_AT_DESTROY: '60000', ...env };
      const program = disposed(t, new ProcessUnderTest(fixture, all, nodeOptions));
      await program.signaled('HasBeenReady');
      program.kill('SIGTERM');
      assert.deepEqual(await program.exit, { code: null, signal: 'SIGKILL' });
      const begun = await program.signaled('ShutdownInitiated');
      const final = await program.finalLine();
      // Measure the duration of the shutdown with the times in the log of the process. The test itself would notice the
      // exit of the process too late on a busy machine.
      const took = Number(final['time']) - Number(begun['time']);
      // The probe thread ends the process half a second after the end of the shutdown budget. The kubelet would send
      // SIGKILL later than that.
      assert.ok(took > 2_400 && took < 4_000, String(took));
      assert.deepEqual([final['exitCode'], final['heldBy']], [137, ['event loop']]);
    });
  }

  test('P-056, P-118 the probe thread never ends a process because of a shutdown() call, even if the event loop is blocked', async (t) => {
    const env = { ...shortBudget, BLOCK_AT_DESTROY: '3500' };
    const program = await ProbedProcess.start(t, env);
    program.kill('SIGUSR2');
    assert.deepEqual(await program.exit, { code: 0, signal: null });
    assert.equal((await program.finalLine())['exitCode'], 81);
  });

  test('P-090, P-118 the probe thread does not end a process to whose inspector a debugger is attached', async (t) => {
    const env = { ...shortBudget, BLOCK_AT_DESTROY: '3500' };
    const program = disposed(t, new ProcessUnderTest('blocks-for-a-while.ts', env, ['--inspect=127.0.0.1:0']));
    await program.signaled('HasBeenReady');
    const detach = await attachDebugger(t, program);
    program.kill('SIGTERM');
    await program.line('the final line', isFinal);
    // When a process exits, Node waits until the debugger has detached.
    detach();
    assert.equal((await program.exit).signal, null);
  });
});

describe('a blocked process with a probe port writes its final log line', { concurrency: true }, () => {
  test('P-118, K-212 a process whose event loop is blocked at the end of the shutdown budget writes the final log line and the termination message', async (t) => {
    const path = emptyFile(t);
    const program = await ProbedProcess.start(t, {
      ...shortBudget,
      BLOCK_AT_SHUTDOWN: '60000',
      LAMEDUCK_TERMINATION_MESSAGE_PATH: path,
    });
    const since = performance.now();
    program.kill('SIGTERM');
    const final = await program.line('the final line', isFinal);
    const took = performance.now() - since;
    assert.deepEqual(
      [final['reason'], final['exitCode'], final['heldBy'], final['budgetMs'], final['level']],
      ['SIGTERM', 137, ['event loop'], 2_000, 50],
    );
    // The test starts to measure `took` before the process starts to measure `durationMs`, and stops later. So
    // `durationMs` cannot be longer than `took`.
    const durationMs = Number(final['durationMs']);
    assert.ok(durationMs >= 2_490 && durationMs <= took + 1, `${String(durationMs)} of ${String(took)}`);
    // The kubelet sends SIGKILL 4 s after SIGTERM. The probe thread must end the process before that.
    assert.ok(durationMs < 4_000, String(durationMs));
    assert.deepEqual(Object.keys(final['phases'] as object), ['ShutdownInitiated']);
    assert.match(
      readFileSync(path, 'utf8'),
      /^held by: event loop\nshutdown by SIGTERM took \d(?:\.\d+)?s of its budget of 2s; exit code 137$/,
    );
    assert.deepEqual(await program.exit, { code: null, signal: 'SIGKILL' });
    assert.equal(program.lines.filter(({ schema }) => schema !== undefined).length, 1);
  });

  test('P-118 the final log line of a blocked process reports everything that happened until shortly before the event loop was blocked', async (t) => {
    const program = await ProbedProcess.start(t, { ...shortBudget, DESTROY: '300', BLOCK_AT_DESTROY: '60000' });
    program.kill('SIGTERM');
    const final = await program.line('the final line', isFinal);
    assert.equal(final['exitCode'], 137);
    assert.ok('InFlightRequestsDrained' in (final['phases'] as object));
  });

  test('P-118 if the event loop continues before the probe thread writes the final log line, the main thread writes the whole line itself', async (t) => {
    const program = await ProbedProcess.start(t, { ...shortBudget, BLOCK_AT_SHUTDOWN: '1500' });
    program.kill('SIGTERM');
    assert.notEqual((await program.finalLine())['exitCode'], 137);
    assert.equal(program.lines.filter(({ schema }) => schema !== undefined).length, 1);
  });

  test('P-118 if the event loop is blocked after the main thread has written the final log line, the probe thread ends the process and logs nothing', async (t) => {
    const program = await ProbedProcess.start(t, { ...shortBudget, BLOCK_AT_EXIT: '60000' });
    program.kill('SIGTERM');
    assert.deepEqual(await program.exit, { code: null, signal: 'SIGKILL' });
    assert.deepEqual(
      program.lines.filter(({ schema }) => schema !== undefined).map(({ exitCode }) => exitCode),
      [0],
    );
  });
});

describe(
  'if the event loop is blocked after an uncaught error, the probe thread ends the process',
  { concurrency: true },
  () => {
    for (const [when, signals, reason] of [
      ['before any shutdown', ['SIGUSR2'], 'uncaught error'],
      ['during a shutdown', ['SIGTERM', 'SIGUSR2'], 'SIGTERM'],
    ] as const) {
      test(`K-211, K-212, P-118 if the event loop is blocked after an uncaught error ${when}, the final log line and the termination message begin with that error`, async (t) => {
        const path = emptyFile(t);
        const env = {
          LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS: '6',
          LAMEDUCK_SHUTDOWN_DELAY_DURATION: '2s',
          LAMEDUCK_PRE_SHUTDOWN_HOOK_TIMEOUT: '500ms',
          LAMEDUCK_DESTROY_HOOK_TIMEOUT: '500ms',
          LAMEDUCK_TERMINATION_MESSAGE_PATH: path,
        };
        const program = await ProbedProcess.start(t, env, { fixture: 'throws-and-blocks.ts' });
        for (const signal of signals) {
          program.kill(signal);
          await program.signaled('ShutdownInitiated');
        }
        await program.line('the last words', isFinal);
        const [first, ...rest] = readFileSync(path, 'utf8').split('\n');
        assert.equal(first, 'uncaught error: TypeError: thrown');
        assert.match(rest.at(-2) ?? '', /^held by: event loop$/);
        assert.match(
          rest.at(-1) ?? '',
          new RegExp(`^shutdown by ${reason} took \\d(?:\\.\\d+)?s of its budget of 4s; exit code 137$`),
        );
      });
    }
  },
);
