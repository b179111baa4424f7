// Tests the job of the reference service, which only the leader runs.
import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { test } from 'node:test';
import { disposed } from '../support/disposed.ts';
import { ProcessUnderTest } from '../support/process-under-test.ts';

const program = '../../examples/reference-service/main.ts';
const isJob = ({ msg }: { msg?: string }): boolean => msg === 'job done';

test('the leader of the reference service logs each run of its job with its fencing token, and logs no further run after it has released the Lease', async (t) => {
  const env = { PORT: '0', LEASE_NAME: 'reference-service', LAMEDUCK_LEADER_ELECTION_ALONE: '1' };
  const leader = disposed(t, new ProcessUnderTest(program, env));
  const { token, pod, time } = await leader.line('a line of the job', isJob);
  const acquired = await leader.line('its term', ({ msg }) => msg === 'leadership acquired');
  assert.deepEqual([token, pod, typeof time], [acquired['token'], hostname(), 'number']);
  await leader.signaled('HasBeenReady');
  leader.kill('SIGTERM');
  assert.deepEqual(await leader.exit, { code: 0, signal: null });
  const released = leader.lines.findIndex(({ msg }) => msg === 'lease released');
  assert.ok(released > leader.lines.findLastIndex(isJob), JSON.stringify(leader.lines.slice(-10)));
});

test('without LEASE_NAME the reference service runs no leader election, and needs no cluster', async (t) => {
  const service = disposed(t, new ProcessUnderTest(program, { PORT: '0' }));
  await service.signaled('HasBeenReady');
  service.kill('SIGTERM');
  assert.deepEqual(await service.exit, { code: 0, signal: null });
  assert.ok(!service.lines.some(isJob));
});
