// Tests followers against a simulated API server: how long a follower waits until it takes over the Lease, and which
// events restart this wait.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { microTime } from '../../../src/leader-election/decision/lease.ts';
import { seededRandom } from '../../../src/cli/rehearsal/random.ts';
import { Contest } from '../support/contest.ts';

test('LT-03, L-051 while a leader renews the Lease, a follower sends only GETs, and the pauses between these GETs do not grow', async (t) => {
  const contest = await Contest.begin(t);
  const took = 300;
  const [seen, a] = [contest.clock.now(), contest.contender('a', { random: seededRandom(1) })];
  contest.heldBy('b');
  contest.server.script = () => ({ delay: took });
  const renew = (): void => {
    contest.heldBy('b');
    contest.clock.after(2_000, renew);
  };
  renew();
  const running = a.run();
  while (contest.server.calls.length <= 501) await contest.advance(60_000);
  assert.deepEqual([...new Set(contest.server.calls.map(({ method }) => method))], ['GET']);
  assert.equal(contest.server.calls[0]?.at, seen, 'the elector must make its first attempt at once');
  // A pause of a follower lasts from the end of an attempt to the start of the next attempt.
  const gaps = gapsOf(contest, took);
  assert.ok(gaps.length > 500);
  assert.ok(
    Math.min(...gaps) >= 2_000 && Math.max(...gaps) < 4_400,
    `the pauses were ${String(Math.min(...gaps))} to ${String(Math.max(...gaps))} ms long`,
  );
  const [early, late] = [gaps.slice(0, 250), gaps.slice(250)].map(meanOf);
  assert.ok(Math.abs((late ?? 0) - (early ?? 0)) < 200, `the pauses grew from ${String(early)} to ${String(late)} ms`);
  const stopped = a.elector.stop();
  await contest.advance(took);
  await Promise.all([stopped, running]);
});

test('LT-03 a follower waits for at least the retry period between two reads of the Lease', async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a', { random: () => 0 });
  contest.heldBy('b', { leaseDurationSeconds: 600 });
  const running = a.run();
  await contest.advance(60_000);
  assert.deepEqual([...new Set(gapsOf(contest, 0))], [2_000]);
  await a.elector.stop();
  await running;
});

function gapsOf({ server: { calls } }: Contest, took: number): number[] {
  return calls.slice(1).map(({ at }, index) => at - (calls[index]?.at ?? 0) - took);
}

function meanOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}

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
    assert.equal(take?.body?.spec?.['leaseTransitions'], Number(before?.spec['leaseTransitions'] ?? 0) + 1);
    const now = microTime(contest.wallAt(take.at));
    assert.deepEqual([take.body.spec['acquireTime'], take.body.spec['renewTime']], [now, now]);
    assert.equal(take.body.metadata?.['uid'], before?.metadata.uid);
    assert.equal(take.body.metadata?.['resourceVersion'], before?.metadata.resourceVersion);
    assert.equal(a.terms.length, 1);
    await a.elector.stop();
    await running;
  });
}

takenAfter('LT-04 a follower waits for the lease duration from the first time it sees a silent holder', {}, 15_000);
takenAfter(
  'LT-05, L-180 a renewTime of an hour ago does not shorten the wait of a follower',
  { renewTime: '2026-01-01T23:16:40.000000Z' },
  15_000,
);
takenAfter(
  'LT-06 a renewTime that is an hour in the future does not extend the wait of a follower',
  { renewTime: '2026-01-02T01:16:40.000000Z' },
  15_000,
);
takenAfter(
  'LT-07, L-182 if the Lease of another elector has a lease duration of 3 s, a follower waits for 3 s',
  { leaseDurationSeconds: 3 },
  3_000,
);
takenAfter(
  'LT-07 if the Lease of another elector has a lease duration of 60 s, a follower waits for 60 s',
  { leaseDurationSeconds: 60 },
  60_000,
);
takenAfter('LT-08 a follower takes a released Lease at once', { holderIdentity: '', leaseDurationSeconds: 1 }, 0);
takenAfter('LT-09 a follower takes a Lease with a null holder at once', { holderIdentity: null }, 0);
takenAfter(
  'LT-10, L-193 if the Lease of another elector has no lease duration, a follower waits for its own lease duration',
  { leaseDurationSeconds: null },
  15_000,
);
takenAfter(
  'LT-10 if the Lease of another elector has a lease duration of 0, a follower waits for its own lease duration',
  { leaseDurationSeconds: 0 },
  15_000,
);
const absent = { acquireTime: undefined, renewTime: undefined, leaseTransitions: undefined };
takenAfter(
  'LT-10 if the Lease has a holder and no other field, a follower waits for its own lease duration',
  { ...absent, leaseDurationSeconds: undefined },
  15_000,
);
takenAfter(
  'LT-56 a follower waits for the holder of a Lease without acquireTime and leaseTransitions, such as the Lease of a kubelet',
  { acquireTime: undefined, leaseTransitions: undefined, leaseDurationSeconds: 4 },
  4_000,
);

test('LT-09 a follower takes over a Lease with an empty spec, and writes leaseTransitions 1', async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  contest.server.store.put('app', {});
  const running = a.run();
  await contest.advance(500);
  assert.equal(contest.spec()['leaseTransitions'], 1);
  await a.elector.stop();
  await running;
});

test('LT-12, L-033 of two followers that try to take over an expired Lease, one leads and the other waits for the whole lease duration', async (t) => {
  const contest = await Contest.begin(t);
  const [a, b] = ['a', 'b'].map((identity) => contest.contender(identity, { address: { token: identity } }));
  assert.ok(a !== undefined && b !== undefined);
  contest.heldBy('c');
  let cut: string | undefined;
  contest.server.script = ({ method, token }) => {
    if (token === cut) return { isLost: true };
    return method === 'GET' ? { delay: 50 } : undefined;
  };
  const running = [a.run(), b.run()];
  await contest.advance(15_300);
  const takes = contest.server.calls.filter(({ body }) => body?.spec?.['leaseTransitions'] === 4).slice(0, 2);
  assert.deepEqual([...new Set(takes.map(({ body }) => body?.metadata?.['resourceVersion']))].length, 1);
  const [won, lost] = [200, 409].map((code) => takes.find(({ answered }) => answered === code));
  assert.ok(won !== undefined && lost !== undefined);
  assert.equal(lost.reason, 'Conflict');
  const [winner, loser] = won.token === 'a' ? [a, b] : [b, a];
  assert.deepEqual([winner.terms.length, loser.terms.length], [1, 0]);

  // From now on, the test drops all requests of `winner`, the elector that has acquired the Lease. The other elector,
  // `loser`, reads the Lease for the first time, and waits until the Lease expires.
  cut = won.token;
  await contest.advance(60_000);
  const later = contest.server.calls.filter(({ token, at }) => token === lost.token && at > lost.at);
  const readAt = (later[0]?.at ?? 0) + 50;
  const take = later.find(({ method }) => method === 'PUT');
  // Exactly one lease duration after the first GET of the Lease, `loser` tries to take over the Lease. Before the PUT,
  // `loser` sends a second GET, which takes 50 ms.
  assert.equal((take?.at ?? 0) - readAt, 15_050);
  assert.equal(loser.terms.length, 1);
  assert.equal(winner.losses, 1);
  cut = undefined;
  const stops = [a.elector.stop(), b.elector.stop()];
  await contest.advance(5_000);
  await Promise.all([...stops, ...running]);
});

test("LT-13, L-067, L-070 if the leader renews the Lease between a follower's GET and PUT, the takeover fails, and the follower waits for another lease duration", async (t) => {
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

test('LT-54 followers that start together request the Lease for the second time at different times, and each follower pauses for a new random time before each further request', async (t) => {
  const contest = await Contest.begin(t);
  contest.heldBy('b', { leaseDurationSeconds: 600 });
  const random = seededRandom(7);
  const all = Array.from({ length: 100 }, (_, index) =>
    contest.contender(`f${String(index)}`, { random, address: { token: `f${String(index)}` } }),
  );
  const start = contest.clock.now();
  const running = all.map((one) => one.run());
  await contest.advance(9_000);
  const second = contest.server.calls.slice(100, 200).map(({ at }) => at - start);
  assert.ok(Math.min(...second) >= 2_000 && Math.max(...second) < 4_400);
  for (let from = 2_000; from < 4_400; from += 400) {
    const count = second.filter((at) => at >= from && at < from + 400).length;
    assert.ok(count > 4 && count < 35, `the followers made ${String(count)} attempts from ${String(from)} ms on`);
  }
  const byFollower = Map.groupBy(contest.server.calls, ({ token }) => token);
  const thirds = [...byFollower.values()].map((calls) => calls.slice(0, 3).map(({ at }) => at));
  const pauses = thirds.map(([one = 0, two = 0, three = 0]) => [two - one, three - two] as const);
  assert.equal(pauses.length, 100);
  assert.ok(pauses.every(([early, late]) => late >= 2_000 && late < 4_400 && Math.round(late - early) !== 0));
  await Promise.all([...all.map(({ elector }) => elector.stop()), ...running]);
});
