import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DrainRateLimiter } from '../../../src/http/long-running/drain-rate-limiter.ts';

/**
 * momentsOf returns the next `count` times at which the rate limiter lets the drain end one long-running request. It
 * asserts that the rate limiter does not let the drain end this request 0.001 ms earlier.
 */
function momentsOf(limiter: DrainRateLimiter, count: number): number[] {
  return Array.from({ length: count }, () => {
    const { next } = limiter;
    assert.equal(limiter.take(next - 0.001), false, 'the rate limiter must not let a request end early');
    assert.equal(limiter.take(next), true);
    return next;
  });
}

test('A-140 the drain ends the first long-running request at once and then one every 5 ms, unless this rate is too low to end all of them within shutdownWatchTerminationGracePeriod', () => {
  const limiter = new DrainRateLimiter(3, 10_000, 1_000);
  assert.equal(limiter.rate, 200);
  assert.deepEqual(momentsOf(limiter, 4), [1_000, 1_005, 1_010, 1_015]);
});

test('A-140 if 200 long-running requests per second are too few to end all within shutdownWatchTerminationGracePeriod, the drain ends them faster, at an even rate within this period', () => {
  assert.equal(new DrainRateLimiter(5_000, 25_000, 0).rate, 200);
  assert.equal(new DrainRateLimiter(5_001, 25_000, 0).rate, 5_001 / 25);
  const moments = momentsOf(new DrainRateLimiter(50_000, 10_000, 0), 50_000);
  assert.ok(Math.max(...moments.slice(-1)) <= 10_000);
  assert.ok(moments.every((moment, index) => index === 0 || moment - (moments[index - 1] as number) < 0.201));
});

test('A-140 after the event loop was blocked, the rate limiter lets the drain end at once all long-running requests whose time came during the block', () => {
  const limiter = new DrainRateLimiter(10, 10_000, 0);
  const taken = Array.from({ length: 20 }, () => limiter.take(50)).filter(Boolean).length;
  assert.equal(taken, 11);
  assert.equal(limiter.next, 55);
});

test('A-135 if shutdownWatchTerminationGracePeriod is 0, the rate limiter lets the drain end all long-running requests immediately', () => {
  const limiter = new DrainRateLimiter(10, 0, 7);
  assert.deepEqual(momentsOf(limiter, 3), [7, 7, 7]);
});
