// Tests how a stopped elector releases its Lease, against a simulated API server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { status } from '../../support/lease-store.ts';
import { Contest, leading } from '../support/contest.ts';

test("LT-28, L-034, L-092a, L-141, L-188, L-192 stop() of an elector aborts the leader's work, renews the Lease until the work has ended, and then releases the Lease", async (t) => {
  const { contest, a, running } = await leading(t, true);
  const before = contest.server.calls.length;
  const stopped = a.elector.stop();
  assert.equal(a.terms[0]?.signal.aborted, true);
  assert.equal(a.elector.remainingMs(), 0);
  await contest.advance(2_900);
  assert.equal(contest.spec()['holderIdentity'], 'a');
  a.finish();
  await contest.advance(100);
  assert.equal(await stopped, true);
  await running;
  assert.deepEqual(
    contest.server.calls.slice(before).map(({ method }) => method),
    ['PUT', 'GET', 'PUT'],
  );
  const { acquireTime, renewTime, ...spec } = contest.spec();
  assert.deepEqual(spec, { holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 0 });
  assert.equal(acquireTime, renewTime);
});

test('LT-28, L-054 a follower that cannot watch the Lease takes it over within 4.4 s after the leader has released it', async (t) => {
  const { contest, a, running } = await leading(t);
  const b = contest.contender('b', { random: () => 0.999 });
  const next = b.run();
  // This test produces the longest possible time without a leader. The follower reads the Lease just before the leader
  // releases the Lease. Then the follower waits for the longest random delay.
  await contest.advance(1);
  assert.equal(await a.elector.stop(), true);
  await running;
  await contest.advance(4_390);
  assert.equal(b.terms.length, 0);
  await contest.advance(10);
  assert.equal(b.terms.length, 1);
  await b.elector.stop();
  await next;
});

test('L-090, L-092, L-112 an elector that is stopped after it has lost the leadership releases the Lease only if the Lease still names it as the holder', async (t) => {
  const { contest, a, running } = await leading(t, true);
  contest.server.script = () => ({ isLost: true });
  await contest.advance(10_500);
  assert.equal(a.losses, 1);
  contest.server.script = () => undefined;
  const before = contest.server.calls.length;
  const stopped = a.elector.stop();
  await contest.advance(2_000);
  assert.equal(contest.server.calls.length, before, 'no release may begin before the work has settled');
  a.finish();
  await contest.advance(1_000);
  assert.equal(await stopped, true);
  await running;
  assert.equal(contest.server.events.length, 2, 'a term must have two Events');
  const after = contest.server.calls.slice(before).map(({ method, body }) => [method, body?.spec?.['holderIdentity']]);
  assert.deepEqual(after, [
    ['GET', undefined],
    ['PUT', ''],
  ]);
});

test("LT-29 while the leader's work ignores its AbortSignal, the elector renews the Lease, and it releases the Lease only after the work has ended", async (t) => {
  const { contest, a, running } = await leading(t, true);
  const stopped = a.elector.stop();
  await contest.advance(60_000);
  assert.equal(contest.spec()['holderIdentity'], 'a');
  assert.equal(a.losses, 0);
  assert.ok(contest.server.calls.every(({ body }) => body?.spec?.['holderIdentity'] !== ''));
  a.finish();
  await contest.advance(100);
  assert.equal(await stopped, true);
  await running;
});

const others: Readonly<Record<string, (contest: Contest) => void>> = {
  'another holder': (contest) => {
    contest.heldBy('b');
  },
  'other transitions': ({ server }) => {
    server.store.put('app', { ...server.store.current('app')?.spec, leaseTransitions: 7 });
  },
  'another acquireTime': ({ server }) => {
    server.store.put('app', { ...server.store.current('app')?.spec, acquireTime: '2026-01-02T00:00:01.000001Z' });
  },
  'another uid': ({ server }) => {
    const spec = server.store.current('app')?.spec ?? {};
    server.store.delete('app');
    server.store.put('app', spec);
  },
};

for (const [what, change] of Object.entries(others)) {
  test(`LT-30, L-092 an elector that stops does not change a Lease that another client has edited: ${what}`, async (t) => {
    const { contest, a, running } = await leading(t);
    change(contest);
    const found = JSON.stringify(contest.server.store.current('app'));
    const before = contest.server.calls.length;
    assert.equal(await a.elector.stop(), false);
    await running;
    assert.deepEqual(
      contest.server.calls.slice(before).map(({ method }) => method),
      ['GET'],
    );
    assert.equal(JSON.stringify(contest.server.store.current('app')), found);
  });
}

test('LT-31 if the PUT that releases the Lease gets a 409, the elector reads the Lease again, and stops trying if the Lease has another holder', async (t) => {
  const { contest, a, running } = await leading(t);
  let puts = 0;
  contest.server.script = ({ method }) => {
    if (method !== 'PUT') return undefined;
    if (++puts === 2) contest.heldBy('b');
    return { answer: status(409, 'Conflict', 'modified') };
  };
  const before = contest.server.calls.length;
  const stopped = a.elector.stop();
  await contest.advance(2_000);
  assert.equal(await stopped, false);
  await running;
  assert.deepEqual(
    contest.server.calls.slice(before).map(({ method }) => method),
    ['GET', 'PUT', 'GET', 'PUT', 'GET'],
  );
});

test('LT-32 an elector that stops does not create its Lease again if the Lease was deleted', async (t) => {
  const { contest, a, running } = await leading(t);
  contest.server.store.delete('app');
  const before = contest.server.calls.length;
  assert.equal(await a.elector.stop(), false);
  await running;
  assert.deepEqual(
    contest.server.calls.slice(before).map(({ method, answered }) => [method, answered]),
    [['GET', 404]],
  );
});

test('LT-32, L-090 if an elector that stops cannot read the Lease, it retries until the time limit of the release has passed, and writes nothing', async (t) => {
  const { contest, a, running } = await leading(t);
  contest.server.script = ({ method }) =>
    method === 'GET' ? { answer: status(500, 'InternalError', 'x') } : undefined;
  const [before, start] = [contest.server.calls.length, contest.clock.now()];
  let endedAt = Infinity;
  const stopped = a.elector.stop().then((isReleased) => {
    endedAt = contest.clock.now();
    return isReleased;
  });
  await contest.advance(15_000);
  assert.equal(await stopped, false);
  await running;
  assert.equal(endedAt - start, 10_000);
  const calls = contest.server.calls.slice(before);
  assert.deepEqual([...new Set(calls.map(({ method }) => method))], ['GET']);
  assert.deepEqual(
    calls.map(({ at }) => at - start),
    [0, 2_000, 4_000, 6_000, 8_000],
  );
  assert.equal(contest.spec()['holderIdentity'], 'a');
});

test("LT-33 if the API server is unreachable, stop() aborts the leader's work at once, and gives up the release of the Lease after the time limit of the release, 10 s", async (t) => {
  const { contest, a, running } = await leading(t);
  contest.server.script = () => ({ isLost: true });
  const start = contest.clock.now();
  let endedAt = Infinity;
  const stopped = a.elector.stop().then((isReleased) => {
    endedAt = contest.clock.now();
    return isReleased;
  });
  assert.equal(a.terms[0]?.signal.aborted, true);
  await contest.advance(10_500);
  assert.equal(await stopped, false);
  await running;
  assert.equal(endedAt - start, 10_000);
  assert.equal(contest.spec()['holderIdentity'], 'a');
});

test('LT-33, L-141 stop() with a time limit gives up the release of the Lease before this time limit, even if the API server is unreachable', async (t) => {
  const { contest, a, running } = await leading(t);
  contest.server.script = () => ({ isLost: true });
  const start = contest.clock.now();
  let endedAt = Infinity;
  const stopped = a.elector.stop(5_000).then(() => (endedAt = contest.clock.now()));
  await contest.advance(6_000);
  await stopped;
  await running;
  assert.ok(endedAt - start < 5_000, String(endedAt - start));
});

test("LT-29, LT-33 if the leader's work ends only after the time limit of stop(), the elector still tries to release the Lease, for at most the duration of the renew deadline", async (t) => {
  const { contest, a, running } = await leading(t, true);
  const stopped = a.elector.stop(1_000);
  await contest.advance(3_000);
  contest.server.script = () => ({ answer: status(500, 'InternalError', 'no') });
  a.finish();
  await contest.advance(6_000);
  contest.server.script = () => undefined;
  await contest.advance(3_000);
  assert.equal(await stopped, true);
  await running;
});

test('LT-34 a leader that resumes after a suspension does not overwrite the Lease of the next leader', async (t) => {
  const { contest, a, running } = await leading(t);
  contest.clock.block(20_000);
  contest.heldBy('b');
  const stolen = JSON.stringify(contest.server.store.current('app'));
  const before = contest.server.calls.length;
  const stopped = a.elector.stop();
  await contest.advance(100);
  assert.equal(await stopped, false);
  await running;
  assert.deepEqual(
    contest.server.calls.slice(before).map(({ method }) => method),
    ['GET'],
  );
  assert.equal(JSON.stringify(contest.server.store.current('app')), stolen);
});

test('LT-35, L-090 an elector that is stopped before it has ever led does not write the Lease', async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  contest.server.script = () => ({ delay: 500 });
  const running = a.run();
  await contest.advance(200);
  const stopped = a.elector.stop();
  await contest.advance(1_000);
  assert.equal(await stopped, false);
  await running;
  assert.equal(contest.server.methods, 'GET');
});

test("LT-36 if an elector acquires the Lease after it was stopped, it releases the Lease at once, and does not call the leader's work", async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  contest.heldBy('', { leaseDurationSeconds: 1 });
  contest.server.script = ({ body }) => (body?.spec?.['holderIdentity'] === 'a' ? { delay: 500 } : undefined);
  const running = a.run();
  await contest.advance(200);
  assert.equal(contest.spec()['holderIdentity'], 'a');
  const stopped = a.elector.stop();
  await contest.advance(1_000);
  assert.equal(await stopped, true);
  await running;
  assert.equal(contest.server.methods, 'GET PUT GET PUT');
  assert.equal(a.terms.length, 0);
  assert.ok(a.lines.every(({ message }) => message !== 'leadership acquired'));
  assert.equal(contest.spec()['holderIdentity'], '');
  assert.equal(contest.spec()['leaseTransitions'], 4);
});
