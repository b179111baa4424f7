// Tests the checks that a program adds through its handle, and their effect on the lifecycle.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createParts } from '../../src/parts.ts';
import { silent } from '../../src/observers/logging.ts';
import { completeSettings } from '../../src/settings/complete.ts';
import { disposed } from '../support/disposed.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { createUnderTest, recordOf, ServerUnderTest } from '../support/lifecycle-under-test.ts';

test('A-088, A-089, P-085 the methods addReadyzCheck() and addLivezCheck() of the object that lameduck() returns accept the option group', async (t) => {
  const serving = disposed(t, new ServerUnderTest());
  const { handle } = createUnderTest({}, [serving.server]);
  handle.addReadyzCheck('orders', () => false, { group: 'upstreams' });
  handle.addReadyzCheck('prices', () => false, { group: 'upstreams' });
  handle.addLivezCheck('worker', () => false, { group: 'workers' });
  await serving.listen();
  assert.equal(
    (await serving.ask('/readyz?exclude=upstreams&verbose')).body,
    '[+]ping ok\n[+]log ok\n[+]orders excluded with upstreams: ok\n[+]prices excluded with upstreams: ok\n[+]shutdown ok\nreadyz check passed\n',
  );
  for (const endpoint of ['livez', 'healthz']) {
    assert.equal((await serving.ask(`/${endpoint}?exclude=workers`)).status, 200);
    assert.equal((await serving.ask(`/${endpoint}`)).status, 500);
  }
});

test('a check with an unknown option is rejected', async (t) => {
  const serving = disposed(t, new ServerUnderTest());
  const { handle } = createUnderTest({}, [serving.server]);
  for (const add of ['addReadyzCheck', 'addLivezCheck'] as const) {
    assert.throws(
      () => {
        handle[add]('worker', () => false, { timeout: '1s' } as never);
      },
      { code: 'LAMEDUCK_ERR_OPTIONS_INVALID' },
    );
  }
  await serving.listen();
  for (const endpoint of ['readyz', 'livez', 'healthz']) assert.equal((await serving.ask(`/${endpoint}`)).status, 200);
});

test('P-089 a livez check with a name like that of a dependency, such as orders-db, causes a warning, but is still added', async (t) => {
  const serving = disposed(t, new ServerUnderTest());
  const { handle, observer } = createUnderTest({}, [serving.server]);
  const warnings: string[] = [];
  observer.onWarning = (message) => warnings.push(message);
  handle.addLivezCheck('orders-db', () => false);
  assert.equal(warnings.length, 1);
  await serving.listen();
  assert.match((await serving.ask('/livez')).body, /^\[-\]orders-db failed/m);
});

test('A-042, A-075, P-087 a post-start hook that has not ended makes /livez fail after livezGracePeriod; with a livezGracePeriod of 0, such a hook never makes /livez fail', async (t) => {
  for (const [livezGracePeriod, after] of [
    ['0s', 200],
    ['10s', 500],
  ] as const) {
    const serving = disposed(t, new ServerUnderTest());
    const { handle, clock } = createUnderTest({ livezGracePeriod }, [serving.server]);
    handle.addPostStartHook('warm-up', () => new Promise(() => undefined));
    await serving.listen();
    await clock.advance(10_000);
    assert.equal((await serving.ask('/livez')).status, 200, livezGracePeriod);
    await clock.advance(1);
    assert.equal((await serving.ask('/livez')).status, after, livezGracePeriod);
  }
});

test('A-043 the check of a failed post-start hook never passes', async (t) => {
  const serving = disposed(t, new ServerUnderTest());
  const { handle, clock } = createUnderTest({ livezGracePeriod: '1s' }, [serving.server]);
  handle.addPostStartHook('warm-up', () => Promise.reject(new Error('no cache')));
  await serving.listen();
  await clock.advance(60_000);
  for (const endpoint of ['readyz', 'livez', 'healthz']) {
    assert.match((await serving.ask(`/${endpoint}`)).body, /^\[-\]poststarthook\/warm-up failed: reason withheld$/m);
  }
});

test('A-077, P-073 the log is flushed repeatedly from the start of a lifecycle to its end, by a timer that does not keep the process alive', async () => {
  const clock = new FakeClock();
  let flushes = 0;
  const parts = createParts({
    servers: [],
    ...completeSettings({}, {}),
    clock,
    random: Math.random,
    observer: silent,
    functions: {},
    flushLog: () => flushes++,
    onStart: () => undefined,
  });
  await clock.advance(600_000);
  assert.equal(flushes, 0, 'the log must not be flushed before the start of the lifecycle');
  parts.startup.begin();
  await clock.advance(600_000);
  assert.equal(flushes, 11);
  assert.deepEqual(clock.pending, { all: 1, holding: 0 });
  void parts.handle.shutdown('test');
  await clock.advanceUntil('the end of the shutdown', parts.handle.ended);
  assert.equal(clock.pending.all, 0);
});

test('A-181 the metrics count the result of a check if a probe runs the check, but not if lameduck itself runs the check at the start of the lifecycle', async (t) => {
  const serving = disposed(t, new ServerUnderTest());
  const parts = createUnderTest({}, [serving.server]);
  let isUp = false;
  parts.handle.addReadyzCheck('cache', () => isUp);
  await serving.listen();
  await parts.clock.advance(1_000);
  assert.deepEqual(parts.observer.checkResults, []);
  await serving.ask('/readyz');
  isUp = true;
  await serving.ask('/readyz?exclude=shutdown&exclude=log');
  await serving.ask('/readyz/cache');
  await serving.ask('/livez');
  assert.deepEqual(parts.observer.checkResults, [
    'readyz ping: passed',
    'readyz log: passed',
    'readyz cache: failed',
    'readyz shutdown: passed',
    'readyz ping: passed',
    'readyz cache: passed',
    'livez ping: passed',
    'livez log: passed',
  ]);
  await parts.clock.advance(250);
  void parts.handle.shutdown('test');
  await recordOf(parts);
});
