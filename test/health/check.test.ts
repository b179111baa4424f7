import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLameduckError } from '../../src/errors.ts';
import { Check, type CheckFunction, type CheckResult } from '../../src/health/check.ts';
import { FakeClock, settled } from '../support/fake-clock.ts';

function createCheck(answer: CheckFunction, clock = new FakeClock()): Check {
  return new Check('database', answer, { clock, checkTimeout: 900 });
}

function run(answer: CheckFunction, clock?: FakeClock): CheckResult | Promise<CheckResult> {
  return createCheck(answer, clock).run();
}

async function failureOf(answer: CheckFunction): Promise<Error> {
  const result = await run(answer);
  assert.ok(isLameduckError(result), 'the check passed');
  assert.equal(result.code, 'LAMEDUCK_ERR_CHECK_FAILED');
  return result;
}

const hangs = (): Promise<never> => new Promise(() => undefined);

for (const value of [undefined, null, 0, '', true, NaN, {}]) {
  test(`P-083 a health check that returns or resolves with ${typeof value} ${JSON.stringify(value)} passes`, async () => {
    assert.equal(
      run(() => value),
      undefined,
    );
    assert.equal(await run(async () => value), undefined);
  });
}

test('P-083 a health check that returns or resolves with false fails', async () => {
  assert.equal((await failureOf(() => false)).message, 'check "database" failed: the check returned false');
  assert.equal((await failureOf(async () => false)).message, 'check "database" failed: the check returned false');
});

test('P-083 a health check that throws or rejects fails, and its error is the cause', async () => {
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

test('the reason of a failed health check is cut at 1000 characters, and the original error is kept whole', async () => {
  const cause = new Error('x'.repeat(5_000_000));
  const failure = await failureOf(() => {
    throw cause;
  });
  assert.equal(
    failure.message,
    `check "database" failed: ${'x'.repeat(1_000)}… (the first 1000 of 5000000 characters)`,
  );
  assert.equal(failure.cause, cause);
  const text = await failureOf(() => Promise.reject(new Error('x'.repeat(1_000))));
  assert.equal(text.message, `check "database" failed: ${'x'.repeat(1_000)}`);
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
  test(`P-083 a health check that throws or rejects with a value that is not an Error fails (${String(index)}: ${typeof cause})`, async () => {
    const thrown = await failureOf(() => {
      throw cause;
    });
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
    const rejected = await failureOf(() => Promise.reject(cause));
    for (const failure of [thrown, rejected]) assert.match(failure.message, /^check "database" failed: /);
  });
}

test('P-081, P-083 a health check that hangs fails at its time limit, and not before', async () => {
  const clock = new FakeClock();
  const results: CheckResult[] = [];
  void Promise.resolve(run(hangs, clock)).then((result) => results.push(result));
  await clock.advance(899);
  assert.equal(results.length, 0);
  await clock.advance(1);
  assert.equal(results[0]?.message, 'check "database" failed: no answer within 900ms');
});

test('when a health check has finished, the timer of its time limit is cleared', async () => {
  const clock = new FakeClock();
  await run(async () => true, clock);
  await run(() => Promise.reject(new Error('down')), clock);
  assert.equal(clock.pending.all, 0);
});

test('a health check that rejects after its time limit causes no unhandled rejection', async () => {
  const clock = new FakeClock();
  const late = Promise.withResolvers<never>();
  const result = run(() => late.promise, clock);
  await clock.advance(900);
  assert.match((await result)?.message ?? '', /no answer within/);
  late.reject(new Error('too late'));
  // The promise of this check rejects after the time limit of the check. If lameduck did not handle this rejection, the
  // test runner would report this test file as failed.
  await settled();
});

test('the result of a synchronous health check is available at once, without a promise', () => {
  assert.equal(run(() => true) instanceof Promise, false);
  assert.equal(run(() => false) instanceof Promise, false);
});

test('a health check can return any thenable', async () => {
  const thenable = {
    then: (resolve: (value: boolean) => void) => {
      resolve(false);
    },
  };
  assert.match((await failureOf(() => thenable)).message, /returned false/);
});

const evil: readonly (readonly [string, () => unknown])[] = [
  [
    'throws an error whose message cannot be read',
    () => {
      throw Object.defineProperty(new Error(), 'message', { get: () => assert.fail('no message') });
    },
  ],
  [
    'throws an error whose message is a symbol',
    () => {
      throw Object.assign(new Error(), { message: Symbol('down') });
    },
  ],
  [
    'returns a proxy that throws when a property is looked up',
    () => new Proxy({}, { has: () => assert.fail('no has') }),
  ],
  [
    'returns an object whose property `then` throws at the second read',
    () => Object.defineProperty({}, 'then', { get: once(() => () => undefined) }),
  ],
  [
    'returns a thenable that throws',
    () => ({
      then() {
        throw new Error('not even a promise');
      },
    }),
  ],
];

function once<Value>(get: () => Value): () => Value {
  let isFirst = true;
  return () => {
    if (!isFirst) throw new Error('asked twice');
    isFirst = false;
    return get();
  };
}

for (const [what, answer] of evil) {
  test(`P-083 if a health check ${what}, it fails, and its caller gets no exception`, async () => {
    await failureOf(answer);
  });
}

test('the AbortSignal of a health check is aborted at its time limit, and not before', async () => {
  const clock = new FakeClock();
  const signals: AbortSignal[] = [];
  const result = run(({ signal }) => {
    signals.push(signal);
    return hangs();
  }, clock);
  await clock.advance(899);
  assert.equal(signals[0]?.aborted, false);
  await clock.advance(1);
  assert.equal(signals[0].aborted, true);
  assert.equal(signals[0].reason, await result);
});

test('the AbortSignal of a health check that has finished is not aborted', async () => {
  const clock = new FakeClock();
  let signal: AbortSignal | undefined;
  const answer: CheckFunction = async (context) => {
    ({ signal } = context);
  };
  await run(answer, clock);
  await clock.advance(10_000);
  assert.equal(signal?.aborted, false);
});

test('P-081 a health check whose AbortSignal is aborted at the time limit, and which then rejects, is reported as timed out', async () => {
  const clock = new FakeClock();
  const result = run(
    ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          reject(new Error('given up'));
        });
      }),
    clock,
  );
  await clock.advance(900);
  assert.match((await result)?.message ?? '', /no answer within 900ms$/);
});

test('P-082 a probe during a run of a health check gets the result of that run, and a later probe starts a new run', async () => {
  const runs: PromiseWithResolvers<boolean>[] = [];
  const check = createCheck(() => {
    const next = Promise.withResolvers<boolean>();
    runs.push(next);
    return next.promise;
  });
  const first = Array.from({ length: 100 }, async () => check.run());
  assert.equal(runs.length, 1);
  runs[0]?.resolve(false);
  const results = await Promise.all(first);
  assert.equal(new Set(results).size, 1);
  assert.match(results[0]?.message ?? '', /returned false/);

  const second = check.run();
  assert.equal(runs.length, 2);
  runs[1]?.resolve(true);
  assert.equal(await second, undefined);
});

test('P-082 a probe that arrives just after the end of a run of a health check starts a new run, even if both happen in the same turn of the event loop', async () => {
  let runs = 0;
  const check = createCheck(async () => {
    runs++;
  });
  await Promise.resolve(check.run()).then(() => check.run());
  assert.equal(runs, 2);
});

test('P-082 after a run of a health check has timed out, a probe starts a new run, even if the old run has not ended', async () => {
  const clock = new FakeClock();
  const runs: PromiseWithResolvers<boolean>[] = [];
  const check = createCheck(() => {
    const next = Promise.withResolvers<boolean>();
    runs.push(next);
    return next.promise;
  }, clock);
  const first = check.run();
  await clock.advance(900);
  assert.match((await first)?.message ?? '', /no answer/);
  const second = check.run();
  assert.equal(runs.length, 2);
  runs[0]?.resolve(true);
  await settled();
  runs[1]?.resolve(false);
  assert.match((await second)?.message ?? '', /returned false/);
});
