import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import type { WriteStream } from 'node:tty';
import { resultOf, type Result, type ScenarioResult } from '../../../src/cli/rehearsal/result.ts';
import { progressBar, Terminal } from '../../../src/cli/rehearsal/terminal.ts';

const bars: readonly [at: number, longestMs: number, bar: string][] = [
  [0, 60_000, '[----------------] at most 60 s left'],
  [15_000, 60_000, '[####------------] at most 45 s left'],
  [59_999, 60_000, '[###############-] at most 1 s left'],
  [60_000, 60_000, '[################] at most 0 s left'],
  [90_000, 60_000, '[################] at most 0 s left'],
];

for (const [at, longestMs, bar] of bars) {
  test(`the progress bar at ${String(at)} ms of ${String(longestMs)} ms is ${bar}`, () => {
    assert.equal(progressBar(at, longestMs), bar);
  });
}

test('once the pod is ready, the displayed remaining time of a rehearsal does not include the start of the pod', () => {
  let written = '';
  const stream = {
    isTTY: true,
    columns: 120,
    write: (text: string) => {
      written += text;
      return true;
    },
  };
  const terminal = new Terminal(stream as unknown as WriteStream);
  const leftAt = (at: number): string | undefined => {
    written = '';
    terminal.onEvent({ at, kind: 'requests', detail: {} });
    return /at most \d+ s left/.exec(written)?.[0];
  };
  terminal.begin(60_000, 40_000);
  assert.equal(leftAt(1_000), 'at most 99 s left');
  terminal.onEvent({ at: 2_000, kind: 'readinessChanged', detail: { isReady: true } });
  assert.equal(leftAt(3_000), 'at most 39 s left');
  terminal.onEvent({ at: 10_000, kind: 'readinessChanged', detail: { isReady: false } });
  assert.equal(leftAt(10_000), 'at most 32 s left');
});

const facts = { seed: 5, command: ['x'], leftOut: 0 };

/** Returns the lines that are printed after the last scenario. */
function tableOf(result: Result): string[] {
  let written = '';
  const stream = new Writable({
    write(chunk, _encoding, callback) {
      written += String(chunk);
      callback();
    },
  });
  new Terminal(stream as unknown as WriteStream).table(result);
  return written.split('\n');
}

test('the table of a rehearsal aligns the counts of each scenario under their headings', () => {
  const scenario = (name: string, verdict: 'clean' | 'lost', counts: readonly [number, number, number]) => {
    const [requests, lost, refused] = counts;
    const none = { reason: undefined, exit: undefined, clients: {}, notTried: [], causes: [], events: [] };
    return { ...none, name, verdict, propagationMs: 2_000, requests, lost, refused } satisfies ScenarioResult;
  };
  const results = [scenario('rollout', 'clean', [12_345, 0, 0]), scenario('blocked-loop', 'lost', [7, 120, 4_567])];
  assert.deepEqual(tableOf(resultOf(results, facts)), [
    '',
    'scenario            propagation  requests      lost   refused    verdict',
    'rollout                     2 s     12345         0         0    clean',
    'blocked-loop                2 s         7       120      4567    lost',
    'to repeat the same random choices: --seed 5',
    '',
  ]);
});

test('after the last scenario, the output of a rehearsal lists the fields of the manifest to change', () => {
  const changes = ['shop.yaml:7 spec.terminationGracePeriodSeconds: 3 -> 10'];
  assert.deepEqual(tableOf({ ...resultOf([], facts), changes }), [
    '',
    'fields of the manifest to change:',
    '  shop.yaml:7 spec.terminationGracePeriodSeconds: 3 -> 10',
    'to repeat the same random choices: --seed 5',
    '',
  ]);
});
