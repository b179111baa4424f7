// Tests, against a simulated API server, what begins, extends and ends the leadership of an elector.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { status } from '../../support/lease-store.ts';
import { Contest, leading } from '../support/contest.ts';

test('LT-01, L-052, L-061, L-068, L-080, L-131 if there is no Lease, an elector creates it, renews it at once and then every 2 s', async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  const start = contest.clock.now();
  contest.server.script = ({ method }) => (method === 'POST' ? { delay: 300 } : undefined);
  const running = a.run();
  await contest.advance(299);
  assert.equal(a.terms.length, 0, 'no work may begin before the API server has answered 201');
  await contest.advance(4_300);
  assert.deepEqual(
    contest.server.calls.map(({ method, answered, at }) => [method, answered, at - start]),
    [['GET', 404, 0], ['POST', 201, 0], ['PUT', 200, 300], ['PUT', 200, 2_300], ['PUT', 200, 4_300]], // prettier-ignore
  );
  const leases = '/apis/coordination.k8s.io/v1/namespaces/ns/leases';
  const paths = contest.server.calls.map(({ path }) => path);
  assert.deepEqual(paths.slice(0, 3), [`${leases}/app`, leases, `${leases}/app`]);
  const { spec } = contest.server.calls[1]?.body ?? {};
  assert.equal(spec?.['leaseTransitions'], 0);
  assert.equal(spec['acquireTime'], spec['renewTime']);
  assert.equal(a.terms.length, 1);
  assert.equal(a.terms[0]?.token, contest.server.store.writes[0]?.lease.metadata.resourceVersion);
  assert.ok(a.elector.remainingMs() > 0);
  await a.elector.stop();
  await running;
});

test("LT-02, L-067 if a leader's PUT gets a 409, the leader sends a GET at once, and another PUT if it is still the holder of the Lease", async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  let puts = 0;
  contest.server.script = ({ method }) =>
    method === 'PUT' && ++puts === 2 ? { answer: status(409, 'Conflict', 'modified') } : undefined;
  const start = contest.clock.now();
  const running = a.run();
  await contest.advance(4_500);
  assert.equal(contest.server.methods, 'GET POST PUT PUT GET PUT PUT');
  assert.deepEqual(
    contest.server.calls.map(({ at }) => at - start),
    [0, 0, 0, 2_000, 2_000, 2_000, 4_000],
  );
  assert.equal(a.terms.length, 1);
  assert.equal(a.elector.counts.slowpaths, 1);
  await a.elector.stop();
  await running;
});

test('LT-11, L-033, L-184 if two electors create the Lease at the same time, the elector that gets a 409 begins no work, reads the Lease after a pause and waits', async (t) => {
  const contest = await Contest.begin(t);
  const random = (): number => 0.5;
  const [a, b] = ['a', 'b'].map((identity) => contest.contender(identity, { random, address: { token: identity } }));
  assert.ok(a !== undefined && b !== undefined);
  let cut: string | undefined;
  contest.server.script = ({ method, token }) => {
    if (token === cut) return { isLost: true };
    return method === 'GET' ? { delay: 100 } : undefined;
  };
  const running = [a.run(), b.run()];
  await contest.advance(1_000);
  const posts = contest.server.calls.filter(({ method }) => method === 'POST');
  assert.equal(posts.length, 2);
  const [won, lost] = [201, 409].map((code) => posts.find(({ answered }) => answered === code));
  assert.ok(won !== undefined && lost !== undefined);
  assert.equal(lost.reason, 'AlreadyExists');
  const [winner, loser] = won.token === 'a' ? [a, b] : [b, a];
  assert.deepEqual([winner.terms.length, loser.terms.length], [1, 0]);
  assert.deepEqual(
    loser.lines.map(({ message }) => message),
    [],
  );

  cut = won.token;
  await contest.advance(40_000);
  const later = contest.server.calls.filter(({ token, at }) => token === lost.token && at > lost.at);
  assert.equal(later[0]?.method, 'GET');
  // Between two reads of the Lease, a follower waits for a random time from 2 s to 4.4 s. In this test, it always waits
  // for 3.2 s.
  assert.equal(later[0].at - lost.at, 3_200);
  const take = later.find(({ method }) => method === 'PUT');
  // `loser` has read the Lease, and waits for the lease duration. Then `loser` takes over the Lease: it sends a GET,
  // which takes 100 ms, and then a PUT.
  assert.equal((take?.at ?? 0) - (later[0].at + 100), 15_100);
  assert.deepEqual([winner.terms.length, loser.terms.length], [1, 1]);
  cut = undefined;
  const stops = [a.elector.stop(), b.elector.stop()];
  await contest.advance(5_000);
  await Promise.all([...stops, ...running]);
});

test('LT-14, L-051, L-186 if a GET of the Lease fails, the elector does not write the Lease before a GET has succeeded', async (t) => {
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

test('LT-15 if the response to the creation of the Lease is lost, the elector becomes the leader at its next attempt to acquire it', async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  contest.server.script = ({ method }) => (method === 'POST' ? { isReset: true } : undefined);
  const running = a.run();
  await contest.advance(100);
  assert.equal(a.terms.length, 0);
  const { acquireTime } = contest.spec();
  // The API server responds late to the PUT that makes the elector the leader, and never responds to its renewals.
  let puts = 0;
  contest.server.script = ({ method }) => {
    if (method !== 'PUT') return undefined;
    return ++puts === 1 ? { delay: 500 } : { isLost: true };
  };
  await contest.advance(2_900);
  assert.match(contest.server.methods, /^GET POST GET PUT PUT/);
  assert.equal(a.terms.length, 1);
  assert.equal(contest.spec()['acquireTime'], acquireTime);
  assert.equal(contest.spec()['leaseTransitions'], 0);
  const sent = contest.server.calls[3]?.at ?? 0;
  assert.equal(a.elector.remainingMs(), sent + 10_000 - contest.clock.now());
  contest.server.script = () => undefined;
  await contest.advance(10_000);
  assert.equal(a.terms.length, 1);
  assert.equal(a.terms[0]?.isLeader(), true);
  await a.elector.stop();
  await running;
});

test('LT-16, L-084, L-123 if the response to a renewal is lost, the renewal neither extends nor ends the leadership', async (t) => {
  const { contest, a, running } = await leading(t);
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
  assert.notEqual(after, before, 'a connection without a response must not be used again');
  assert.equal(a.terms.length, 1);
  assert.equal(contest.spec()['leaseTransitions'], 0);
  await a.elector.stop();
  await running;
});

test('LT-17, L-054, L-087, L-124, L-187 a leader that cannot reach the API server stops leading before another elector can become the leader', async (t) => {
  const contest = await Contest.begin(t);
  const [a, b] = ['a', 'b'].map((identity) => contest.contender(identity, { address: { token: identity } }));
  assert.ok(a !== undefined && b !== undefined);
  const running = [a.run()];
  await contest.advance(100);
  running.push(b.run());
  await contest.advance(4_000);
  const lastWrite = contest.server.calls.findLast(({ token, answered }) => token === 'a' && answered === 200)?.at ?? 0;
  contest.server.script = ({ token }) => (token === 'a' ? { isLost: true } : undefined);
  await contest.advance(lastWrite + 9_999 - contest.clock.now());
  assert.equal(a.terms[0]?.signal.aborted, false);
  assert.equal(a.terms[0].isLeader(), true);
  await contest.advance(1);
  assert.equal(a.terms[0].signal.aborted, true);
  assert.equal(a.terms[0].isLeader(), false);
  assert.equal(a.elector.remainingMs(), 0);
  assert.equal(b.terms.length, 0);
  await contest.advance(20_000);
  const taken = contest.server.calls.find(({ token, method }) => token === 'b' && method !== 'GET')?.at ?? 0;
  const waited = taken - lastWrite;
  assert.ok(
    waited >= 15_000 && waited <= 15_000 + 4_400,
    `the follower took over ${String(waited)} ms after the last write of a`,
  );
  assert.equal(b.terms[0]?.isLeader(), true);
  assert.equal(a.terms.length, 1);
  contest.server.script = () => undefined;
  await contest.advance(5_000);
  const stops = [a.elector.stop(), b.elector.stop()];
  await contest.advance(5_000);
  await Promise.all([...stops, ...running]);
});

test('LT-18, L-081, L-082, L-190 the renew deadline counts from the time when the leader sent its last renewal, even if the response is late', async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a', { leaseDuration: 30_000, renewDeadline: 20_000 });
  const running = a.run();
  contest.server.script = () => ({ delay: 4_000 });
  await contest.advance(18_000);
  contest.server.script = () => ({ isLost: true });
  // From now on, the API server answers no new request. It still answers the renewal that is already in flight, and
  // this answer extends the leadership.
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

test('LT-19, L-187 failed renewals do not end the leadership before the renew deadline', async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  const running = a.run();
  await contest.advance(100);
  const [sent, start] = [contest.server.calls.length, contest.server.calls.at(-1)?.at ?? 0];
  let failures = 0;
  contest.server.script = () => (++failures <= 3 ? { answer: status(500, 'InternalError', 'x') } : undefined);
  await contest.advance(9_000);
  assert.deepEqual(
    contest.server.calls.slice(sent).map(({ method, answered, at }) => [method, answered, at - start]),
    [['PUT', 500, 2_000], ['PUT', 500, 4_000], ['PUT', 500, 6_000], ['PUT', 200, 8_000]], // prettier-ignore
  );
  assert.equal(a.terms.length, 1);
  assert.equal(a.terms[0]?.isLeader(), true);
  assert.deepEqual(a.leaders, ['a']);
  assert.equal(a.terms[0].signal.aborted, false);
  assert.equal(a.losses, 0);
  assert.equal(contest.spec()['leaseTransitions'], 0);
  await a.elector.stop();
  await running;
});

test("L-124 if a leader's renewals are stored but get no response, the leader stops leading at the renew deadline; a follower takes over a lease duration after the last stored renewal", async (t) => {
  const contest = await Contest.begin(t);
  const [a, b] = ['a', 'b'].map((identity) => contest.contender(identity, { address: { token: identity } }));
  assert.ok(a !== undefined && b !== undefined);
  const running = [a.run()];
  await contest.advance(1_500);
  const acknowledged = contest.server.calls.at(-1)?.at ?? 0;
  contest.server.script = ({ token }) => (token === 'a' ? { delay: Infinity } : undefined);
  await contest.advance(400);
  running.push(b.run());
  await contest.advance(acknowledged + 9_999 - contest.clock.now());
  assert.equal(a.terms[0]?.isLeader(), true);
  await contest.advance(1);
  assert.equal(a.terms[0].isLeader(), false);
  assert.equal(a.terms[0].signal.aborted, true);
  const stored = contest.spec()['renewTime'];
  const landed = contest.server.calls.find(({ body }) => body?.spec?.['renewTime'] === stored)?.at ?? 0;
  assert.ok(landed > acknowledged, 'a write without a response must have been stored');
  await contest.advance(20_000);
  const taken = contest.server.calls.find(({ token, method }) => token === 'b' && method === 'PUT')?.at ?? 0;
  assert.ok(
    taken >= landed + 15_000,
    `the follower took over ${String(taken - landed)} ms after the last stored write of a`,
  );
  assert.equal(b.terms.length, 1);
  contest.server.script = () => undefined;
  const stops = [a.elector.stop(), b.elector.stop()];
  await contest.advance(5_000);
  await Promise.all([...stops, ...running]);
});
