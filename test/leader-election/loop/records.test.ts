// Tests which fields of the Lease an elector writes, and at which times it sends requests.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { microTime } from '../../../src/leader-election/decision/lease.ts';
import { Contest } from '../support/contest.ts';

test('L-020, L-030, L-060 an elector that takes over, renews or releases the Lease writes the correct holder, lease duration, times and number of transitions', async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  contest.heldBy('b', { leaseDurationSeconds: 3 });
  contest.server.script = ({ method }) => (method === 'GET' ? { delay: 300 } : undefined);
  const running = a.run();
  await contest.advance(7_000);
  const stopped = a.elector.stop();
  await contest.advance(1_000);
  assert.equal(await stopped, true);
  await running;

  const puts = contest.server.calls.filter(({ method }) => method === 'PUT');
  const [taken, renewed, released] = [puts[0], puts[1], puts.at(-1)].map((call) => ({
    spec: call?.body?.spec,
    sent: microTime(contest.wallAt(call?.at ?? 0)),
  }));
  const held = { holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 4, acquireTime: taken?.sent };
  // The elector took over the Lease with a GET, which took 300 ms, and then a PUT. The times in the Lease are the time
  // of this PUT, and not the time of the GET.
  assert.deepEqual(taken?.spec, { ...held, renewTime: taken?.sent });
  assert.deepEqual(renewed?.spec, { ...held, renewTime: renewed?.sent });
  assert.deepEqual(released?.spec, {
    holderIdentity: '',
    leaseDurationSeconds: 1,
    leaseTransitions: 4,
    acquireTime: released?.sent,
    renewTime: released?.sent,
  });
  assert.deepEqual([...new Set(contest.server.calls.map(({ method }) => method))].sort(), ['GET', 'PUT']);
});

test('L-080, L-086 an elector sends a request only after the previous request has got its response or has timed out, even if the API server is slow', async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  // The simulated API server answers some requests later than a retry period, and never answers some others.
  const delays = [100, 3_000, 2_500, 3_200, Infinity];
  const delayOf = (index: number): number => delays[index % delays.length] ?? 0;
  let count = 0;
  contest.server.script = () => {
    const delay = delayOf(count++);
    return delay === Infinity ? { isLost: true } : { delay };
  };
  const running = a.run();
  await contest.advance(120_000);
  const { calls } = contest.server;
  assert.ok(calls.length > 30);
  for (const [index, { at }] of calls.slice(1).entries()) {
    const pause = Math.round(at - (calls[index]?.at ?? 0));
    const took = Math.min(delayOf(index), 3_333);
    // In this test, the elector becomes the leader with its third request. Then the elector sends a renewal every retry
    // period. If a renewal takes longer than a retry period, the elector sends the next renewal at once.
    const expected = index < 2 ? took : Math.max(2_000, took);
    assert.equal(pause, expected, `the next request was sent ${String(pause)} ms after request ${String(index)}`);
  }
  assert.equal(a.terms.length, 1);
  contest.server.script = () => undefined;
  const stopped = a.elector.stop();
  await contest.advance(15_000);
  await Promise.all([stopped, running]);
});
