// A whole process that leads on a Lease: how it hands over, and with which code it ends.
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { ApiServer } from '../support/api-server.ts';
import { disposed } from '../support/disposed.ts';
import { ProcessUnderTest } from '../support/process-under-test.ts';
import { until } from '../support/until.ts';

async function leading(
  t: TestContext,
  env: Record<string, string> = {},
): Promise<{ api: ApiServer; program: ProcessUnderTest }> {
  const api = new ApiServer(systemClock);
  const url = await api.listen();
  t.after(() => {
    api.close();
  });
  const program = disposed(t, new ProcessUnderTest('leads-on-a-lease.ts', { API_SERVER: url, ...env }));
  await program.line('leadership', ({ msg }) => msg === 'leadership acquired');
  return { api, program };
}

const holder = (api: ApiServer): unknown => api.store.current('app')?.spec['holderIdentity'];

describe('a process that leads', { concurrency: 3 }, () => {
  test('L-141, L-143 SIGTERM hands leadership over in a pre-shutdown hook, and the process exits with 0', async (t) => {
    const { api, program } = await leading(t);
    program.kill('SIGTERM');
    assert.deepEqual(await program.exit, { code: 0, signal: null });
    assert.equal(holder(api), '');
    const started = program.lines.find(({ msg }) => msg === 'leader election started');
    assert.match((started?.['settings'] as Record<string, string>)['leaseDuration'] ?? '', /^\d+m?s \(code\)$/);
  });

  test('L-143 a second process signal ends the process at once, without a release', async (t) => {
    const { api, program } = await leading(t, { STUBBORN: '1', LAMEDUCK_LEADER_ELECTION_STOP_TIMEOUT: '8s' });
    program.kill('SIGTERM');
    await program.signaled('ShutdownInitiated');
    // Two renewals are a second apart: a signal that comes sooner counts as a repetition of the first one.
    const renewals = api.calls.length;
    await until(() => api.calls.length >= renewals + 2);
    program.kill('SIGINT');
    assert.deepEqual(await program.exit, { code: 1, signal: null });
    assert.notEqual(holder(api), '');
  });

  test('L-141 work that ignores its abort fails the hook, and the process ends with 81 and without a release', async (t) => {
    const { api, program } = await leading(t, { STUBBORN: '1' });
    program.kill('SIGTERM');
    assert.deepEqual(await program.exit, { code: 81, signal: null });
    const [failure] = (await program.finalLine())['hookFailures'] as { name: string }[];
    assert.equal(failure?.name, 'leader-election/app');
    assert.notEqual(holder(api), '');
  });

  test('L-142 a loss shuts the process down with 83 if that is asked for', async (t) => {
    const { api, program } = await leading(t, { ON_LOSS: 'shutdown' });
    api.script = () => ({ isLost: true });
    assert.deepEqual(await program.exit, { code: 83, signal: null });
    assert.match(String((await program.finalLine())['reason']), /leadership of app lost/);
  });

  test('L-142 a loss ends the process with 83 if that is asked for and LAMEDUCK_DISABLED has switched the lifecycle off', async (t) => {
    const { api, program } = await leading(t, { ON_LOSS: 'shutdown', LAMEDUCK_DISABLED: '1' });
    api.script = () => ({ isLost: true });
    assert.deepEqual(await program.exit, { code: 83, signal: null });
  });

  test('L-142 work that outlives its lease duration ends the process with 83', async (t) => {
    const { api, program } = await leading(t, { STUBBORN: '1' });
    api.script = () => ({ isLost: true });
    assert.deepEqual(await program.exit, { code: 83, signal: null });
    assert.equal((await program.finalLine())['exitCode'], 83);
  });
});
