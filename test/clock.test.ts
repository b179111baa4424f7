import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock, timedOut, wait, withTimeout } from '../src/clock.ts';
import { FakeClock, settled } from './support/fake-clock.ts';

function heldTimers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
}

test("P-074 setting the system time does not change the time on lameduck's clock", (context) => {
  let timeOfDay = 0;
  context.mock.method(Date, 'now', () => timeOfDay);
  const before = systemClock.now();
  timeOfDay = 86_400_000;
  const after = systemClock.now();
  assert.ok(after >= before && after - before < 60_000);
});

test('P-073 a timer of the system clock keeps the process alive until the timer is cancelled', () => {
  const before = heldTimers();
  const cancel = systemClock.after(60_000, () => undefined);
  assert.equal(heldTimers(), before + 1);
  cancel();
  assert.equal(heldTimers(), before);
});

test('P-073 a timer with holdsProcess false does not keep the process alive', () => {
  const before = heldTimers();
  const cancel = systemClock.afterUnref(60_000, () => undefined);
  assert.equal(heldTimers(), before);
  cancel();
});

test('timers of the system clock run in the order in which they are due, and a cancelled timer does not run', async () => {
  const calls: string[] = [];
  await new Promise<void>((resolve) => {
    // This timer lasts 500 ms, so that it cannot run before the 1 ms timer. On a busy machine, tens of milliseconds may
    // pass before the test starts the 1 ms timer.
    systemClock.after(500, () => {
      calls.push('later');
      resolve();
    });
    const cancel = systemClock.after(2, () => calls.push('cancelled'));
    systemClock.after(1, () => calls.push('sooner'));
    cancel();
  });
  assert.deepEqual(calls, ['sooner', 'later']);
});

test('a timer of the system clock never runs before its duration has passed', async () => {
  const early: number[] = [];
  const run = (milliseconds: number): Promise<void> =>
    new Promise((resolve) => {
      const since = systemClock.now();
      systemClock.after(milliseconds, () => {
        const took = systemClock.now() - since;
        if (took < milliseconds) early.push(milliseconds - took);
        resolve();
      });
    });
  for (let round = 0; round < 30; round++) await Promise.all([1, 1.4, 2.9, 5, 7.7].map(run));
  assert.deepEqual(early, []);
});

test("a timer of the system clock may have a longer duration than Node supports, and does not run after 1 ms, as Node's own timer would", async () => {
  let hasRun = false;
  const run = (): void => {
    hasRun = true;
  };
  const cancels = [systemClock.after(2 ** 31, run), systemClock.afterUnref(2 ** 31, run)];
  // If the duration of a timer is more than 2 ** 31 - 1 ms, Node runs the timer after only 1 ms.
  await wait(systemClock, 20);
  for (const cancel of cancels) cancel();
  assert.equal(hasRun, false);
});

test('wait() of clock.ts resolves when its duration has passed on the given clock', async () => {
  const clock = new FakeClock();
  let isOver = false;
  void wait(clock, 100).then(() => (isOver = true));
  await clock.advance(99);
  assert.equal(isOver, false);
  await clock.advance(1);
  assert.equal(isOver, true);
});

test('wait() of clock.ts resolves at once when its AbortSignal is aborted, and cancels its timer', async () => {
  const clock = new FakeClock();
  const abort = new AbortController();
  let isOver = false;
  void wait(clock, 100, abort.signal).then(() => (isOver = true));
  await settled();
  assert.equal(isOver, false);
  abort.abort();
  await settled();
  assert.equal(isOver, true);
  await wait(clock, 100, abort.signal);
  assert.equal(clock.pending.all, 0);
});

test('if a promise settles within the time limit, withTimeout returns its result or throws its error, and cancels its timer', async () => {
  const clock = new FakeClock();
  assert.equal(await withTimeout(clock, Promise.resolve('done'), 100), 'done');
  await assert.rejects(withTimeout(clock, Promise.reject(new Error('broken')), 100), /broken/);
  assert.equal(clock.pending.all, 0);
});

test('if a promise is still pending at the time limit, withTimeout resolves with timedOut, and ignores how the promise ends later', async () => {
  const clock = new FakeClock();
  let fail = (_error: Error): void => undefined;
  const late = new Promise<string>((_resolve, reject) => {
    fail = reject;
  });
  const outcome = withTimeout(clock, late, 100);
  await clock.advance(100);
  assert.equal(await outcome, timedOut);
  fail(new Error('nobody waits for this'));
  await settled();
});
