// Tests which fields the status line of `lameduck rehearse` shows on terminals of different widths.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statusLine, statusOf } from '../../../src/cli/rehearsal/status-line.ts';

const none = { sent: 0, inFlight: 0, lost: 0, refused: 0 };

for (const [at, longestMs, expected] of [
  [0, 60_000, '[----------------] at most 60 s left'],
  [15_000, 60_000, '[####------------] at most 45 s left'],
  [59_999, 60_000, '[###############-] at most 1 s left'],
  [60_000, 60_000, '[################] at most 0 s left'],
  [90_000, 60_000, '[################] at most 0 s left'],
] as const) {
  test(`the progress bar at ${String(at)} ms of ${String(longestMs)} ms is ${expected}`, () => {
    const { bar, left } = statusOf(at, longestMs, none);
    assert.equal(`${bar} ${left}`, expected);
  });
}

const counts = { sent: 2_017, inFlight: 40, lost: 12, refused: 481 };

for (const [width, expected] of [
  [120, '[####------------] at most 45 s left  2017 requests, 40 in flight, 12 lost, 481 refused'],
  [80, '[####------------] at most 45 s left  2017 requests, 12 lost, 481 refused'],
  [70, 'at most 45 s left  2017 requests, 12 lost, 481 refused'],
  [40, 'at most 45 s left  12 lost, 481 refused'],
  [20, '12 lost, 481 refused'],
  [8, '12 lost'],
  [4, ''],
] as const) {
  test(`in ${String(width)} characters, the status line of a rehearsal is ${expected === '' ? 'empty' : expected}`, () => {
    assert.equal(statusLine(statusOf(15_000, 60_000, counts), width), expected);
  });
}
