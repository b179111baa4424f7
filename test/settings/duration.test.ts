import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDuration, parseDuration } from '../../src/settings/duration.ts';

const durations: Readonly<Record<string, number>> = {
  '1h': 3_600_000,
  '1m30s': 90_000,
  '1h0m1s': 3_601_000,
  '15s': 15_000,
  '1.5s': 1_500,
  '.5s': 500,
  '1.s': 1_000,
  '100ms': 100,
  '1us': 0.001,
  '1µs': 0.001,
  '1μs': 0.001,
  '1ns': 0.000001,
  '0': 0,
  '0s': 0,
  '-1s': -1_000,
  '+1s': 1_000,
  '2m2m': 240_000,
};

for (const [text, milliseconds] of Object.entries(durations)) {
  test(`the Go duration ${text} is parsed as ${String(milliseconds)} ms`, () => {
    assert.equal(parseDuration(text), milliseconds);
  });
}

const none = [
  '',
  '10',
  'abc',
  's',
  '1',
  '-',
  '1d',
  '1 s',
  ' 1s',
  '1s ',
  '1m30',
  '1,5s',
  '1e3s',
  '0x1s',
  '--1s',
  '1S',
  '.s',
];

for (const text of none) {
  test(`"${text}" is not a Go duration`, () => {
    assert.equal(parseDuration(text), undefined);
  });
}

test('after a call with an invalid duration, parseDuration() still parses the next duration correctly', () => {
  parseDuration('15s!');
  assert.equal(parseDuration('15s'), 15_000);
});

const written: readonly (readonly [number, string])[] = [
  [0, '0s'],
  [0.4, '0s'],
  [250, '250ms'],
  [999.6, '1s'],
  [1_000, '1s'],
  [2_500, '2.5s'],
  [59_999.6, '1m0s'],
  [90_000, '1m30s'],
  [3_600_000, '1h0m0s'],
  [-6_000, '-6s'],
];

for (const [milliseconds, text] of written) {
  test(`${String(milliseconds)} ms are formatted as ${text}, as Duration.String() in Go formats them`, () => {
    assert.equal(formatDuration(milliseconds), text);
  });
}

test('each duration that is written by lameduck can be parsed again', () => {
  for (const milliseconds of [1, 999, 1_001, 61_250, 86_400_000, 2 ** 31 - 1]) {
    assert.equal(Math.round(parseDuration(formatDuration(milliseconds)) ?? NaN), milliseconds);
  }
});
