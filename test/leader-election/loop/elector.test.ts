// Tests the callbacks, metrics and Kubernetes Events of an elector. The environment variable RENEWALS sets how many
// renewals one of the tests makes.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { settled } from '../../support/fake-clock.ts';
import { until } from '../../support/until.ts';
import { ElectionLog } from '../../../src/leader-election/loop/election-log.ts';
import { status } from '../../support/lease-store.ts';
import { Contest, leading } from '../support/contest.ts';
import { electionOf } from '../support/election.ts';
import { countingResources } from '../support/resources.ts';

const renewals = Number(process.env['RENEWALS'] ?? 1_000);

test('LT-38, L-100, L-193 onLeaderChange is called once for each change of the leader, even if earlier calls have thrown; for a Lease without a holder, it is not called', async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('c', {
    onLeaderChange: () => {
      throw new Error('thrown');
    },
  });
  const running = (contest.heldBy('a'), a.run());
  for (const holder of ['a', 'b', 'b', 'a']) {
    contest.heldBy(holder);
    await contest.advance(3_000);
  }
  contest.server.store.put('app', { holderIdentity: '', leaseDurationSeconds: 1, strategy: 'x' });
  await contest.advance(3_000);
  assert.deepEqual(a.leaders, ['a', 'b', 'a']);
  assert.equal(a.elector.leader, 'a');
  assert.equal(a.lines.filter(({ message }) => message === 'leader change listener failed').length, 3);
  await a.elector.stop();
  await running;
});

test('LT-38, L-100 an error in onLeaderChange, thrown or rejected, is logged and has no other effect', async () => {
  const lines: string[] = [];
  const note = (_details: object, message: string): void => {
    lines.push(message);
  };
  const failing = [
    () => {
      throw new Error('thrown');
    },
    () => Promise.reject(new Error('rejected')),
  ];
  for (const listener of failing)
    new ElectionLog({ info: note, warn: note, error: note }, electionOf('a'), listener).noteLeader('b');
  await settled();
  assert.deepEqual(lines.sort(), [
    'leader change listener failed',
    'leader change listener failed',
    'leader changed',
    'leader changed',
  ]);
});

test('LT-40 a second call of run() does not reset the counter of slow renewals', async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  let isFirst = true;
  contest.server.script = ({ method }) => {
    if (method !== 'PUT' || !isFirst) return undefined;
    isFirst = false;
    return { answer: status(409, 'Conflict', 'modified') };
  };
  for (let round = 0; round < 2; round++) {
    const running = a.runStubborn();
    await contest.advance(1_000);
    assert.equal(a.elector.counts.slowpaths, 1);
    a.finish();
    await contest.advance(1_000);
    await running;
  }
});

test('LT-40, L-085 the leader gauge is 1 while the elector leads, and otherwise 0', async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  assert.equal(a.elector.counts.isLeader, false);
  const running = a.run();
  await contest.advance(1_000);
  assert.equal(a.elector.counts.isLeader, true);
  assert.equal(a.elector.counts.renewalAgeMs, 1_000);
  assert.equal(a.elector.counts.slowpaths, 0);
  await a.elector.stop();
  await running;
  assert.equal(a.elector.counts.isLeader, false);
  assert.equal(a.elector.counts.renewalAgeMs, undefined);

  const again = contest.contender('b');
  const lost = again.run();
  await contest.advance(1_000);
  assert.equal(again.elector.counts.isLeader, true);
  contest.heldBy('c');
  await contest.advance(2_000);
  assert.equal(again.elector.counts.isLeader, false, 'the leader gauge must be 0 after a loss of leadership');
  assert.equal(again.elector.counts.slowpaths, 0, 'a renewal that fails is not a slow renewal');
  await again.elector.stop();
  await lost;
});

test('LT-41, L-111, L-112 an elector creates a Kubernetes Event when it becomes the leader and another when it stops leading; renewals do not wait for these Events', async (t) => {
  const { contest, a, running } = await leading(t);
  const stopped = a.elector.stop();
  await contest.advance(1_000);
  await stopped;
  await running;
  await settled();
  const told = contest.server.events.map(({ type, reason, message }) => ({ type, reason, message }));
  assert.deepEqual(told, [
    { type: 'Normal', reason: 'LeaderElection', message: 'a became leader' },
    { type: 'Normal', reason: 'LeaderElection', message: 'a stopped leading' },
  ]);
  for (const { apiVersion, kind, metadata, involvedObject } of contest.server.events) {
    assert.deepEqual([apiVersion, kind], ['v1', 'Event']);
    assert.equal((metadata as Record<string, unknown>)['namespace'], 'ns');
    const { uid } = contest.server.store.current('app')?.metadata ?? {};
    const object = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', name: 'app', namespace: 'ns', uid };
    assert.deepEqual(involvedObject, object);
  }
  const path = '/api/v1/namespaces/ns/events';
  assert.deepEqual(contest.server.eventCalls, [`POST ${path}`, `POST ${path}`]);
  const names = contest.server.events.map(({ metadata }) => (metadata as Record<string, unknown>)['name']);
  assert.equal(new Set(names).size, 2);
});

test('LT-41, L-112 renewals do not wait for the responses to Events, and after a 403 no further Events are created', async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  contest.server.eventStatus = Infinity;
  contest.ignoresEvents = true;
  const running = a.runStubborn();
  const start = contest.clock.now();
  await contest.advance(8_500);
  const puts = contest.server.calls.filter(({ method }) => method === 'PUT').map(({ at }) => at - start);
  assert.deepEqual(puts, [0, 2_000, 4_000, 6_000, 8_000]);
  assert.equal(contest.server.events.length, 1);
  contest.server.eventStatus = 403;
  a.finish();
  await contest.advance(1_000);
  await running;
  await until(() => contest.server.events.length === 2);
  const again = a.runStubborn();
  await contest.advance(1_000);
  assert.equal(a.terms.length, 2);
  a.finish();
  await contest.advance(1_000);
  await again;
  assert.equal(contest.server.events.length, 2);
});

test('LT-51, L-130, L-131, L-183, L-195 the fencing token is greater after each of 20 changes of the leader, even after a release or a deletion of the Lease', async (t) => {
  const contest = await Contest.begin(t);
  const tokens: bigint[] = [];
  for (let round = 0; round < 20; round++) {
    if (round === 10) contest.server.store.delete('app');
    // The two identities acquire the Lease in the order a, a, b, b, a, a, and so on. `leaseTransitions` grows each
    // time, even if the same identity acquires the Lease again.
    const one = contest.contender(Math.floor(round / 2) % 2 === 0 ? 'a' : 'b');
    const running = one.run();
    await contest.advance(500);
    tokens.push(BigInt(one.terms[0]?.token ?? 0));
    assert.equal(contest.spec()['leaseTransitions'], round < 10 ? round : round - 10);
    await one.elector.stop();
    await running;
  }
  for (const [index, token] of tokens.slice(1).entries()) assert.ok(token > (tokens[index] ?? token));
});

test('LT-39, L-103 the livez check of an elector fails when the last renewal is older than the sum of the lease duration and 20 s', async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  const [follower, unstarted] = [contest.contender('b'), contest.contender('c')];
  const running = a.runStubborn();
  await contest.advance(100);
  const lastSent = contest.server.calls.at(-1)?.at ?? 0;
  const following = follower.run();
  await contest.advance(100);
  contest.server.script = () => ({ isLost: true });
  const check = (): void => {
    a.elector.checkRenewals();
  };
  await contest.advance(lastSent + 35_000 - contest.clock.now());
  check();
  await contest.advance(1);
  assert.throws(check, { message: 'the leader has not renewed the Lease app in time' });
  await contest.advance(60_000);
  follower.elector.checkRenewals();
  unstarted.elector.checkRenewals();
  a.finish();
  const stopped = [a.elector.stop(), follower.elector.stop()];
  await contest.advance(20_000);
  await Promise.all([...stopped, running, following]);
});

test('if run() of an elector is called without a function, it rejects at once and sends no request', async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  await assert.rejects(a.elector.run(undefined as never), { code: 'LAMEDUCK_ERR_FUNCTION_INVALID' });
  assert.equal(contest.server.calls.length, 0);
});

test('if run() of an elector is called while an earlier call of run() has not ended, the second call rejects', async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  const running = a.run();
  await contest.advance(500);
  await assert.rejects(a.run(), { code: 'LAMEDUCK_ERR_ELECTOR_RUNNING' });
  await a.elector.stop();
  await running;
});

test('LT-57 the number of handles, sockets, timers and event listeners does not grow during many renewals of three electors, and after stop() no elector has any left', async (t) => {
  const count = countingResources(t);
  const contest = await Contest.begin(t);
  const [a, ...followers] = ['a', 'b', 'c'].map((token) => contest.contender(token, { address: { token } }));
  assert.ok(a !== undefined);
  const running = [a.run()];
  await contest.advance(1_000);
  running.push(...followers.map((one) => one.run()));
  await contest.advance(60_000);
  const timers = contest.clock.pending.all;
  const { active, listeners } = count();
  const written = contest.server.store.writes.length + renewals;
  while (contest.server.store.writes.length < written) await contest.advance(600_000);
  assert.equal(contest.clock.pending.all, timers);
  // Each elector sends all its requests on one connection.
  const connections = new Set(contest.server.calls.map(({ token, socket }) => `${String(token)} ${String(socket)}`));
  assert.equal(connections.size, 3);
  assert.ok(count().active <= active);
  assert.ok(
    listeners > 10 && count().listeners <= listeners,
    `the process has ${String(count().listeners)} listeners, and had ${String(listeners)} before`,
  );
  assert.equal(getEventListeners(a.terms[0]?.signal as AbortSignal, 'abort').length, 1);
  assert.deepEqual([a.terms.length, ...followers.map(({ terms }) => terms.length)], [1, 0, 0]);
  const stops = [...followers, a].map(({ elector }) => elector.stop());
  await contest.advance(1_000);
  await Promise.all([...stops, ...running]);
  await settled();
  assert.equal(contest.clock.pending.all, 0);
});

test('LT-52, L-170 an elector that cannot reach the API server does not affect nine other electors in its process', async (t) => {
  const contest = await Contest.begin(t);
  const all = Array.from({ length: 10 }, (_, index) => contest.contender('a', { name: `app${String(index)}` }));
  const running = all.map((one) => one.run());
  await contest.advance(1_000);
  contest.server.script = ({ path }) => (path.endsWith('/app3') ? { isLost: true } : undefined);
  await contest.advance(12_000);
  assert.deepEqual(
    all.map(({ terms }) => terms[0]?.signal.aborted),
    all.map((_, index) => index === 3),
  );
  assert.deepEqual(
    all.map(({ elector }) => elector.counts.isLeader),
    all.map((_, index) => index !== 3),
  );
  contest.server.script = () => undefined;
  await contest.advance(15_000);
  await Promise.all([...all.map(({ elector }) => elector.stop()), ...running]);
});
