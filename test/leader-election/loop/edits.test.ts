// Tests what a leader does if another program edits its Lease. After some edits, the leader stops leading. After all
// other edits, it continues to lead, and overwrites the edited Lease.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Contest, leading } from '../support/contest.ts';

test('LT-20, L-083, L-111, L-112, L-185, L-191 a leader stops leading at once if another elector holds its Lease, and does not overwrite this Lease', async (t) => {
  const { contest, a, running } = await leading(t);
  contest.heldBy('b');
  const stolen = JSON.stringify(contest.server.store.current('app'));
  const sent = contest.server.calls.length;
  let abortedAt: number | undefined;
  a.terms[0]?.signal.addEventListener('abort', () => (abortedAt = contest.clock.now()));
  await contest.advance(1_000);
  assert.deepEqual(
    contest.server.calls.slice(sent, sent + 2).map(({ method, answered }) => [method, answered]),
    [['PUT', 409], ['GET', 200]], // prettier-ignore
  );
  assert.equal(abortedAt, contest.server.calls[sent + 1]?.at);
  assert.equal(a.losses, 1);
  await contest.advance(10_000);
  const later = contest.server.calls.slice(sent + 1).map(({ method }) => method);
  assert.deepEqual([...new Set(later)], ['GET'], 'no write may follow the GET that shows another holder');
  assert.equal(JSON.stringify(contest.server.store.current('app')), stolen);
  assert.equal(a.elector.leader, 'b');
  assert.equal(await a.elector.stop(), false);
  await running;
  const messages = contest.server.events.map(({ message }) => message);
  assert.deepEqual(messages, ['a became leader', 'a stopped leading']);
});

test('LT-21, L-071 a leader stops leading if another program removes the holder from the Lease, and later leads again with a greater fencing token', async (t) => {
  const { contest, a, running } = await leading(t);
  contest.heldBy('', { leaseTransitions: 0 });
  await contest.advance(3_000);
  assert.equal(a.terms[0]?.signal.aborted, true);
  assert.equal(a.lines.find(({ message }) => message === 'leadership lost')?.details['cause'], 'no holder');
  assert.equal(a.terms.length, 2);
  assert.ok(BigInt(a.terms[1]?.token ?? 0) > BigInt(a.terms[0].token));
  assert.equal(contest.spec()['leaseTransitions'], 1);
  await a.elector.stop();
  await running;
});

test('LT-22, L-072 a leader stops leading if its Lease is deleted, and then creates the Lease again and leads with a greater fencing token', async (t) => {
  const { contest, a, running } = await leading(t);
  const { uid } = contest.server.store.current('app')?.metadata ?? {};
  contest.server.store.delete('app');
  const sent = contest.server.calls.length;
  await contest.advance(1_100);
  const calls = contest.server.calls.slice(sent).map(({ method, answered }) => [method, answered]);
  assert.deepEqual(calls, [['PUT', 409], ['GET', 404], ['GET', 404], ['POST', 201], ['PUT', 200]]); // prettier-ignore
  assert.equal(contest.server.calls[sent]?.body?.metadata?.['uid'], uid);
  assert.equal(a.terms[0]?.signal.aborted, true);
  assert.equal(a.lines.find(({ message }) => message === 'leadership lost')?.details['cause'], 'deleted');
  assert.equal(a.terms.length, 2);
  assert.notEqual(contest.server.store.current('app')?.metadata.uid, uid);
  assert.equal(contest.spec()['leaseTransitions'], 0);
  assert.ok(BigInt(a.terms[1]?.token ?? 0) > BigInt(a.terms[0].token));
  await a.elector.stop();
  await running;
});

test('LT-23 a leader stops leading if another program deletes the Lease and creates it again', async (t) => {
  const { contest, a, running } = await leading(t);
  contest.server.store.delete('app');
  contest.heldBy('b');
  const sent = contest.server.calls.length;
  await contest.advance(1_500);
  assert.deepEqual(
    contest.server.calls.slice(sent, sent + 2).map(({ method, answered }) => [method, answered]),
    [['PUT', 409], ['GET', 200]], // prettier-ignore
  );
  assert.equal(a.terms[0]?.signal.aborted, true);
  assert.equal(a.lines.find(({ message }) => message === 'leadership lost')?.details['cause'], 'replaced');
  await a.elector.stop();
  await running;
});

test('LT-24, L-031, L-032 every PUT of the Lease has the uid and the resourceVersion of the last response, and a leader stops leading if its PUT gets a 201', async (t) => {
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

const repairs: Readonly<Record<string, (spec: Record<string, unknown>) => [Record<string, unknown>, object?]>> = {
  'the labels': (spec) => [spec, { labels: { edited: 'yes' } }],
  'the lease duration': (spec) => [{ ...spec, leaseDurationSeconds: 1 }],
};

for (const [what, edit] of Object.entries(repairs)) {
  test(`LT-49 a leader continues to lead if another program edits ${what} of the Lease that the leader holds`, async (t) => {
    const contest = await Contest.begin(t);
    const a = contest.contender('a');
    const running = a.run();
    await contest.advance(1_000);
    const { acquireTime } = contest.spec();
    const [spec, metadata] = edit(contest.spec());
    const edited = contest.server.store.put('app', spec, metadata as Record<string, unknown>);
    const sent = contest.server.calls.length;
    await contest.advance(1_500);
    const calls = contest.server.calls.slice(sent);
    assert.deepEqual(
      calls.map(({ method, answered }) => [method, answered]),
      [['PUT', 409], ['GET', 200], ['PUT', 200]], // prettier-ignore
    );
    assert.equal(calls[2]?.body?.metadata?.['resourceVersion'], edited.metadata.resourceVersion);
    const { leaseDurationSeconds, leaseTransitions, ...others } = contest.spec();
    assert.deepEqual([leaseDurationSeconds, leaseTransitions, others['acquireTime']], [15, 0, acquireTime]);
    assert.deepEqual(contest.server.store.current('app')?.metadata['labels'], edited.metadata['labels']);
    assert.equal(a.terms.length, 1);
    assert.equal(a.terms[0]?.isLeader(), true);
    await a.elector.stop();
    await running;
  });
}

for (const field of ['leaseTransitions', 'acquireTime'] as const) {
  test(`LT-49 a leader stops leading if another program changes ${field} in the spec of its Lease`, async (t) => {
    const contest = await Contest.begin(t);
    const a = contest.contender('a');
    const running = a.run();
    await contest.advance(1_000);
    const others = { leaseTransitions: 99, acquireTime: '2026-01-02T00:00:01.000001Z' };
    contest.server.store.put('app', { ...contest.spec(), [field]: others[field] });
    const sent = contest.server.calls.length;
    await contest.advance(1_000);
    const [renewal, check] = contest.server.calls.slice(sent);
    assert.deepEqual([renewal?.method, renewal?.answered, check?.method], ['PUT', 409, 'GET']);
    assert.equal(a.terms[0]?.signal.aborted, true);
    assert.equal(a.lines.find(({ message }) => message === 'leadership lost')?.details['cause'], 'edited');
    await a.elector.stop();
    await running;
  });
}
