// Tests a leader after its event loop was blocked, its machine was suspended, or its clock was set.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLameduckError } from '../../src/errors.ts';
import { Contest } from './support/contest.ts';

test('LT-46, L-104, L-133 a loop that was blocked for 20 s does not lead, before any timer fires', async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  const running = a.run();
  await contest.advance(1_000);
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
    'a block of 20 s',
    (contest: Contest) => {
      contest.clock.block(20_000);
    },
  ],
  [
    'a suspension of a minute',
    (contest: Contest) => {
      contest.wallAhead = 60_000;
    },
  ],
] as const) {
  test(`LT-46, L-142 a loss is reported as one if the work is the first to notice it after ${pause}`, async (t) => {
    const contest = await Contest.begin(t);
    const a = contest.contender('a');
    const running = a.runStubborn();
    await contest.advance(1_000);
    // The process is paused while it waits for the reply to a renewal.
    contest.server.script = () => ({ isLost: true });
    await contest.advance(1_000);
    const before = contest.server.calls.length;
    contest.server.script = () => undefined;
    block(contest);
    contest.heldBy('b');
    try {
      a.terms[0]?.assertLeader();
    } catch (error) {
      a.finish(error as Error);
    }
    await contest.advance(12_000);
    assert.equal(a.losses, 1);
    const warnings = a.lines.filter(({ level }) => level === 'warn');
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

test('LT-47 a wall clock that is set back changes nothing, and one that is set forward needs a proof', async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  const running = a.run();
  await contest.advance(1_000);
  contest.wallAhead = -3_600_000;
  assert.equal(a.terms[0]?.isLeader(), true);
  await contest.advance(2_000);
  contest.wallAhead = 0;
  assert.equal(a.terms[0].isLeader(), false);
  const sent = contest.server.calls.length;
  await contest.quiet();
  assert.deepEqual(
    contest.server.calls.slice(sent).map(({ method }) => method),
    ['PUT'],
  );
  assert.equal(a.terms[0].isLeader(), true);
  assert.equal(a.terms.length, 1);
  // The machine was suspended for a minute, and b has become the leader meanwhile.
  contest.wallAhead = 60_000;
  contest.heldBy('b');
  assert.equal(a.terms[0].isLeader(), false);
  const again = contest.server.calls.length;
  await contest.quiet();
  assert.deepEqual(
    contest.server.calls.slice(again, again + 2).map(({ method }) => method),
    ['PUT', 'GET'],
  );
  assert.equal(a.terms[0].signal.aborted, true);
  await a.elector.stop();
  await running;
});
