import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLameduckError } from '../../src/errors.ts';
import { runHook, type Hook, type HookContext, type HookFunction } from '../../src/hooks/hook.ts';
import type { HookFailure } from '../../src/observer.ts';
import { FakeClock, settled } from '../support/fake-clock.ts';

function hookOf(run: HookFunction): Hook {
  return { kind: 'destroy', name: 'pool', run, timeout: 3_000 };
}

function hangs(): Promise<never> {
  return new Promise(() => undefined);
}

/** outcomeOf tells what a hook's run has come to so far. */
function outcomeOf(run: Promise<HookFailure | undefined>): { failure?: HookFailure | undefined } {
  const outcome: { failure?: HookFailure | undefined } = {};
  void run.then((failure) => (outcome.failure = failure));
  return outcome;
}

function codeOf(failure: HookFailure | undefined): string {
  assert.ok(isLameduckError(failure?.error), 'the hook has not failed');
  return failure.error.code;
}

test('P-098 a hook is called with the reason and an AbortSignal that is not aborted', async () => {
  const contexts: (HookContext & { wasAborted: boolean })[] = [];
  const hook = hookOf((context) => contexts.push({ ...context, wasAborted: context.signal.aborted }));
  assert.equal(await runHook(hook, { clock: new FakeClock(), limit: 100 }, 'SIGTERM'), undefined);
  assert.equal(contexts.length, 1);
  assert.equal(contexts[0]?.reason, 'SIGTERM');
  assert.equal(contexts[0].wasAborted, false);
});

test('whatever a hook returns, it has ended well, and no timer is left', async () => {
  const clock = new FakeClock();
  for (const value of [undefined, false, 0, new Error('returned')]) {
    assert.equal(
      await runHook(
        hookOf(() => value),
        { clock, limit: 100 },
      ),
      undefined,
    );
    assert.equal(
      await runHook(
        hookOf(async () => value),
        { clock, limit: 100 },
      ),
      undefined,
    );
  }
  assert.equal(clock.pending.all, 0);
});

test('A-060, P-095 a hook that throws or rejects has failed, with its error as the cause', async () => {
  const cause = new Error('no connection');
  const throwing = hookOf(() => {
    throw cause;
  });
  for (const hook of [throwing, hookOf(() => Promise.reject(cause))]) {
    const failure = await runHook(hook, { clock: new FakeClock(), limit: 100 });
    assert.equal(codeOf(failure), 'LAMEDUCK_ERR_HOOK_FAILED');
    assert.equal(failure?.error.message, 'destroy hook "pool" failed: no connection');
    assert.equal(failure.error.cause, cause);
    assert.deepEqual([failure.kind, failure.name], ['destroy', 'pool']);
  }
});

for (const cause of ['text', undefined, null, Symbol('no text'), Object.create(null) as unknown]) {
  test(`a hook that rejects with what is no Error has failed like any other (${typeof cause})`, async () => {
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
    const hook = hookOf(() => Promise.reject(cause));
    assert.equal(codeOf(await runHook(hook, { clock: new FakeClock(), limit: 100 })), 'LAMEDUCK_ERR_HOOK_FAILED');
  });
}

test('A-061, P-095, P-098 a hook that hangs has failed at its limit, and its AbortSignal is aborted with that error', async () => {
  const clock = new FakeClock();
  let signal: AbortSignal | undefined;
  const hook = hookOf((context) => {
    ({ signal } = context);
    return hangs();
  });
  const outcome = outcomeOf(runHook(hook, { clock, limit: 3_000 }));
  await clock.advance(2_999);
  assert.equal(signal?.aborted, false);
  assert.ok(!('failure' in outcome), 'too early');
  await clock.advance(1);
  assert.equal(codeOf(outcome.failure), 'LAMEDUCK_ERR_HOOK_TIMED_OUT');
  assert.equal(outcome.failure?.error.message, 'destroy hook "pool" had not ended after 3s');
  assert.equal(signal.aborted, true);
  assert.equal(signal.reason, outcome.failure.error);
});

test('a hook that ends because its AbortSignal was aborted has timed out all the same', async () => {
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

test('a hook that rejects after its limit is nobody’s unhandled rejection', async () => {
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
  // The runner fails the file for a rejection that nobody handles.
  await settled();
  assert.equal(codeOf(outcome.failure), 'LAMEDUCK_ERR_HOOK_TIMED_OUT');
});

test('a hook without a limit is waited for as long as it takes, without a timer', async () => {
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

test('a cut ends the time of a hook before its limit', async () => {
  const clock = new FakeClock();
  const cut = new AbortController();
  const outcome = outcomeOf(runHook(hookOf(hangs), { clock, limit: 3_000, cut: cut.signal }));
  await clock.advance(10);
  cut.abort();
  await settled();
  assert.equal(codeOf(outcome.failure), 'LAMEDUCK_ERR_HOOK_TIMED_OUT');
  assert.equal(clock.pending.all, 0);
});

for (const limit of [100, Infinity]) {
  test(`A-046 what a hook does after it was told to stop is no failure, with a limit of ${String(limit)}`, async () => {
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

test('A-046 a hook that goes on after it was told to stop has not timed out, and no timer of ours waits for it', async () => {
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
