// Tests the records that an elector writes over the life of a Lease, and the times at which it sends requests.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { microTime } from '../../../src/leader-election/decision/lease.ts';
import { Contest } from '../support/contest.ts';

test('L-020, L-030, L-060 a takeover, a renewal and a release each write their own values for holder, duration, times and transitions', async (t) => {
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
  // The GET before the takeover took 300 ms. The record has the time at which the PUT of the takeover was sent.
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

test('L-080, L-086 an elector sends its next request after the previous one has a response or was abandoned, even if the API server is slow', async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  // The API server responds to some requests later than the retry period, and loses others.
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
    // With its third request to the API server, the elector becomes the leader. From then on, it sends a request every
    // retry period, or later if the previous renewal takes longer.
    const expected = index < 2 ? took : Math.max(2_000, took);
    assert.equal(pause, expected, `the next request was sent ${String(pause)} ms after request ${String(index)}`);
  }
  assert.equal(a.terms.length, 1);
  contest.server.script = () => undefined;
  const stopped = a.elector.stop();
  await contest.advance(15_000);
  await Promise.all([stopped, running]);
});
