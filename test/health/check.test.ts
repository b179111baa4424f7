import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLameduckError } from '../../src/errors.ts';
import { runCheck, type CheckResult } from '../../src/health/check.ts';
import { FakeClock, settled } from '../support/fake-clock.ts';

function run(answer: () => unknown, clock = new FakeClock()): CheckResult | Promise<CheckResult> {
  return runCheck({ name: 'database', run: answer }, clock, 900);
}

async function failureOf(answer: () => unknown): Promise<Error> {
  const result = await run(answer);
  assert.ok(isLameduckError(result), 'the check passed');
  assert.equal(result.code, 'LAMEDUCK_ERR_CHECK_FAILED');
  return result;
}

for (const value of [undefined, null, 0, '', true, NaN, {}]) {
  test(`P-083 a check that returns or resolves with ${typeof value} ${JSON.stringify(value)} passes`, async () => {
    assert.equal(
      run(() => value),
      undefined,
    );
    assert.equal(await run(async () => value), undefined);
  });
}

test('P-083 a check that returns or resolves with false fails', async () => {
  assert.equal((await failureOf(() => false)).message, 'check "database" failed: it returned false');
  assert.equal((await failureOf(async () => false)).message, 'check "database" failed: it returned false');
});

test('P-083 a check that throws or rejects fails, and its error is the cause', async () => {
  const cause = new Error('connection refused');
  const thrown = await failureOf(() => {
    throw cause;
  });
  const rejected = await failureOf(() => Promise.reject(cause));
  for (const failure of [thrown, rejected]) {
    assert.equal(failure.message, 'check "database" failed: connection refused');
    assert.equal(failure.cause, cause);
  }
});

const nonErrors: readonly unknown[] = [
  'down',
  0,
  undefined,
  null,
  Symbol('down'),
  { toString: 1 },
  Object.create(null),
];

for (const [index, cause] of nonErrors.entries()) {
  test(`P-083 a check that throws or rejects with what is no Error fails (${String(index)}: ${typeof cause})`, async () => {
    const thrown = await failureOf(() => {
      throw cause;
    });
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
    const rejected = await failureOf(() => Promise.reject(cause));
    for (const failure of [thrown, rejected]) assert.match(failure.message, /^check "database" failed: /);
  });
}

test('P-081, P-083 a check that hangs has failed at its limit, not before', async () => {
  const clock = new FakeClock();
  const results: CheckResult[] = [];
  void Promise.resolve(run(() => new Promise(() => undefined), clock)).then((result) => results.push(result));
  await clock.advance(899);
  assert.equal(results.length, 0);
  await clock.advance(1);
  assert.equal(results[0]?.message, 'check "database" failed: no answer within 900ms');
});

test('a check that has answered leaves no timer behind', async () => {
  const clock = new FakeClock();
  await run(async () => true, clock);
  await run(() => Promise.reject(new Error('down')), clock);
  assert.equal(clock.pending.all, 0);
});

test('a check that rejects after its limit is nobody’s unhandled rejection', async () => {
  const clock = new FakeClock();
  const late = Promise.withResolvers<never>();
  const result = run(() => late.promise, clock);
  await clock.advance(900);
  assert.match((await result)?.message ?? '', /no answer within/);
  late.reject(new Error('too late'));
  // The runner fails the file for a rejection that nobody handles.
  await settled();
});

test('a check that answers at once is answered at once, without a promise', () => {
  assert.equal(run(() => true) instanceof Promise, false);
  assert.equal(run(() => false) instanceof Promise, false);
});

test('any thenable is waited for', async () => {
  const thenable = {
    then: (resolve: (value: boolean) => void) => {
      resolve(false);
    },
  };
  assert.match((await failureOf(() => thenable)).message, /returned false/);
});
