// Tests the time limit of a hook, and what can end a hook before its time limit.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '../../src/clock.ts';
import { runHook, type HookFunction } from '../../src/hooks/hook.ts';
import { FakeClock, settled } from '../support/fake-clock.ts';
import { codeOf, hangs, hookOf, outcomeOf } from '../support/hooks-under-test.ts';

/**
 * `blockable()` returns a fake clock, and a function that advances this clock synchronously. On the fake clock, a hook
 * that calls this function seems to have blocked the event loop.
 */
function blockable(): { clock: Clock; block: (milliseconds: number) => void } {
  const clock = new FakeClock();
  let blocked = 0;
  return {
    clock: {
      now: () => clock.now() + blocked,
      after: (...given) => clock.after(...given),
      afterUnref: (...given) => clock.afterUnref(...given),
    },
    block: (milliseconds) => (blocked += milliseconds),
  };
}

test('A-061, P-095, P-098 a hook that does not end fails at its time limit, and its AbortSignal is aborted with the error of this failure', async () => {
  const clock = new FakeClock();
  let signal: AbortSignal | undefined;
  const hook = hookOf((context) => {
    ({ signal } = context);
    return hangs();
  });
  const outcome = outcomeOf(runHook(hook, { clock, limit: 3_000 }));
  await clock.advance(2_999);
  assert.equal(signal?.aborted, false);
  assert.ok(!('failure' in outcome), 'the hook must not end before its time limit');
  await clock.advance(1);
  assert.equal(codeOf(outcome.failure), 'LAMEDUCK_ERR_HOOK_TIMED_OUT');
  assert.equal(outcome.failure?.error.message, 'destroy hook "pool" had not ended after 3s');
  assert.equal(signal.aborted, true);
  assert.equal(signal.reason, outcome.failure.error);
});

test('a hook that ends exactly at its time limit has timed out, and a hook that ends a millisecond earlier has not', async () => {
  for (const [takes, code] of [
    [100, 'LAMEDUCK_ERR_HOOK_TIMED_OUT'],
    [99, undefined],
  ] as const) {
    const clock = new FakeClock();
    const hook = hookOf(() => new Promise<void>((resolve) => clock.after(takes, resolve)));
    const outcome = outcomeOf(runHook(hook, { clock, limit: 100 }));
    await clock.advance(100);
    assert.ok('failure' in outcome);
    assert.equal(outcome.failure && codeOf(outcome.failure), code);
    assert.equal(clock.pending.all, 0);
  }
});

for (const [what, run] of Object.entries<(block: () => void) => HookFunction>({
  'a synchronous hook': (block) => block,
  'an asynchronous hook': (block) => async () => {
    await Promise.resolve();
    block();
  },
})) {
  test(`a hook that blocks the process for its whole time limit times out, and a hook that blocks for one millisecond less does not: ${what}`, async () => {
    for (const [takes, code] of [
      [5_000, 'LAMEDUCK_ERR_HOOK_TIMED_OUT'],
      [100, 'LAMEDUCK_ERR_HOOK_TIMED_OUT'],
      [99, undefined],
    ] as const) {
      const { clock, block } = blockable();
      let signal: AbortSignal | undefined;
      const blocks = run(() => {
        block(takes);
      });
      const hook = hookOf((context) => {
        ({ signal } = context);
        return blocks(context);
      });
      const failure = await runHook(hook, { clock, limit: 100 });
      assert.equal(failure && codeOf(failure), code);
      assert.equal(signal?.aborted, code !== undefined);
      if (failure === undefined) continue;
      assert.equal(failure.error.message, 'destroy hook "pool" had not ended after 100ms');
      assert.equal(signal.reason, failure.error);
    }
  });
}

test('if a hook blocks the process for longer than its time limit and then throws, it is reported as failed and not as timed out', async () => {
  const { clock, block } = blockable();
  const hook = hookOf(() => {
    block(5_000);
    throw new Error('no pool');
  });
  assert.equal(codeOf(await runHook(hook, { clock, limit: 100 })), 'LAMEDUCK_ERR_HOOK_FAILED');
});

test('the time for which one hook blocks the event loop does not count against the time limits of the other hooks', async () => {
  const { clock, block } = blockable();
  const blocks = hookOf(() => {
    block(5_000);
  });
  const hooks = [hookOf(() => undefined), blocks, hookOf(() => undefined), hookOf(async () => Promise.resolve())];
  const failures = await Promise.all(hooks.map(async (hook) => runHook(hook, { clock, limit: 100 })));
  assert.deepEqual(
    failures.map((failure) => failure !== undefined),
    [false, true, false, false],
  );
});

test('a synchronous hook is called even if the shutdown budget has ended; the hook succeeds if it returns before its own time limit, and otherwise times out', async () => {
  for (const [takes, code] of [
    [2_999, undefined],
    [3_000, 'LAMEDUCK_ERR_HOOK_TIMED_OUT'],
  ] as const) {
    const { clock, block } = blockable();
    const hook = hookOf(() => {
      block(takes);
    });
    const failure = await runHook(hook, { clock, limit: 0 });
    assert.equal(failure && codeOf(failure), code);
  }
});

test('at the time limit of a hook, the shutdown stops waiting for the hook, even if the hook ignores its AbortSignal', async () => {
  const clock = new FakeClock();
  let hasHeard = false;
  const hook = hookOf(({ signal }) => {
    signal.addEventListener('abort', () => (hasHeard = true));
    return hangs();
  });
  const outcome = outcomeOf(runHook(hook, { clock, limit: 100 }));
  await clock.advance(100);
  assert.ok(hasHeard);
  assert.equal(codeOf(outcome.failure), 'LAMEDUCK_ERR_HOOK_TIMED_OUT');
  assert.equal(clock.pending.all, 0);
});

test('a hook that ends because its AbortSignal was aborted at its time limit counts as timed out', async () => {
  const clock = new FakeClock();
  const hook = hookOf(
    ({ signal }) =>
      new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => {
          resolve();
        });
      }),
  );
  const outcome = outcomeOf(runHook(hook, { clock, limit: 100 }));
  await clock.advance(100);
  assert.equal(codeOf(outcome.failure), 'LAMEDUCK_ERR_HOOK_TIMED_OUT');
});

test('a hook that rejects after its limit causes no unhandled rejection', async () => {
  const clock = new FakeClock();
  const late = Promise.withResolvers<never>();
  const outcome = outcomeOf(
    runHook(
      hookOf(() => late.promise),
      { clock, limit: 100 },
    ),
  );
  await clock.advance(100);
  late.reject(new Error('too late'));
  // If lameduck did not handle the rejection of this hook's promise, the test runner would report this test file as
  // failed.
  await settled();
  assert.equal(codeOf(outcome.failure), 'LAMEDUCK_ERR_HOOK_TIMED_OUT');
});

test('if the time limit of a hook is Infinity, the lifecycle waits until the hook has ended, and sets no timer for the hook', async () => {
  const clock = new FakeClock();
  const end = Promise.withResolvers<undefined>();
  const outcome = outcomeOf(
    runHook(
      hookOf(() => end.promise),
      { clock, limit: Infinity },
    ),
  );
  await clock.advance(3_600_000);
  assert.ok(!('failure' in outcome));
  assert.equal(clock.pending.all, 0);
  end.resolve(undefined);
  await settled();
  assert.ok('failure' in outcome);
  assert.equal(outcome.failure, undefined);
});

test('if the shutdown budget ends before the time limit of a running hook, the hook times out at the end of the budget', async () => {
  const clock = new FakeClock();
  const cut = new AbortController();
  const outcome = outcomeOf(runHook(hookOf(hangs), { clock, limit: 3_000, cut: cut.signal }));
  await clock.advance(10);
  cut.abort();
  await settled();
  assert.equal(codeOf(outcome.failure), 'LAMEDUCK_ERR_HOOK_TIMED_OUT');
  assert.equal(
    outcome.failure?.error.message,
    'destroy hook "pool" had not ended after 10ms, when the shutdown budget ended',
  );
  assert.equal(clock.pending.all, 0);
});

test('if the shutdown budget has ended, a hook is still called; the hook succeeds if it ends in the turn of the event loop in which it was called, and otherwise times out', async () => {
  const clock = new FakeClock();
  const cut = AbortSignal.abort();
  const hooks: readonly (readonly [HookFunction, string | undefined])[] = [
    [() => undefined, undefined],
    [async () => Promise.resolve().then(() => Promise.resolve()), undefined],
    [hangs, 'LAMEDUCK_ERR_HOOK_TIMED_OUT'],
  ];
  for (const [run, code] of hooks) {
    let wasCalled = false;
    const hook = hookOf((context) => {
      wasCalled = true;
      return run(context);
    });
    const outcome = outcomeOf(runHook(hook, { clock, limit: 3_000, cut }));
    await clock.advance(0);
    assert.ok(wasCalled);
    assert.equal(outcome.failure && codeOf(outcome.failure), code);
  }
});

for (const limit of [100, Infinity]) {
  test(`A-046 if a hook rejects because its AbortSignal was aborted at the end of the lifecycle, the hook does not count as failed (time limit of the hook: ${String(limit)} ms)`, async () => {
    const clock = new FakeClock();
    const stop = new AbortController();
    let wasTold = false;
    const hook = hookOf(
      ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            wasTold = true;
            reject(new Error('stopped'));
          });
        }),
    );
    const outcome = outcomeOf(runHook(hook, { clock, limit, stop: stop.signal }));
    await settled();
    stop.abort();
    await settled();
    assert.ok(wasTold);
    assert.ok('failure' in outcome);
    assert.equal(outcome.failure, undefined);
  });
}

test('A-046 if a hook is still running when the lifecycle ends, the hook does not count as timed out, and the timer of its time limit is cleared', async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const outcome = outcomeOf(runHook(hookOf(hangs), { clock, limit: 100, stop: stop.signal }));
  await settled();
  stop.abort();
  await settled();
  assert.equal(clock.pending.all, 0);
  await clock.advance(100);
  assert.equal(outcome.failure, undefined);
});
