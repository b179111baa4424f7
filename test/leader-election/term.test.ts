// Terms against a small API server: how they begin, what keeps them, and what ends them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { status } from '../support/lease-store.ts';
import { Contest } from './support/contest.ts';

test('LT-01, L-052, L-061, L-080 on an empty store a leader creates the Lease, renews it at once and then every 2 s', async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  const start = contest.clock.now();
  const running = a.run();
  await contest.advance(4_500);
  assert.equal(contest.server.methods, 'GET POST PUT PUT PUT');
  assert.deepEqual(
    contest.server.calls.map(({ at }) => at - start),
    [0, 0, 0, 2_000, 4_000],
  );
  const { spec } = contest.server.calls[1]?.body ?? {};
  assert.equal(spec?.['leaseTransitions'], 0);
  assert.equal(spec['acquireTime'], spec['renewTime']);
  assert.equal(a.terms.length, 1);
  assert.ok(a.elector.remainingMs() > 0);
  await a.elector.stop();
  await running;
});

test('LT-02 a conflict with the own record is followed by a GET and a PUT in the same attempt', async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  let puts = 0;
  contest.server.script = ({ method }) =>
    method === 'PUT' && ++puts === 2 ? { answer: status(409, 'Conflict', 'modified') } : undefined;
  const running = a.run();
  await contest.advance(4_500);
  assert.equal(contest.server.methods, 'GET POST PUT PUT GET PUT PUT');
  assert.equal(a.terms.length, 1);
  assert.equal(a.elector.counts.slowpaths, 1);
  await a.elector.stop();
  await running;
});

test('LT-11, L-033, L-184 of two that create the Lease the loser fires nothing and waits', async (t) => {
  const contest = await Contest.begin(t);
  const [a, b] = [contest.contender('a'), contest.contender('b')];
  contest.server.script = ({ method }) => (method === 'GET' ? { delay: 100 } : undefined);
  const running = [a.run(), b.run()];
  await contest.advance(1_000);
  const leaders = [a, b].filter(({ elector }) => elector.remainingMs() > 0);
  assert.equal(leaders.length, 1);
  const posts = contest.server.calls.filter(({ method }) => method === 'POST');
  assert.deepEqual(
    posts.map(({ answered }) => answered).sort((one, other) => Number(one) - Number(other)),
    [201, 409],
  );
  await contest.advance(30_000);
  assert.equal(a.terms.length + b.terms.length, 1);
  const stops = [a.elector.stop(), b.elector.stop()];
  await contest.advance(1_000);
  await Promise.all([...stops, ...running]);
});

test('LT-14, L-051, L-186 no failed GET leads to a write', async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  const failures = [
    { answer: status(500, 'InternalError', 'x') },
    { answer: status(403, 'Forbidden', 'x') },
    { isReset: true },
    { delay: Infinity },
    { answer: { status: 200, body: undefined, text: '{"kind":' } },
    { answer: { status: 200, body: { kind: 'Pod', metadata: { uid: 'u', resourceVersion: '1' } } } },
    { answer: { status: 404, body: undefined, text: 'page not found' } },
  ];
  let calls = 0;
  contest.server.script = () => failures[calls++ % failures.length];
  const running = a.run();
  await contest.advance(60_000);
  assert.ok(contest.server.calls.length > failures.length * 2);
  assert.deepEqual([...new Set(contest.server.calls.map(({ method }) => method))], ['GET']);
  assert.equal(a.terms.length, 0);
  const stopped = a.elector.stop();
  await contest.advance(5_000);
  assert.equal(await stopped, false);
  await running;
});

test('LT-15 a creation whose reply is lost is taken up by the next attempt', async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  contest.server.script = ({ method }) => (method === 'POST' ? { isReset: true } : undefined);
  const running = a.run();
  await contest.advance(100);
  assert.equal(a.terms.length, 0);
  const { acquireTime } = contest.spec();
  await contest.advance(2_500);
  assert.equal(a.terms.length, 1);
  assert.equal(contest.spec()['acquireTime'], acquireTime);
  assert.equal(contest.spec()['leaseTransitions'], 0);
  await a.elector.stop();
  await running;
});

test('LT-16, L-084, L-123 a renewal whose reply is lost extends nothing and costs no term', async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  const running = a.run();
  await contest.advance(1_000);
  let isLost = false;
  contest.server.script = ({ method }) => {
    if (method !== 'PUT' || isLost) return undefined;
    isLost = true;
    return { delay: Infinity };
  };
  await contest.advance(2_000);
  assert.equal(a.elector.remainingMs(), 7_000);
  await contest.advance(3_000);
  assert.match(contest.server.methods, /PUT PUT GET PUT/);
  const lost = contest.server.calls.findIndex(({ answered }) => answered === undefined);
  const [before, after] = [contest.server.calls[lost]?.socket, contest.server.calls[lost + 1]?.socket];
  assert.notEqual(after, before, 'a connection on which no reply came is not used again');
  assert.equal(a.terms.length, 1);
  assert.equal(contest.spec()['leaseTransitions'], 0);
  await a.elector.stop();
  await running;
});

test('LT-17, L-124, L-187 a leader that reaches nobody stops by itself, before anybody else can lead', async (t) => {
  const contest = await Contest.begin(t);
  const [a, b] = [contest.contender('a'), contest.contender('b')];
  const running = [a.run()];
  await contest.advance(100);
  const lastWrite = contest.server.calls.at(-1)?.at ?? 0;
  let isCut = true;
  contest.server.script = ({ body }) =>
    isCut && body?.spec?.['holderIdentity'] !== 'b' ? { isLost: true } : undefined;
  await contest.advance(lastWrite + 9_999 - contest.clock.now());
  assert.equal(a.terms[0]?.signal.aborted, false);
  assert.equal(a.terms[0].isLeader(), true);
  await contest.advance(1);
  assert.equal(a.terms[0].signal.aborted, true);
  assert.equal(a.elector.remainingMs(), 0);
  isCut = false;
  running.push(b.run());
  await contest.advance(40_000);
  assert.equal(a.terms.length + b.terms.length, 2);
  const stops = [a.elector.stop(), b.elector.stop()];
  await contest.advance(5_000);
  await Promise.all([...stops, ...running]);
});

test('LT-18, L-081, L-082, L-190 a term counts from the sending of a write, however late its reply is', async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a', { leaseDuration: 30_000, renewDeadline: 20_000 });
  const running = a.run();
  contest.server.script = () => ({ delay: 4_000 });
  await contest.advance(18_000);
  contest.server.script = () => ({ isLost: true });
  // The reply that is under way still counts.
  await contest.advance(5_000);
  const acknowledged = contest.server.calls.filter(({ answered, method }) => answered === 200 && method === 'PUT');
  const lastSent = acknowledged.at(-1)?.at ?? 0;
  await contest.advance(lastSent + 20_000 - contest.clock.now() - 1);
  assert.equal(a.terms[0]?.signal.aborted, false);
  await contest.advance(1);
  assert.equal(a.terms[0].signal.aborted, true);
  const stopped = a.elector.stop();
  await contest.advance(30_000);
  await Promise.all([stopped, running]);
});

test('LT-19, L-187 failed renewals within the deadline cost nothing', async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  const running = a.run();
  await contest.advance(100);
  let failures = 0;
  contest.server.script = () => (++failures <= 3 ? { answer: status(500, 'InternalError', 'x') } : undefined);
  await contest.advance(9_000);
  assert.equal(a.terms.length, 1);
  assert.equal(a.terms[0]?.signal.aborted, false);
  assert.equal(a.losses, 0);
  assert.equal(contest.spec()['leaseTransitions'], 0);
  await a.elector.stop();
  await running;
});

test('LT-20, L-083, L-185, L-191 a term ends at once when somebody else holds the Lease, whose record stays untouched', async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  const running = a.run();
  await contest.advance(1_000);
  contest.heldBy('b');
  const stolen = JSON.stringify(contest.server.store.current('app'));
  await contest.advance(1_100);
  assert.equal(a.terms[0]?.signal.aborted, true);
  assert.equal(a.losses, 1);
  await contest.advance(10_000);
  assert.equal(JSON.stringify(contest.server.store.current('app')), stolen);
  assert.equal(a.elector.leader, 'b');
  assert.equal(await a.elector.stop(), false);
  await running;
});

function endsTheTerm(title: string, happen: (contest: Contest) => void, transitions: number): void {
  test(title, async (t) => {
    const contest = await Contest.begin(t);
    const a = contest.contender('a');
    const running = a.run();
    await contest.advance(1_000);
    happen(contest);
    await contest.advance(3_000);
    assert.equal(a.terms[0]?.signal.aborted, true);
    assert.equal(a.terms.length, 2);
    assert.ok(BigInt(a.terms[1]?.token ?? 0) > BigInt(a.terms[0].token));
    assert.equal(contest.spec()['leaseTransitions'], transitions);
    await a.elector.stop();
    await running;
  });
}

endsTheTerm(
  'LT-21, L-071 a Lease that somebody has blanked ends the term, and a later one has another token',
  (contest) => {
    contest.heldBy('', { leaseTransitions: 0 });
  },
  1,
);
endsTheTerm(
  'LT-22, L-072 a deleted Lease ends the term, and a later one has another token',
  (contest) => {
    contest.server.store.delete('app');
  },
  0,
);

test('LT-23 a Lease that somebody has created anew ends the term', async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  const running = a.run();
  await contest.advance(1_000);
  contest.server.store.delete('app');
  contest.heldBy('b');
  await contest.advance(1_500);
  assert.equal(a.terms[0]?.signal.aborted, true);
  assert.equal(a.lines.find(({ message }) => message === 'leadership lost')?.details['cause'], 'replaced');
  await a.elector.stop();
  await running;
});

test('LT-24, L-031, L-032 every PUT has the uid and the version of the last reply, and a 201 is no term', async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  const running = a.run();
  await contest.advance(5_000);
  const versions = contest.server.store.writes.map(({ lease }) => lease.metadata.resourceVersion);
  const puts = contest.server.calls.filter(({ method }) => method === 'PUT');
  assert.deepEqual(
    puts.map(({ body }) => body?.metadata?.['resourceVersion']),
    versions.slice(0, -1),
  );
  assert.ok(puts.every(({ body }) => typeof body?.metadata?.['uid'] === 'string'));
  contest.server.script = ({ method }) =>
    method === 'PUT' ? { answer: { status: 201, body: contest.server.store.current('app') } } : undefined;
  await contest.advance(2_000);
  assert.equal(a.terms[0]?.signal.aborted, true);
  assert.ok(a.lines.some(({ details }) => details['problem'] === 'recreated'));
  await contest.advance(10_000);
  assert.equal(a.terms.length, 1);
  const stopped = a.elector.stop();
  await contest.advance(12_000);
  await Promise.all([stopped, running]);
});

test('LT-49 an edit of labels or the duration is put right, and one of the term’s own fields ends it', async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  const running = a.run();
  await contest.advance(1_000);
  const spec = contest.spec();
  contest.server.store.put('app', { ...spec, leaseDurationSeconds: 1 }, { labels: { edited: 'yes' } });
  await contest.advance(2_000);
  assert.equal(contest.spec()['leaseDurationSeconds'], 15);
  assert.deepEqual(contest.server.store.current('app')?.metadata['labels'], { edited: 'yes' });
  assert.equal(a.terms.length, 1);
  contest.server.store.put('app', { ...contest.spec(), leaseTransitions: 99 });
  await contest.advance(2_000);
  assert.equal(a.terms[0]?.signal.aborted, true);
  await a.elector.stop();
  await running;
});
