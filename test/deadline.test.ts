import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deadline } from '../src/deadline.ts';
import { FakeClock, settled } from './support/fake-clock.ts';

function createDeadline(milliseconds: number): { clock: FakeClock; deadline: Deadline; isReached: () => boolean } {
  const clock = new FakeClock();
  const deadline = new Deadline(clock, clock.now() + milliseconds);
  let reached = false;
  void deadline.reached.then(() => (reached = true));
  return { clock, deadline, isReached: () => reached };
}

test('a deadline resolves its promise and aborts its AbortSignal exactly at the time for which it is set', async () => {
  const { clock, deadline, isReached } = createDeadline(1_000);
  await clock.advance(999);
  assert.deepEqual([deadline.signal.aborted, isReached()], [false, false]);
  await clock.advance(1);
  assert.deepEqual([deadline.signal.aborted, isReached()], [true, true]);
});

test('K-166 Deadline.shorten() moves the deadline of a shutdown to an earlier time', async () => {
  const { clock, deadline, isReached } = createDeadline(10_000);
  const at = clock.now() + 500;
  deadline.shorten(at);
  assert.equal(deadline.at, at);
  await clock.advance(500);
  assert.equal(isReached(), true);
  assert.equal(clock.pending.all, 0);
});

test('K-166 Deadline.shorten() never moves the deadline of a shutdown to a later time', async () => {
  const { clock, deadline, isReached } = createDeadline(1_000);
  const { at } = deadline;
  deadline.shorten(at + 60_000);
  assert.equal(deadline.at, at);
  await clock.advance(1_000);
  assert.equal(isReached(), true);
});

test('a deadline in the past takes effect at once', async () => {
  const { clock, isReached } = createDeadline(-5_000);
  await clock.advance(0);
  assert.equal(isReached(), true);
});

test('P-073 after Deadline.clear(), a deadline has no effect, and Deadline.shorten() starts no timer', async () => {
  const { clock, deadline, isReached } = createDeadline(1_000);
  deadline.clear();
  assert.equal(clock.pending.all, 0);
  deadline.shorten(clock.now() + 10);
  assert.equal(clock.pending.all, 0);
  await clock.advance(2_000);
  await settled();
  assert.deepEqual([deadline.signal.aborted, isReached()], [false, false]);
});
