import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runHook, type HookContext } from '../../src/hooks/hook.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { codeOf, hookOf } from '../support/hooks-under-test.ts';

test('P-098 a hook is called with the reason of the shutdown, and with an AbortSignal that is not aborted yet', async () => {
  const contexts: (HookContext & { wasAborted: boolean })[] = [];
  const hook = hookOf((context) => contexts.push({ ...context, wasAborted: context.signal.aborted }));
  assert.equal(await runHook(hook, { clock: new FakeClock(), limit: 100 }, 'SIGTERM'), undefined);
  assert.equal(contexts.length, 1);
  assert.equal(contexts[0]?.reason, 'SIGTERM');
  assert.equal(contexts[0].wasAborted, false);
});

test('a hook succeeds whatever value it returns, and the timer of its time limit is cleared', async () => {
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

test('a hook is called without a `this` value', async () => {
  const selves: unknown[] = [];
  const hook = hookOf(function (this: unknown) {
    selves.push(this);
  });
  assert.equal(await runHook(hook, { clock: new FakeClock(), limit: 100 }), undefined);
  assert.deepEqual(selves, [undefined]);
});

const unspeakable = {
  'an Error whose message throws': Object.defineProperty(new Error(), 'message', {
    get() {
      throw new Error('no');
    },
  }),
  'an Error whose message is no text': Object.assign(new Error(), { message: { nested: true } }),
  'a proxy that throws': new Proxy(
    {},
    {
      get() {
        throw new Error('no');
      },
      getPrototypeOf() {
        throw new Error('no');
      },
    },
  ),
  'an object that throws when it is shown': {
    [Symbol.for('nodejs.util.inspect.custom')]() {
      throw new Error('no');
    },
  },
};

for (const [what, cause] of Object.entries(unspeakable)) {
  test(`P-095 a hook that throws a value that is hard to print fails like any other hook: ${what}`, async () => {
    const hook = hookOf(() => {
      throw cause as Error;
    });
    const failure = await runHook(hook, { clock: new FakeClock(), limit: 100 });
    assert.equal(codeOf(failure), 'LAMEDUCK_ERR_HOOK_FAILED');
    assert.match(failure?.error.message ?? '', /^destroy hook "pool" failed: /);
    assert.equal(failure?.error.cause, cause);
  });
}

test('the lifecycle awaits any thenable that a hook returns, and a thenable that throws makes the hook fail', async () => {
  const clock = new FakeClock();
  const ends = {
    then: (resolve: (value: number) => void) => {
      resolve(1);
    },
  };
  const throws = {
    get then(): never {
      throw new Error('no');
    },
  };
  assert.equal(
    await runHook(
      hookOf(() => ends),
      { clock, limit: 100 },
    ),
    undefined,
  );
  assert.equal(
    codeOf(
      await runHook(
        hookOf(() => throws),
        { clock, limit: 100 },
      ),
    ),
    'LAMEDUCK_ERR_HOOK_FAILED',
  );
});

for (const cause of ['text', undefined, null, Symbol('no text'), Object.create(null) as unknown]) {
  test(`a hook that rejects with a value that is not an Error fails like any other hook (${typeof cause})`, async () => {
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
    const hook = hookOf(() => Promise.reject(cause));
    assert.equal(codeOf(await runHook(hook, { clock: new FakeClock(), limit: 100 })), 'LAMEDUCK_ERR_HOOK_FAILED');
  });
}
