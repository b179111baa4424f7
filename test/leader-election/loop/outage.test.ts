// Tests electors while their API server is unavailable for a long time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Contest } from '../support/contest.ts';

for (const isWatchable of [false, true]) {
  const means = isWatchable ? 'a watch' : 'polling';
  test(`L-051, L-124 if the API server is unreachable for ten minutes, no process exits and no livez check fails (followers observe the Lease by ${means})`, async (t) => {
    const contest = await Contest.begin(t);
    contest.server.isWatchable = isWatchable;
    const [a, b] = [contest.contender('a'), contest.contender('b', { random: () => 0.5 })];
    const running = [a.run()];
    await contest.advance(1_000);
    running.push(b.run());
    await contest.advance(10_000);
    assert.equal(a.terms.length + b.terms.length, 1);

    contest.server.script = () => ({ isLost: true });
    contest.server.isWatchable = false;
    for (const watch of contest.server.watches) watch.destroy();
    const sent = contest.server.calls.length;
    for (let second = 0; second < 600; second++) {
      await contest.advance(1_000);
      for (const { elector, exits } of [a, b]) {
        elector.checkRenewals();
        assert.equal(exits, 0);
        if (second >= 10) assert.equal(elector.remainingMs(), 0);
      }
    }
    assert.ok(contest.server.calls.length > sent + 100, 'both electors must continue to contend');

    contest.server.script = () => undefined;
    contest.server.isWatchable = isWatchable;
    await contest.advance(30_000);
    assert.equal(a.terms.length + b.terms.length, 2, 'one elector must lead again after the outage');
    assert.equal(a.exits + b.exits, 0);
    const stops = [a.elector.stop(), b.elector.stop()];
    await contest.advance(1_000);
    await Promise.all([...stops, ...running]);
  });
}

test('L-124 after an outage of the API server, a follower that knows the Lease takes it over after one GET; a new process first waits for a lease duration', async (t) => {
  const contest = await Contest.begin(t);
  const [old, fresh] = ['old', 'fresh'].map((identity) =>
    contest.contender(identity, { address: { token: identity } }),
  );
  assert.ok(old !== undefined && fresh !== undefined);
  contest.heldBy('c');
  const running = [old.run()];
  await contest.advance(1_000);
  contest.server.script = () => ({ isLost: true });
  await contest.advance(60_000);
  assert.equal(old.terms.length, 0);
  const back = contest.clock.now();
  const served = (token: string) => contest.server.calls.filter((call) => call.token === token && call.at >= back);
  // At first, only the new process `fresh` can reach the API server, and `old` cannot. `fresh` reads the Lease, which
  // still names the holder `c`.
  contest.server.script = ({ token }) => (token === 'old' ? { isLost: true } : undefined);
  running.push(fresh.run());
  await contest.advance(1_000);
  assert.deepEqual([...new Set(served('fresh').map(({ method }) => method))], ['GET']);
  contest.server.script = () => undefined;
  await contest.advance(6_000);
  const [get, put] = served('old').filter(({ answered }) => answered === 200);
  assert.deepEqual([get?.method, put?.method], ['GET', 'PUT']);
  assert.equal(put?.at, get?.at);
  assert.deepEqual([old.terms.length, fresh.terms.length], [1, 0]);
  const stops = [old.elector.stop(), fresh.elector.stop()];
  await contest.advance(1_000);
  await Promise.all([...stops, ...running]);
});
