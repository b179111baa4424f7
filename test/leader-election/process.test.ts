// Tests processes with a leader: how they release the Lease, and with which code they exit.
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { ApiServer } from '../support/api-server.ts';
import { disposed } from '../support/disposed.ts';
import { FencedStore } from '../support/fenced-store.ts';
import { ProcessUnderTest } from '../support/process-under-test.ts';
import { until } from '../support/until.ts';

async function leading(
  t: TestContext,
  env: Record<string, string> = {},
): Promise<{ api: ApiServer; url: string; program: ProcessUnderTest }> {
  const api = new ApiServer(systemClock);
  const url = await api.listen();
  t.after(() => {
    api.close();
  });
  const program = disposed(t, new ProcessUnderTest('leads-on-a-lease.ts', { API_SERVER: url, ...env }));
  await program.line('leadership', ({ msg }) => msg === 'leadership acquired');
  return { api, url, program };
}

const holder = (api: ApiServer): unknown => api.store.current('app')?.spec['holderIdentity'];

describe(
  'a process that ends while its elector leads: which exit code it has, and whether it releases the Lease',
  { concurrency: 3 },
  () => {
    test('L-141, L-143 at SIGTERM, a pre-shutdown hook of the elector releases the Lease, so that another elector can lead, and the process exits with code 0', async (t) => {
      const { api, program } = await leading(t);
      program.kill('SIGTERM');
      assert.deepEqual(await program.exit, { code: 0, signal: null });
      assert.equal(holder(api), '');
      const started = program.lines.find(({ msg }) => msg === 'leader election started');
      assert.match((started?.['settings'] as Record<string, string>)['leaseDuration'] ?? '', /^\d+m?s \(code\)$/);
    });

    test('L-143 a second process signal ends the process of a leader at once, and the Lease still names this leader', async (t) => {
      const { api, program } = await leading(t, { STUBBORN: '1', LAMEDUCK_LEADER_ELECTION_STOP_TIMEOUT: '8s' });
      program.kill('SIGTERM');
      await program.signaled('ShutdownInitiated');
      // Wait for two renewals, which are at least a second apart. If SIGINT came within 100 ms after SIGTERM, it would
      // count as a repetition of SIGTERM.
      const renewals = api.calls.length;
      await until(() => api.calls.length >= renewals + 2);
      program.kill('SIGINT');
      assert.deepEqual(await program.exit, { code: 1, signal: null });
      assert.notEqual(holder(api), '');
    });

    test("LT-29, L-141 if the leader's work ignores its AbortSignal, the pre-shutdown hook of the elector fails, and the process exits with code 81 without releasing the Lease", async (t) => {
      const { api, program } = await leading(t, { STUBBORN: '1' });
      program.kill('SIGTERM');
      assert.deepEqual(await program.exit, { code: 81, signal: null });
      const [failure] = (await program.finalLine())['hookFailures'] as { name: string }[];
      assert.equal(failure?.name, 'leader-election/app');
      assert.notEqual(holder(api), '');
    });

    test('LT-57, L-143 an elector without a lifecycle has no listener for process signals, and keeps no process alive after its stop', async (t) => {
      const api = new ApiServer(systemClock);
      const url = await api.listen();
      t.after(() => {
        api.close();
      });
      const program = disposed(t, new ProcessUnderTest('stops-leading.ts', { API_SERVER: url }));
      const { listeners } = await program.line('listeners', ({ msg }) => msg === 'listeners');
      assert.equal(listeners, 0);
      assert.deepEqual(await program.exit, { code: 0, signal: null });
      assert.equal(holder(api), '');
    });

    test('LT-33, L-141 if a leader cannot reach the API server to release its Lease, its pre-shutdown hook still ends in time, and the process exits with code 0', async (t) => {
      const { api, program } = await leading(t, { LAMEDUCK_LEADER_ELECTION_STOP_TIMEOUT: '3s' });
      api.script = () => ({ isLost: true });
      program.kill('SIGTERM');
      assert.deepEqual(await program.exit, { code: 0, signal: null });
      assert.deepEqual((await program.finalLine())['hookFailures'], []);
      assert.notEqual(holder(api), '');
    });

    test("LT-29, L-141 if the leader's work ends after the time limit of the elector's pre-shutdown hook, the Lease is still released, and the exit code is 81", async (t) => {
      const { api, program } = await leading(t, { TAKES_LONG: '1' });
      program.kill('SIGTERM');
      assert.deepEqual(await program.exit, { code: 81, signal: null });
      assert.equal(holder(api), '');
    });

    test('L-112 after an elector has stopped, a request for an Event that gets no response does not keep the process alive', async (t) => {
      const api = new ApiServer(systemClock);
      api.eventStatus = Infinity;
      const url = await api.listen();
      t.after(() => {
        api.close();
      });
      const program = disposed(t, new ProcessUnderTest('stops-leading.ts', { API_SERVER: url }));
      const { msBeforeExit } = await program.line('exit', ({ msg }) => msg === 'exit');
      assert.deepEqual(await program.exit, { code: 0, signal: null });
      assert.ok(Number(msBeforeExit) < 4_000, String(msBeforeExit));
    });

    test('L-142 with onLoss: shutdown, a leader that loses the leadership shuts the process down with exit code 83', async (t) => {
      const { api, program } = await leading(t, { ON_LOSS: 'shutdown' });
      api.script = () => ({ isLost: true });
      assert.deepEqual(await program.exit, { code: 83, signal: null });
      assert.match(String((await program.finalLine())['reason']), /leadership of app lost/);
    });

    test('L-142 with onLoss: shutdown, a process that loses the leadership exits with code 83, even if LAMEDUCK_DISABLED has switched the lifecycle off', async (t) => {
      const { api, program } = await leading(t, { ON_LOSS: 'shutdown', LAMEDUCK_DISABLED: '1' });
      api.script = () => ({ isLost: true });
      assert.deepEqual(await program.exit, { code: 83, signal: null });
    });

    test("L-142 if the leader's work is still running when the Lease has expired, the process ends with exit code 83", async (t) => {
      const { api, program } = await leading(t, { STUBBORN: '1' });
      api.script = () => ({ isLost: true });
      assert.deepEqual(await program.exit, { code: 83, signal: null });
      assert.equal((await program.finalLine())['exitCode'], 83);
    });

    test('LT-55, L-132 a store that checks fencing tokens rejects the write that a suspended former leader sends after its process has resumed', async (t) => {
      const { api, url, program: first } = await leading(t);
      const store = new FencedStore();
      const write = async (program: ProcessUnderTest, message: string): Promise<boolean> => {
        const { token } = await program.line(message, ({ msg }) => msg === message);
        return store.write(String(token));
      };
      assert.equal(await write(first, 'leadership acquired'), true);
      // Wait until the first process has renewed its Lease. By then, this process has certainly begun its work as leader.
      await until(() => api.calls.filter(({ method }) => method === 'PUT').length >= 2);
      first.kill('SIGSTOP');
      const second = disposed(t, new ProcessUnderTest('leads-on-a-lease.ts', { API_SERVER: url }));
      assert.equal(await write(second, 'leadership acquired'), true);
      first.kill('SIGCONT');
      assert.equal(await write(first, 'late write'), false);
      assert.equal(api.store.current('app')?.spec['leaseTransitions'], 1);
      await until(() => api.calls.filter(({ method }) => method === 'PUT').length >= 5);
      second.kill('SIGTERM');
      // The second process no longer leads. No other process has led after it, so the store knows no greater fencing
      // token, and still accepts the late write of the second process.
      assert.equal(await write(second, 'late write'), true);
    });
  },
);
