import assert from 'node:assert/strict';
import { test } from 'node:test';
import { progressBar } from '../../../src/cli/rehearsal/terminal.ts';

const bars: readonly [at: number, longestMs: number, bar: string][] = [
  [0, 60_000, '[----------------] at most 60 s left'],
  [15_000, 60_000, '[####------------] at most 45 s left'],
  [59_999, 60_000, '[###############-] at most 1 s left'],
  [60_000, 60_000, '[################] at most 0 s left'],
  [90_000, 60_000, '[################] at most 0 s left'],
];

for (const [at, longestMs, bar] of bars) {
  test(`the progress bar of ${String(at)} ms of ${String(longestMs)} ms is ${bar}`, () => {
    assert.equal(progressBar(at, longestMs), bar);
  });
}
