// Tests followers that watch the Lease.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { status } from '../../support/lease-store.ts';
import { Contest, type Contender } from '../support/contest.ts';

/** `followed()` begins a contest in which `a` leads, and `b` follows and watches the Lease. */
async function followed(
  t: Parameters<typeof Contest.begin>[0],
): Promise<{ contest: Contest; a: Contender; b: Contender; running: Promise<void>[] }> {
  const contest = await Contest.begin(t);
  contest.server.isWatchable = true;
  const [a, b] = [contest.contender('a'), contest.contender('b', { random: () => 0.5 })];
  const running = [a.run()];
  await contest.advance(1_000);
  running.push(b.run());
  await contest.advance(2_000);
  assert.equal(contest.openWatches, 1);
  return { contest, a, b, running };
}

/**
 * `ended()` stops the given elector, and resolves when all promises in `running` have resolved. They are the promises
 * of `run()`.
 */
async function ended(contest: Contest, { elector }: Contender, running: readonly Promise<void>[]): Promise<void> {
  const stopped = elector.stop();
  await contest.advance(500);
  await Promise.all([stopped, ...running]);
}

test('L-053, L-174, L-194 a follower that watches the Lease sends no GET while the leader renews it, and takes over the Lease at once when the leader releases it', async (t) => {
  const { contest, a, b, running } = await followed(t);
  await contest.advance(58_000);
  assert.equal(contest.openWatches, 1);
  const reads = contest.server.calls.filter(({ method }) => method === 'GET').length;
  assert.equal(reads, 2);
  const stopped = a.elector.stop();
  await contest.advance(500);
  assert.equal(await stopped, true);
  await contest.advance(500);
  assert.equal(b.terms.length, 1);
  assert.equal(contest.openWatches, 0, 'a leader must have no watch');
  await ended(contest, b, running);
});

test('L-053 if a watch breaks or gets a 410, the follower polls until the next watch begins', async (t) => {
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
  assert.ok(contest.server.calls.length - before > 12, 'the follower must poll without a watch');
  assert.equal(a.terms.length, 0);
  await a.elector.stop();
  await running;
});

test('L-053, L-194 if a watch sends only bookmarks, a follower waits for at most one lease duration before it takes over a released Lease', async (t) => {
  const { contest, a, b, running } = await followed(t);
  contest.server.store.onWrite = () => {
    const object = { kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', metadata: { resourceVersion: '999999' } };
    for (const watch of contest.server.watches) watch.write(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
  };
  await contest.advance(60_000);
  assert.equal(contest.openWatches, 1);
  assert.equal(b.terms.length, 0);
  const stopped = a.elector.stop();
  await contest.advance(15_500);
  assert.equal(await stopped, true);
  assert.equal(b.terms.length, 1);
  await ended(contest, b, running);
});

test('L-053 an elector that becomes the leader directly after its first GET does not start a watch of the Lease', async (t) => {
  const contest = await Contest.begin(t);
  contest.server.isWatchable = true;
  contest.heldBy('');
  const a = contest.contender('a');
  const running = a.run();
  await contest.advance(1_000);
  assert.equal(a.terms.length, 1);
  assert.equal(contest.watchesBegun, 0);
  await ended(contest, a, [running]);
});

test('L-053 a watch that has reached its timeout is started again', async (t) => {
  const { contest, a, b, running } = await followed(t);
  // From now on, the API server sends nothing on the open watches, as if their connections were lost without a FIN.
  contest.server.watches.clear();
  await contest.advance(400_000);
  assert.equal(contest.server.watches.size, 1);
  const stopped = a.elector.stop();
  await contest.advance(1_000);
  assert.equal(await stopped, true);
  assert.equal(b.terms.length, 1);
  await ended(contest, b, running);
});

const tooMany = { ...status(429, 'TooManyRequests', 'slow down'), headers: { 'retry-after': '1' } };

for (const [what, reply] of [
  ['gets a 500', { answer: status(500, 'InternalError', 'no') }],
  ['gets a 429', { answer: tooMany }],
  ['is reset', { isReset: true }],
] as const) {
  test(`L-053, L-054, L-194 if the watch reports the release of the Lease, the follower takes over the Lease within 4.4 s, even if its next GET ${what}`, async (t) => {
    const { contest, a, b, running } = await followed(t);
    const stopped = a.elector.stop();
    await contest.advance(50);
    assert.equal(await stopped, true);
    let reads = 0;
    contest.server.script = ({ method }) => (method === 'GET' && reads++ === 0 ? reply : undefined);
    await contest.advance(4_400);
    assert.equal(b.terms.length, 1);
    await ended(contest, b, running);
  });
}

test("L-053, L-194 a follower takes over an expired Lease in time, even if another program edits the Lease's annotations every second", async (t) => {
  const contest = await Contest.begin(t);
  contest.server.isWatchable = true;
  contest.heldBy('b');
  const a = contest.contender('a', { random: () => 0.5 });
  const running = a.run();
  await contest.advance(1_000);
  for (let edit = 0; edit < 15; edit++) {
    contest.server.store.put('app', contest.spec(), { annotations: { edit: String(edit) } });
    await contest.advance(1_000);
  }
  assert.equal(a.terms.length, 1);
  await ended(contest, a, [running]);
});
