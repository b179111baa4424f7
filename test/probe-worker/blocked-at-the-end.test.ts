// A process whose event loop is blocked at the end of its budget: which the probe thread ends, and which it does not.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { disposed } from '../support/disposed.ts';
import { ProbedProcess } from '../support/probed-process.ts';
import { ProcessUnderTest } from '../support/process-under-test.ts';

const shortBudget = {
  LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS: '4',
  LAMEDUCK_PRE_SHUTDOWN_HOOK_TIMEOUT: '500ms',
  LAMEDUCK_DESTROY_HOOK_TIMEOUT: '500ms',
};

describe('a process without a probe port that is blocked', { concurrency: true }, () => {
  for (const { how, fixture, env, nodeOptions } of [
    { how: 'with lameduck() in code', fixture: 'blocks-for-a-while.ts', env: {}, nodeOptions: [] },
    {
      how: 'before its hooks have returned once',
      fixture: 'blocks-for-a-while.ts',
      env: { BLOCK_AT_SHUTDOWN: '60000' },
      nodeOptions: [],
    },
  ]) {
    test(`P-118 ${how} it is ended after its budget, with its final line`, async (t) => {
      const all = { ...shortBudget, BLOCK_AT_DESTROY: '60000', ...env };
      const program = disposed(t, new ProcessUnderTest(fixture, all, nodeOptions));
      await program.signaled('HasBeenReady');
      program.kill('SIGTERM');
      assert.deepEqual(await program.exit, { code: null, signal: 'SIGKILL' });
      const begun = await program.signaled('ShutdownInitiated');
      const final = await program.finalLine();
      // By the clock of the process: on a busy machine its end is seen later than it came.
      const took = Number(final['time']) - Number(begun['time']);
      assert.ok(took > 2_400 && took < 4_000, String(took));
      assert.deepEqual([final['exitCode'], final['heldBy']], [137, ['event loop']]);
    });
  }

  test('P-056, P-118 a shutdown that does not end the process does not, although the event loop is blocked', async (t) => {
    const env = { ...shortBudget, BLOCK_AT_DESTROY: '3500' };
    const program = await ProbedProcess.start(t, env);
    program.kill('SIGUSR2');
    assert.deepEqual(await program.exit, { code: 0, signal: null });
    assert.equal((await program.finalLine())['exitCode'], 81);
  });

  test('P-090, P-118 a process whose inspector is open is not ended by the thread', async (t) => {
    const env = { ...shortBudget, BLOCK_AT_DESTROY: '3500' };
    const program = disposed(t, new ProcessUnderTest('blocks-for-a-while.ts', env, ['--inspect=127.0.0.1:0']));
    await program.signaled('HasBeenReady');
    program.kill('SIGTERM');
    assert.equal((await program.exit).signal, null);
  });
});
