// Tests the two ways in which a leadership and the work function of the leader can end. If the work function ends
// first, the leader stops leading. If the leadership ends first, the work function continues.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leading } from '../support/contest.ts';

test("LT-37, L-097, L-101 if the leader's work returns or throws, the elector releases the Lease; if the work throws, the promise of run() rejects with its error", async (t) => {
  const { contest, a, running } = await leading(t, true);
  a.finish();
  await contest.advance(100);
  await running;
  assert.equal(contest.spec()['holderIdentity'], '');
  const again = a.runStubborn();
  await contest.advance(100);
  const rejected = assert.rejects(again, /disk full/);
  a.finish(new Error('disk full'));
  await contest.advance(100);
  await rejected;
  assert.equal(contest.spec()['holderIdentity'], '');
  const calls = contest.server.calls.length;
  await contest.advance(20_000);
  assert.equal(contest.server.calls.length, calls);
  assert.equal(await a.elector.stop(), false);
  await a.run();
  assert.equal(contest.server.calls.length, calls, 'run after stop must send nothing');
});

test("LT-37, L-094 after the leader's work has ended, the elector aborts the AbortSignal of the work, so that everything that the work has started can stop, and then releases the Lease", async (t) => {
  for (const error of [undefined, new Error('disk full')]) {
    const { contest, a, running } = await leading(t, true);
    const { signal } = a.terms[0] ?? {};
    let holderAtAbort: unknown;
    signal?.addEventListener('abort', () => (holderAtAbort = contest.spec()['holderIdentity']));
    a.finish(error);
    await Promise.allSettled([running, contest.advance(100)]);
    assert.equal(holderAtAbort, 'a');
    assert.equal((signal?.reason as { code?: string }).code, 'LAMEDUCK_ERR_NOT_LEADER');
    assert.equal(contest.spec()['holderIdentity'], '');
  }
});

test("L-102, L-142 if the leader's work still runs one lease duration after the leader sent its last acknowledged renewal, the process exits, and its elector does not contend again", async (t) => {
  const { contest, a, running } = await leading(t, true);
  const lastSent = contest.server.calls.at(-1)?.at ?? 0;
  contest.server.script = () => ({ isLost: true });
  await contest.advance(lastSent + 14_999 - contest.clock.now());
  assert.deepEqual([a.losses, a.exits], [1, 0]);
  await contest.advance(1);
  assert.equal(a.exits, 1);
  const calls = contest.server.calls.length;
  contest.server.script = () => undefined;
  await contest.advance(20_000);
  assert.equal(contest.server.calls.length, calls);
  a.finish();
  await contest.advance(1_000);
  assert.equal(a.terms.length, 2);
  const stopped = a.elector.stop();
  a.finish();
  await contest.advance(1_000);
  await Promise.all([stopped, running]);
});

test("L-142 the leader's work has one second to stop after its AbortSignal is aborted, even if the lease duration has already passed", async (t) => {
  const { contest, a, running } = await leading(t, true);
  contest.clock.block(20_000);
  await contest.advance(1);
  assert.equal(a.terms[0]?.signal.aborted, true);
  await contest.advance(998);
  assert.equal(a.exits, 0);
  await contest.advance(1);
  assert.equal(a.exits, 1);
  const stopped = a.elector.stop();
  a.finish();
  await contest.advance(1_000);
  await Promise.all([stopped, running]);
});
