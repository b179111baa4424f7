import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  backoffDefaults,
  capped,
  delayUntil,
  reducedDecay,
  stepped,
  type Backoff,
  type BackoffLimits,
} from '../../../src/cli/rehearsal/backoff.ts';

// Returns the back-off delay before each restart of a container, in seconds. `runs` lists how long each successive run
// of the container lasts, in seconds.
function delays(runs: readonly number[], limits: BackoffLimits): number[] {
  let backoff: Backoff | undefined;
  let now = 0;
  return runs.map((seconds) => {
    const finishedAt = now + seconds * 1_000;
    const delay = delayUntil(backoff, finishedAt, finishedAt);
    now = finishedAt + delay;
    backoff = stepped(backoff, finishedAt, now, limits);
    return delay / 1_000;
  });
}

const vectors = [
  { runs: [1, 1, 1, 1, 1, 1, 1, 1], limits: backoffDefaults, delays: [0, 10, 20, 40, 80, 160, 300, 300] },
  { runs: [1, 1, 601, 1], limits: backoffDefaults, delays: [0, 10, 0, 10] },
  { runs: [1, 1, 590, 1], limits: backoffDefaults, delays: [0, 10, 20, 40] },
  { runs: [1, 1], limits: capped(backoffDefaults, 5_000), delays: [0, 5] },
  { runs: [1, 1, 1], limits: reducedDecay, delays: [0, 1, 2] },
];

for (const { runs, limits, delays: expected } of vectors) {
  test(`K-142, K-143, K-146 if the initial back-off is ${String(limits.initial)} ms, a container whose successive runs last ${runs.join(', ')} s waits ${expected.join(', ')} s before its restarts`, () => {
    assert.deepEqual(delays(runs, limits), expected);
  });
}

test('K-148 after a kill for a failed probe, the back-off delay counts from the end of the run before the killed one, and may have passed already', () => {
  const backoff = stepped(undefined, 1_000, 1_000);
  assert.equal(delayUntil(backoff, 1_000, 12_000), 0);
  assert.equal(delayUntil(backoff, 1_000, 5_000), 6_000);
});
