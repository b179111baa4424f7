// Followers against a small API server: how long they wait, and what makes them wait again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seeded } from '../support/random.ts';
import { Contest } from './support/contest.ts';

test('LT-03, L-051 a follower only reads while another one renews, and its pauses do not grow', async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a', { random: seeded(1) });
  contest.heldBy('b');
  const renew = (): void => {
    contest.heldBy('b');
    contest.clock.after(2_000, renew);
  };
  renew();
  const running = a.run();
  await contest.advance(400_000);
  assert.deepEqual([...new Set(contest.server.calls.map(({ method }) => method))], ['GET']);
  const gaps = contest.server.calls.slice(1).map(({ at }, index) => at - (contest.server.calls[index]?.at ?? 0));
  assert.ok(gaps.length > 90);
  assert.ok(
    Math.min(...gaps) >= 2_000 && Math.max(...gaps) < 4_400,
    `${String(Math.min(...gaps))} to ${String(Math.max(...gaps))}`,
  );
  const late = gaps.slice(-40);
  assert.ok(late.reduce((sum, gap) => sum + gap, 0) / late.length < 3_600);
  await a.elector.stop();
  await running;
});

function takenAfter(title: string, spec: Record<string, unknown>, expected: number): void {
  test(title, async (t) => {
    const contest = await Contest.begin(t);
    const a = contest.contender('a');
    contest.heldBy('b', spec);
    const before = contest.server.store.current('app');
    const start = contest.clock.now();
    const running = a.run();
    await contest.advance(expected + 5_000);
    const take = contest.server.calls.find(({ method }) => method === 'PUT');
    assert.equal((take?.at ?? 0) - start, expected);
    assert.equal(take?.body?.spec?.['leaseTransitions'], 4);
    assert.equal(take.body.spec['acquireTime'], take.body.spec['renewTime']);
    assert.equal(take.body.metadata?.['uid'], before?.metadata.uid);
    assert.equal(take.body.metadata?.['resourceVersion'], before?.metadata.resourceVersion);
    assert.equal(a.terms.length, 1);
    await a.elector.stop();
    await running;
  });
}

takenAfter('LT-04 a silent holder is waited out from the first sight', {}, 15_000);
takenAfter(
  'LT-05, L-180 a renewTime of an hour ago shortens nothing',
  { renewTime: '2025-12-31T23:00:00.000000Z' },
  15_000,
);
takenAfter('LT-06 a renewTime in an hour lengthens nothing', { renewTime: '2026-01-02T04:00:00.000000Z' }, 15_000);
takenAfter('LT-07, L-182 a record of 3 s is waited out for 3 s', { leaseDurationSeconds: 3 }, 3_000);
takenAfter('LT-07 a record of 60 s is waited out for 60 s', { leaseDurationSeconds: 60 }, 60_000);
takenAfter('LT-08 a released Lease is taken at once', { holderIdentity: '', leaseDurationSeconds: 1 }, 0);
takenAfter('LT-09 a Lease with a null holder is taken at once', { holderIdentity: null }, 0);
takenAfter(
  'LT-10, L-193 a record without a duration is waited out for the own one',
  { leaseDurationSeconds: null },
  15_000,
);

test('LT-09 a Lease with an empty spec is taken with one transition', async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  contest.server.store.put('app', {});
  const running = a.run();
  await contest.advance(500);
  assert.equal(contest.spec()['leaseTransitions'], 1);
  await a.elector.stop();
  await running;
});

test('LT-12, L-033 of two that take an expired Lease one leads, and the other waits anew', async (t) => {
  const contest = await Contest.begin(t);
  const [a, b] = [contest.contender('a'), contest.contender('b')];
  contest.heldBy('c');
  contest.server.script = ({ method }) => (method === 'GET' ? { delay: 50 } : undefined);
  const running = [a.run(), b.run()];
  await contest.advance(17_000);
  assert.deepEqual(
    contest.server.calls
      .filter(({ method, body }) => method === 'PUT' && body?.spec?.['leaseTransitions'] === 4)
      .slice(0, 2)
      .map(({ answered }) => answered)
      .sort((one, other) => Number(one) - Number(other)),
    [200, 409],
  );
  await contest.advance(40_000);
  assert.equal(a.terms.length + b.terms.length, 1);
  const stops = [a.elector.stop(), b.elector.stop()];
  await contest.advance(1_000);
  await Promise.all([...stops, ...running]);
});

test('LT-13, L-070 a renewal between the GET and the takeover makes the takeover fail and begins the wait again', async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  contest.heldBy('b');
  let isRenewed = false;
  contest.server.script = ({ method }) => {
    if (method === 'PUT' && !isRenewed) {
      isRenewed = true;
      contest.heldBy('b');
    }
    return undefined;
  };
  const start = contest.clock.now();
  const running = a.run();
  await contest.advance(16_000);
  assert.equal(contest.server.calls.find(({ method }) => method === 'PUT')?.answered, 409);
  await contest.advance(14_000);
  assert.equal(a.terms.length, 0);
  await contest.advance(20_000);
  assert.equal(a.terms.length, 1);
  const takes = contest.server.calls.filter(({ method }) => method === 'PUT');
  assert.ok((takes[1]?.at ?? 0) - start >= 32_000);
  await a.elector.stop();
  await running;
});

test('LT-54 followers that start together spread their second attempts', async (t) => {
  const contest = await Contest.begin(t);
  contest.heldBy('b', { leaseDurationSeconds: 600 });
  const random = seeded(7);
  const all = Array.from({ length: 100 }, (_, index) => contest.contender(`f${String(index)}`, { random }));
  const start = contest.clock.now();
  const running = all.map((one) => one.run());
  await contest.advance(4_500);
  const second = contest.server.calls.slice(100, 200).map(({ at }) => at - start);
  assert.ok(Math.min(...second) >= 2_000 && Math.max(...second) < 4_400);
  for (let from = 2_000; from < 4_400; from += 400) {
    const count = second.filter((at) => at >= from && at < from + 400).length;
    assert.ok(count > 4 && count < 35, `${String(count)} from ${String(from)} ms`);
  }
  await Promise.all([...all.map(({ elector }) => elector.stop()), ...running]);
});

test('L-053, L-174, L-194 a follower with a watch reads nothing while the leader renews, and takes a released Lease at once', async (t) => {
  const contest = await Contest.begin(t);
  contest.server.isWatchable = true;
  const [a, b] = [contest.contender('a'), contest.contender('b', { random: () => 0.5 })];
  const running = [a.run()];
  await contest.advance(1_000);
  running.push(b.run());
  await contest.advance(60_000);
  assert.equal(contest.openWatches, 1);
  const reads = contest.server.calls.filter(({ method }) => method === 'GET').length;
  assert.equal(reads, 2);
  const stopped = a.elector.stop();
  await contest.advance(500);
  assert.equal(await stopped, true);
  await contest.advance(500);
  assert.equal(b.terms.length, 1);
  assert.equal(contest.openWatches, 0, 'a leader watches nothing');
  const stop = b.elector.stop();
  await contest.advance(500);
  await Promise.all([stop, ...running]);
});

test('L-053 a follower survives a watch that breaks or answers 410, and polls meanwhile', async (t) => {
  const contest = await Contest.begin(t);
  contest.server.isWatchable = true;
  contest.heldBy('b', { leaseDurationSeconds: 600 });
  const a = contest.contender('a', { random: () => 0.5 });
  const running = a.run();
  await contest.advance(5_000);
  assert.equal(contest.server.watches.size, 1);
  for (const watch of contest.server.watches) watch.end('{"type":"ERROR","object":{"kind":"Status","code":410}}\n');
  await contest.advance(8_000);
  assert.equal(contest.server.watches.size, 1);
  for (const watch of contest.server.watches) watch.destroy();
  contest.server.isWatchable = false;
  const before = contest.server.calls.length;
  await contest.advance(60_000);
  assert.ok(contest.server.calls.length - before > 12, 'it polls');
  assert.equal(a.terms.length, 0);
  await a.elector.stop();
  await running;
});
