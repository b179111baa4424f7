import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signalNames } from '../src/lifecycle/graph.ts';
import { disposed } from './support/disposed.ts';
import { settled } from './support/fake-clock.ts';
import { createUnderTest, readyUnderTest, ServerUnderTest } from './support/lifecycle-under-test.ts';

function hangs(): Promise<never> {
  return new Promise(() => undefined);
}

test('before its start, a lifecycle does not call onStart, sets no timer and fires no lifecycle signal', async () => {
  const { handle, clock, starts } = createUnderTest();
  await clock.advance(60_000);
  assert.deepEqual(starts, []);
  assert.equal(clock.pending.all, 0);
  for (const signal of Object.values(handle.signals)) assert.equal(signal.hasSignaled, false, signal.name);
});

test('A-002 the handle that lameduck() returns has the eight lifecycle signals', () => {
  const { handle } = createUnderTest();
  const names = Object.values(handle.signals).map(({ name }) => name);
  assert.deepEqual([...names].sort(), [...signalNames].sort());
});

test('a readyz check belongs only to /readyz, and a livez check to /livez and /healthz', async (context) => {
  const serving = disposed(context, new ServerUnderTest());
  const { handle } = createUnderTest({}, [serving.server]);
  handle.addReadyzCheck('database', () => true);
  handle.addLivezCheck('worker', () => true);
  await serving.listen();
  assert.equal(
    (await serving.ask('/readyz?verbose')).body,
    '[+]ping ok\n[+]log ok\n[+]database ok\n[+]shutdown ok\nreadyz check passed\n',
  );
  assert.equal((await serving.ask('/livez?verbose')).body, '[+]ping ok\n[+]log ok\n[+]worker ok\nlivez check passed\n');
  assert.equal(
    (await serving.ask('/healthz?verbose')).body,
    '[+]ping ok\n[+]log ok\n[+]worker ok\nhealthz check passed\n',
  );
});

test('A-040, A-074 a check or post-start hook is rejected if it is added after the start of the lifecycle', async () => {
  const { handle } = await readyUnderTest();
  const late = { code: 'LAMEDUCK_ERR_REGISTERED_TOO_LATE' };
  assert.throws(() => {
    handle.addReadyzCheck('late', () => true);
  }, late);
  assert.throws(() => {
    handle.addLivezCheck('late', () => true);
  }, late);
  assert.throws(() => {
    handle.addPostStartHook('late', () => true);
  }, late);
});

test('A-055, P-097 addPreShutdownHook() throws during the shutdown, and addDestroyHook() throws after the destroy hooks have begun', async () => {
  const { handle, clock } = await readyUnderTest();
  const late = { code: 'LAMEDUCK_ERR_REGISTERED_TOO_LATE' };
  void handle.shutdown('test');
  assert.throws(() => {
    handle.addPreShutdownHook('late', () => true);
  }, late);
  await clock.advanceUntil('the end', handle.ended);
  assert.throws(() => {
    handle.addDestroyHook('late', () => true);
  }, late);
});

test('A-040 a post-start hook with the name of an existing check is rejected and not called', async () => {
  const parts = createUnderTest();
  const { handle } = parts;
  let hasRun = false;
  handle.addReadyzCheck('poststarthook/warm-up', () => true);
  assert.throws(
    () => {
      handle.addPostStartHook('warm-up', () => (hasRun = true));
    },
    { code: 'LAMEDUCK_ERR_NAME_TAKEN' },
  );
  parts.startup.begin();
  await settled();
  assert.equal(hasRun, false);
});

test('P-075 addPreShutdownHook() rejects a hook whose time limit leaves less than 1 s for the drain; the hook is never called, and the error shows the sum of the shutdown budget', async () => {
  const { handle, clock } = await readyUnderTest();
  let hasRun = false;
  const add = (timeout: number): void => {
    handle.addPreShutdownHook('slow', () => (hasRun = true), { timeout });
  };
  assert.throws(
    () => {
      add(24_001);
    },
    { code: 'LAMEDUCK_ERR_BUDGET_TOO_SHORT', message: /pre-shutdown hooks 24\.001s\).* = drain 999ms$/ },
  );
  void handle.shutdown('test');
  await clock.advanceUntil('the end', handle.ended);
  assert.equal(hasRun, false);
  const fresh = await readyUnderTest();
  fresh.handle.addPreShutdownHook('slow', () => undefined, { timeout: 24_000 });
});

test('a hook that is added without `timeout` gets the default time limit of a pre-shutdown hook or of a destroy hook', async () => {
  const { handle, clock } = await readyUnderTest({ preShutdownHookTimeout: '2s', destroyHookTimeout: '1s' });
  handle.addPreShutdownHook('own', hangs, { timeout: '500ms' });
  handle.addPreShutdownHook('of-kind', hangs);
  handle.addDestroyHook('of-kind', hangs);
  void handle.shutdown('test');
  const { hookFailures } = await clock.advanceUntil('the end', handle.ended);
  assert.deepEqual(
    hookFailures.map(({ error }) => error),
    [
      'pre-shutdown hook "own" had not ended after 500ms',
      'pre-shutdown hook "of-kind" had not ended after 2s',
      'destroy hook "of-kind" had not ended after 1s',
    ],
  );
});

for (const timeout of [0, '0s', -1, '10', 'soon', NaN]) {
  test(`a hook with the limit ${JSON.stringify(timeout)} is rejected`, () => {
    const { handle } = createUnderTest();
    const invalid = { code: 'LAMEDUCK_ERR_TIMEOUT_INVALID', message: /^timeout of destroy hook "pool": / };
    assert.throws(() => {
      handle.addDestroyHook('pool', () => undefined, { timeout });
    }, invalid);
    handle.addDestroyHook('pool', () => undefined);
  });
}

test('handle.shutdown() throws if its option budget is invalid, and begins no shutdown', async () => {
  const { handle } = await readyUnderTest();
  for (const budget of ['10', 0, -1, 'soon']) {
    assert.throws(() => handle.shutdown('test', { budget }), {
      code: 'LAMEDUCK_ERR_TIMEOUT_INVALID',
      message: /^budget of the shutdown: /,
    });
  }
  assert.equal(handle.signals.shutdownInitiated.hasSignaled, false);
});

test('if handle.shutdown() gets no reason, the shutdown record has the reason `shutdown()`', async () => {
  const { handle, clock } = await readyUnderTest();
  void handle.shutdown();
  assert.equal((await clock.advanceUntil('the end', handle.ended)).reason, 'shutdown()');
});

test('the promise handle.ended resolves after every shutdown, whatever its cause', async () => {
  const { handle, shutdown, clock } = await readyUnderTest();
  void shutdown.begin('SIGTERM');
  assert.equal((await clock.advanceUntil('the end', handle.ended)).reason, 'SIGTERM');
});

test('invalid or unknown options of a hook are rejected', () => {
  const { handle } = createUnderTest();
  for (const options of [null, '5s', { timeoutt: 5 }, []]) {
    assert.throws(
      () => {
        handle.addDestroyHook('pool', () => undefined, options as never);
      },
      { code: 'LAMEDUCK_ERR_OPTIONS_INVALID' },
    );
  }
  assert.throws(() => handle.shutdown('test', null as never), { code: 'LAMEDUCK_ERR_OPTIONS_INVALID' });
});

test('a destroy hook is rejected if its time limit is longer than destroyHookTimeout, which all destroy hooks share', () => {
  const { handle } = createUnderTest({ destroyHookTimeout: '3s' });
  assert.throws(
    () => {
      handle.addDestroyHook('pool', () => undefined, { timeout: '60s' });
    },
    { code: 'LAMEDUCK_ERR_TIMEOUT_INVALID', message: /"60s": expected at most destroyHookTimeout, 3s$/ },
  );
  handle.addDestroyHook('pool', () => undefined, { timeout: '3s' });
});

test('the reason of a shutdown is a string of limited length, whatever value the program passes', async () => {
  for (const [given, reason] of [
    [new Error('lost the lease'), 'lost the lease'],
    [undefined, 'shutdown()'],
    [4711, '4711'],
    ['x'.repeat(100_000), 'x'.repeat(1_000)],
  ] as const) {
    const parts = createUnderTest();
    const ended = parts.handle.shutdown(given as string | undefined);
    assert.equal((await parts.clock.advanceUntil('the end', ended)).reason, reason);
  }
});
