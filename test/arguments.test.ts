import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkFunction, checkName, readLimit } from '../src/arguments.ts';
import type { Duration } from '../src/settings/duration.ts';

for (const name of ['a', 'warm-up', 'cache/warm-up', 'db_1.replica', 'A0']) {
  test(`checkName() accepts the name "${name}", which begins and ends with a letter or digit`, () => {
    checkName('a hook', name);
  });
}

const refused = [
  '',
  ' ',
  'a b',
  '/a',
  'a/',
  '-',
  'a?',
  'a#b',
  'a%2fb',
  'ä',
  'a\n',
  'a\u0000',
  undefined,
  null,
  1,
  {},
  ['a'],
];

for (const name of refused) {
  test(`A-040, A-055 the name ${JSON.stringify(name)} of a hook or check is rejected, and the error states the rule for names`, () => {
    assert.throws(
      () => {
        checkName('a destroy hook', name);
      },
      {
        code: 'LAMEDUCK_ERR_NAME_INVALID',
        message: /^name of a destroy hook: .*: expected letters, digits, "\.", "_", "-" and "\/"/s,
      },
    );
  });
}

test('the name of a hook or check is rejected if it cannot be serialized as JSON, like any other invalid name', () => {
  const pool: { self?: unknown } = {};
  pool.self = pool;
  assert.throws(
    () => {
      checkName('a destroy hook', pool);
    },
    { code: 'LAMEDUCK_ERR_NAME_INVALID' },
  );
});

test('only a function is accepted as a hook or a check', () => {
  checkFunction('hook', () => undefined);
  checkFunction('hook', async () => undefined);
  for (const given of [undefined, null, 'run', {}, Promise.resolve()]) {
    assert.throws(
      () => {
        checkFunction('destroy hook "pool"', given);
      },
      { code: 'LAMEDUCK_ERR_FUNCTION_INVALID', message: /^destroy hook "pool": .*: expected a function$/ },
    );
  }
});

test('the time limit of a hook is a Go duration or a number of milliseconds', () => {
  assert.equal(readLimit('timeout', '1m30s'), 90_000);
  assert.equal(readLimit('timeout', 250), 250);
});

for (const given of [0, 0.5, '0s', -1, '-1s', '10', 'soon', '600h', NaN, Infinity, '', null, true, {}]) {
  test(`the time limit ${JSON.stringify(given)} of a hook is rejected, and the error quotes the value`, () => {
    assert.throws(() => readLimit('timeout of hook "x"', given as Duration), {
      code: 'LAMEDUCK_ERR_TIMEOUT_INVALID',
      message: /^timeout of hook "x": .+: expected a duration /,
    });
  });
}
