// Tests a leader whose event loop was blocked, whose machine was suspended, or whose wall clock was set.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLameduckError } from '../../../src/errors.ts';
import { RunningTerm } from '../../../src/leader-election/loop/term.ts';
import { settled } from '../../support/fake-clock.ts';
import { Contest, leading } from '../support/contest.ts';

test('LT-46, L-095, L-104, L-133 an elector whose event loop was blocked for 20 s does not lead, even before a timer fires', async (t) => {
  const { contest, a, running } = await leading(t);
  const before = contest.server.calls.length;
  contest.clock.block(20_000);
  assert.equal(a.terms[0]?.isLeader(), false);
  assert.equal(a.elector.remainingMs(), 0);
  assert.throws(() => {
    a.terms[0]?.assertLeader();
  }, isLameduckError);
  await contest.advance(0);
  await contest.advance(1);
  assert.equal(a.terms[0].signal.aborted, true);
  await contest.advance(100);
  assert.equal(contest.server.calls[before]?.method, 'GET');
  await a.elector.stop();
  await running;
});

for (const [pause, block] of [
  [
    '20 s in which the event loop is blocked',
    (contest: Contest) => {
      contest.clock.block(20_000);
    },
  ],
  [
    'a minute in which the machine is suspended',
    (contest: Contest) => {
      contest.wallAhead = 60_000;
    },
  ],
] as const) {
  for (const how of ['returns', 'rejects'] as const)
    test(`LT-46, L-142 if the leadership expires during ${pause}, and the leader's work function ${how} before the elector notices the expiry, the elector still logs the loss of the leadership, and contends again`, async (t) => {
      const contest = await Contest.begin(t);
      const a = contest.contender('a');
      const running = a.runStubborn();
      await contest.advance(1_000);
      // The API server does not answer the next renewal. The elector is therefore waiting for an answer when the test
      // blocks the event loop or suspends the machine.
      contest.server.script = () => ({ isLost: true });
      await contest.advance(1_000);
      const before = contest.server.calls.length;
      contest.server.script = () => undefined;
      block(contest);
      contest.heldBy('b');
      try {
        a.terms[0]?.assertLeader();
      } catch (error) {
        a.finish(how === 'returns' ? undefined : (error as Error));
      }
      await contest.advance(12_000);
      assert.equal(a.losses, 1);
      const warnings = a.lines.filter(({ level, message }) => level === 'warn' && message !== 'lease watch failed');
      assert.deepEqual(
        warnings.map(({ message, details }) => [message, details['cause']]),
        [['leadership lost', 'renew deadline']],
      );
      const methods = contest.server.calls.slice(before).map(({ method }) => method);
      assert.deepEqual([...new Set(methods)], ['GET']);
      assert.equal(a.elector.leader, 'b');
      await a.elector.stop();
      await running;
    });
}

test('LT-47 if the wall clock is set back, a leader continues to lead and to renew its Lease as before', async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  const start = contest.clock.now();
  const running = a.run();
  await contest.advance(1_000);
  contest.wallAhead = -3_600_000;
  assert.equal(a.terms[0]?.isLeader(), true);
  await contest.advance(8_500);
  const puts = contest.server.calls.filter(({ method }) => method === 'PUT').map(({ at }) => at - start);
  assert.deepEqual(puts, [0, 2_000, 4_000, 6_000, 8_000]);
  assert.equal(contest.server.methods, 'GET POST PUT PUT PUT PUT PUT');
  assert.equal(a.terms[0].isLeader(), true);
  assert.deepEqual([a.terms.length, a.losses], [1, 0]);
  await a.elector.stop();
  await running;
});

test('LT-47 after the wall clock was set forward, a leader leads again only after a renewal, which succeeds only if no other elector has changed the Lease', async (t) => {
  const { contest, a, running } = await leading(t);
  const version = contest.server.store.current('app')?.metadata.resourceVersion;
  contest.wallAhead = 3_600_000;
  assert.equal(a.terms[0]?.isLeader(), false);
  const sent = contest.server.calls.length;
  await contest.quiet();
  const proof = contest.server.calls.slice(sent);
  assert.deepEqual(
    proof.map(({ method, answered, body }) => [method, answered, body?.metadata?.['resourceVersion']]),
    [['PUT', 200, version]],
  );
  assert.equal(a.terms[0].isLeader(), true);
  assert.equal(a.terms[0].signal.aborted, false);
  assert.deepEqual([a.terms.length, a.losses], [1, 0]);
  await a.elector.stop();
  await running;
});

test("LT-47, L-096 a wall clock that is set forward does not shorten a follower's wait for a held Lease", async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  contest.heldBy('b');
  const start = contest.clock.now();
  const running = a.run();
  await contest.advance(1_000);
  contest.wallAhead = 3_600_000;
  await contest.advance(16_000);
  const take = contest.server.calls.find(({ method }) => method !== 'GET');
  assert.equal((take?.at ?? 0) - start, 15_000);
  await a.elector.stop();
  await running;
});

test('LT-47, L-195 a leader whose machine was suspended stops leading if another elector has taken over its Lease meanwhile', async (t) => {
  const { contest, a, running } = await leading(t);
  contest.wallAhead = 60_000;
  contest.heldBy('b');
  const taken = JSON.stringify(contest.server.store.current('app'));
  assert.equal(a.terms[0]?.isLeader(), false);
  const sent = contest.server.calls.length;
  await contest.quiet();
  assert.deepEqual(
    contest.server.calls.slice(sent, sent + 2).map(({ method, answered }) => [method, answered]),
    [['PUT', 409], ['GET', 200]], // prettier-ignore
  );
  assert.equal(a.terms[0].signal.aborted, true);
  assert.equal(a.lines.find(({ message }) => message === 'leadership lost')?.details['cause'], 'other holder');
  await contest.advance(10_000);
  assert.equal(JSON.stringify(contest.server.store.current('app')), taken);
  assert.equal(a.elector.leader, 'b');
  await a.elector.stop();
  await running;
});

test("L-095 the leader's work is not called if the leadership ends before the call", async () => {
  let calls = 0;
  const parts = { token: '1', leaseName: 'ns/app', remainingMs: () => 0, onSettled: () => undefined };
  const running = new RunningTerm(() => calls++, parts);
  running.abort('renew deadline');
  await settled();
  assert.equal(calls, 0);
  assert.equal(running.ended?.kind, 'stopped');
});
