import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import type { WriteStream } from 'node:tty';
import { resultOf, type Result, type ScenarioResult } from '../../../src/cli/rehearsal/result.ts';
import { Terminal } from '../../../src/cli/rehearsal/terminal.ts';

/** Returns the stream of a terminal. If `columns` is undefined, the terminal does not tell its width. */
function terminalOf(columns: number | undefined, onWrite: (text: string) => void): WriteStream {
  const write = (text: string): boolean => {
    onWrite(text);
    return true;
  };
  return { isTTY: true, columns, write } as unknown as WriteStream;
}

test('once the pod is ready, the displayed remaining time of a rehearsal does not include the start of the pod', () => {
  let written = '';
  const terminal = new Terminal(
    terminalOf(120, (text) => {
      written += text;
    }),
  );
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

for (const [columns, expected] of [
  [40, 'at most 40 s left  12 lost, 481 refused'],
  [80, '[----------------] at most 40 s left  2017 requests, 12 lost, 481 refused'],
  [120, '[----------------] at most 40 s left  2017 requests, 40 in flight, 12 lost, 481 refused'],
  [0, '[----------------] at most 40 s left  2017 requests, 12 lost, 481 refused'],
  [undefined, '[----------------] at most 40 s left  2017 requests, 12 lost, 481 refused'],
] as const) {
  test(`on a terminal with ${String(columns)} columns, the last field of the status line of a rehearsal is complete`, () => {
    let written = '';
    const terminal = new Terminal(
      terminalOf(columns, (text) => {
        written = text;
      }),
    );
    terminal.begin(0, 40_000);
    terminal.onEvent({ at: 0, kind: 'requests', detail: { sent: 2_017, inFlight: 40, lost: 12, refused: 481 } });
    assert.equal(written, expected);
  });
}

const facts = { seed: 5, command: ['x'], leftOut: 0 };

/** Returns the lines that are printed after the last scenario. */
function scenario(name: string, verdict: 'clean' | 'lost', counts: readonly [number, number, number]): ScenarioResult {
  const [requests, lost, refused] = counts;
  const none = { reason: undefined, exit: undefined, clients: {}, notTried: [], causes: [], notes: [], events: [] };
  return { ...none, name, verdict, propagationMs: 2_000, requests, lost, refused };
}

function tableOf(result: Result): string[] {
  return outputOf((terminal) => {
    terminal.table(result);
  });
}

function outputOf(print: (terminal: Terminal) => void): string[] {
  let written = '';
  const stream = new Writable({
    write(chunk, _encoding, callback) {
      written += String(chunk);
      callback();
    },
  });
  print(new Terminal(stream as unknown as WriteStream));
  return written.split('\n');
}

test('the table of a rehearsal aligns the counts of each scenario under their headings', () => {
  const results = [scenario('rollout', 'clean', [12_345, 0, 0]), scenario('blocked-loop', 'lost', [7, 120, 4_567])];
  assert.deepEqual(tableOf(resultOf(results, facts)), [
    '',
    'scenario            propagation  requests      lost   refused    verdict',
    'rollout                     2 s     12345         0         0    clean',
    'blocked-loop                2 s         7       120      4567    lost',
    'to repeat this rehearsal with the same random values: --seed 5',
    '',
  ]);
});

test('the output of several scenarios ends with a list of the changes to make in the manifest', () => {
  const changes = ['shop.yaml:7 spec.terminationGracePeriodSeconds: 3 -> 10 (rollout, overload)'];
  const results = ['rollout', 'overload'].map((name) => scenario(name, 'lost', [1, 1, 0]));
  assert.deepEqual(tableOf({ ...resultOf(results, facts), changes }).slice(-5), [
    '',
    'changes of the manifest for all scenarios:',
    '  shop.yaml:7 spec.terminationGracePeriodSeconds: 3 -> 10 (rollout, overload)',
    'to repeat this rehearsal with the same random values: --seed 5',
    '',
  ]);
});

test('the verdict of a single scenario says for each cause which field of the manifest to change', () => {
  const change = 'shop.yaml:7 spec.terminationGracePeriodSeconds: 3 -> 10';
  const cause = { name: 'gracePeriodTooShort', text: 'it was killed', remedy: 'Raise it.', changes: [change] };
  const lines = outputOf((terminal) => {
    terminal.verdict({ ...scenario('rollout', 'lost', [1, 1, 0]), causes: [cause] });
  });
  assert.deepEqual(lines.slice(2, 5), ['  cause:  it was killed', '  remedy: Raise it.', `  change: ${change}`]);
});
