// Tests followers whose Lease is deleted while another elector holds it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Contest, type Contender } from '../support/contest.ts';

/** `followed()` starts two electors that contend for one Lease: `a` is the leader, and `b` is a follower. */
async function followed(
  t: Parameters<typeof Contest.begin>[0],
  isWatchable: boolean,
): Promise<{ contest: Contest; a: Contender; b: Contender; running: Promise<void>[] }> {
  const contest = await Contest.begin(t);
  contest.server.isWatchable = isWatchable;
  const [a, b] = ['a', 'b'].map((identity) => contest.contender(identity, { address: { token: identity } }));
  assert.ok(a !== undefined && b !== undefined);
  const running = [a.run()];
  await contest.advance(1_000);
  running.push(b.run());
  await contest.advance(4_000);
  assert.equal(a.terms[0]?.isLeader(), true);
  return { contest, a, b, running };
}

for (const isWatchable of [true, false]) {
  const means = isWatchable ? 'a watch' : 'polling';

  test(`L-072 if the Lease of a leader is deleted, a follower that notices the deletion by ${means} does not lead before the old leader has stopped leading`, async (t) => {
    const { contest, a, b, running } = await followed(t, isWatchable);
    contest.server.store.delete('app');
    for (let step = 0; step < 200; step++) {
      await contest.advance(50);
      assert.ok(
        a.elector.remainingMs() === 0 || b.elector.remainingMs() === 0,
        `two electors lead at step ${String(step)}`,
      );
    }
    // At its next renewal, the elector `a` learns that the Lease was deleted, and stops leading. Then `a` creates the
    // Lease again and leads for the second time.
    assert.deepEqual([a.losses, a.terms.length, b.terms.length], [1, 2, 0]);
    const stops = [a, b].map(({ elector }) => elector.stop());
    await contest.advance(1_000);
    await Promise.all([...stops, ...running]);
  });

  test(`L-072 if the Lease is deleted, a follower that notices the deletion by ${means} creates the Lease again when the Lease that it last saw has expired`, async (t) => {
    const { contest, a, b, running } = await followed(t, isWatchable);
    const renewed = contest.server.calls.findLast(({ token, method }) => token === 'a' && method === 'PUT')?.at ?? 0;
    contest.server.script = ({ token }) => (token === 'a' ? { isLost: true } : undefined);
    await contest.advance(1_500);
    contest.server.store.delete('app');
    await contest.advance(20_000);
    const created = contest.server.calls.find(({ token, method }) => token === 'b' && method === 'POST');
    assert.equal(created?.answered, 201);
    const waited = created.at - renewed;
    assert.ok(
      waited >= 15_000 && waited <= 17_000,
      `the follower created the Lease ${String(waited)} ms after the last renewal`,
    );
    assert.deepEqual([a.losses, b.terms.length], [1, 1]);
    contest.server.script = () => undefined;
    const stops = [a, b].map(({ elector }) => elector.stop());
    await contest.advance(5_000);
    await Promise.all([...stops, ...running]);
  });
}
