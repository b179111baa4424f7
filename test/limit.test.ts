import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readLimit } from '../src/limit.ts';
import type { Duration } from '../src/settings/duration.ts';

test('a limit is a Go duration or a number of milliseconds', () => {
  assert.equal(readLimit('timeout', '1m30s'), 90_000);
  assert.equal(readLimit('timeout', 250), 250);
});

for (const given of [0, '0s', -1, '-1s', '10', 'soon', NaN, Infinity, '', null, true, {}]) {
  test(`a limit of ${JSON.stringify(given)} is refused with what was given`, () => {
    assert.throws(() => readLimit('timeout of hook "x"', given as Duration), {
      code: 'LAMEDUCK_ERR_TIMEOUT_INVALID',
      message: `timeout of hook "x": ${typeof given === 'number' ? String(given) : JSON.stringify(given)}: allowed is a duration above 0s`,
    });
  });
}
