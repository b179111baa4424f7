import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'node:test';
import type { SignalName } from '../src/lifecycle/graph.ts';
import { disposed } from './support/disposed.ts';
import { settled } from './support/fake-clock.ts';
import {
  createUnderTest,
  neverAnswers,
  readyUnderTest,
  recordOf,
  ServerUnderTest,
  withRequestInFlight,
} from './support/lifecycle-under-test.ts';

function hangs(): Promise<never> {
  return new Promise(() => undefined);
}

const upToNotAccepting: readonly SignalName[] = [
  'MuxAndDiscoveryComplete',
  'HasBeenReady',
  'ShutdownInitiated',
  'PreShutdownHooksStopped',
  'AfterShutdownDelayDuration',
  'NotAcceptingNewRequest',
];

for (const shutdownSendRetryAfter of [false, true]) {
  const number = shutdownSendRetryAfter ? 'with retry-after' : 'by default';
  const last: readonly SignalName[] = shutdownSendRetryAfter
    ? ['InFlightRequestsDrained', 'HTTPServerStoppedListening']
    : ['HTTPServerStoppedListening', 'InFlightRequestsDrained'];

  test(`A-004, A-005, A-010, A-011, A-018 ${number}, the eight lifecycle signals fire in their documented order, and then the destroy hooks run`, async () => {
    const parts = await readyUnderTest({ shutdownDelayDuration: '1s', shutdownSendRetryAfter });
    let atDestroy: readonly SignalName[] = [];
    parts.handle.addDestroyHook('pool', () => (atDestroy = parts.observer.order));
    void parts.handle.shutdown('test');
    await recordOf(parts);
    assert.deepEqual(parts.observer.order, [...upToNotAccepting, ...last]);
    assert.deepEqual(atDestroy, parts.observer.order);
    assert.equal(parts.clock.pending.all, 0);
  });
}

test('A-003 ShutdownInitiated has fired when shutdown() returns', async () => {
  const { handle } = await readyUnderTest();
  void handle.shutdown('test');
  assert.equal(handle.signals.shutdownInitiated.hasSignaled, true);
});

test('A-004 a process that has been ready waits for the whole delay before it stops accepting requests', async () => {
  const { handle, clock } = await readyUnderTest({ shutdownDelayDuration: '1s' });
  void handle.shutdown('test');
  await clock.advance(999);
  assert.equal(handle.signals.afterShutdownDelayDuration.hasSignaled, false);
  await clock.advance(1);
  assert.equal(handle.signals.afterShutdownDelayDuration.hasSignaled, true);
  assert.equal(handle.signals.notAcceptingNewRequest.hasSignaled, true);
});

test('P-067 a process that has started but was never ready skips the shutdown delay', async () => {
  const parts = createUnderTest({ shutdownDelayDuration: '10s' });
  parts.handle.addReadyzCheck('database', () => false);
  parts.startup.begin();
  await parts.clock.advance(1_000);
  void parts.handle.shutdown('test');
  await settled();
  assert.equal(parts.handle.signals.notAcceptingNewRequest.hasSignaled, true);
  assert.equal(parts.handle.signals.hasBeenReady.hasSignaled, false);
});

test('A-006, P-094 a pre-shutdown hook that takes longer than the shutdown delay postpones NotAcceptingNewRequest', async () => {
  const parts = await readyUnderTest({ shutdownDelayDuration: '1s' });
  const { handle, clock } = parts;
  const leave = Promise.withResolvers<undefined>();
  let hasBegun = false;
  const hook = (): Promise<undefined> => {
    hasBegun = true;
    return leave.promise;
  };
  handle.addPreShutdownHook('leave-the-ring', hook, { timeout: '5s' });
  void handle.shutdown('test');
  await settled();
  assert.equal(hasBegun, true, 'hooks must begin at the same time as the shutdown delay, not after it');
  await clock.advance(3_000);
  assert.equal(handle.signals.afterShutdownDelayDuration.hasSignaled, true);
  assert.equal(handle.signals.notAcceptingNewRequest.hasSignaled, false);
  leave.resolve(undefined);
  await settled();
  assert.equal(handle.signals.notAcceptingNewRequest.hasSignaled, true);
  assert.equal((await recordOf(parts)).exitCode, 0);
});

test('A-005, A-059, A-061, P-095 a pre-shutdown hook that hangs is abandoned at its time limit, the shutdown continues, and the exit code is 81', async () => {
  const parts = await readyUnderTest({ preShutdownHookTimeout: '2s' });
  const { handle, clock, observer } = parts;
  let isDestroyed = false;
  handle.addPreShutdownHook('hangs', hangs);
  handle.addDestroyHook('pool', () => (isDestroyed = true));
  void handle.shutdown('test');
  await clock.advance(1_999);
  assert.equal(handle.signals.preShutdownHooksStopped.hasSignaled, false);
  await clock.advance(1);
  assert.equal(handle.signals.preShutdownHooksStopped.hasSignaled, true);
  const record = await recordOf(parts);
  assert.equal(record.exitCode, 81);
  assert.deepEqual(record.hookFailures, [
    { kind: 'pre-shutdown', name: 'hangs', error: 'pre-shutdown hook "hangs" had not ended after 2s' },
  ]);
  assert.equal(observer.hookFailures.length, 1);
  assert.equal(isDestroyed, true);
});

test('P-098 hook functions are passed the reason of the shutdown', async () => {
  const parts = await readyUnderTest();
  const reasons: unknown[] = [];
  parts.handle.addPreShutdownHook('a', ({ reason }) => reasons.push(reason));
  parts.handle.addDestroyHook('b', ({ reason }) => reasons.push(reason));
  void parts.handle.shutdown('leadership lost');
  await recordOf(parts);
  assert.deepEqual(reasons, ['leadership lost', 'leadership lost']);
});

test('P-056 every caller of shutdown() gets the same record, with the reason of the first call', async () => {
  const parts = await readyUnderTest({ shutdownDelayDuration: '1s' });
  const { handle } = parts;
  const first = handle.shutdown('first');
  await parts.clock.advance(500);
  const second = handle.shutdown('second');
  const record = await recordOf(parts);
  const third = handle.shutdown('third');
  assert.equal(record.reason, 'first');
  assert.equal(record.durationMs, 1_000);
  for (const joined of [first, second, third, handle.ended]) assert.equal(await joined, record);
  assert.equal(parts.observer.order.filter((name) => name === 'ShutdownInitiated').length, 1);
});

test('K-166 a second shutdown() call with a shorter budget ends the shutdown delay and the hooks earlier', async () => {
  const parts = await readyUnderTest({ shutdownDelayDuration: '10s', destroyHookTimeout: '500ms' });
  const { handle, clock } = parts;
  handle.addPreShutdownHook('hangs', hangs);
  void handle.shutdown('test');
  await clock.advance(1_000);
  void handle.shutdown('hurry', { budget: '2s' });
  await clock.advance(1_499);
  assert.equal(handle.signals.notAcceptingNewRequest.hasSignaled, false);
  await clock.advance(1);
  assert.equal(handle.signals.notAcceptingNewRequest.hasSignaled, true);
  const record = await recordOf(parts);
  assert.equal(record.budgetMs, 3_000);
  assert.ok(record.durationMs <= 3_000, `the shutdown took ${String(record.durationMs)} ms`);
});

test('K-166 a later shutdown() call with a longer budget has no effect', async () => {
  const parts = await readyUnderTest({ shutdownDelayDuration: '1s' });
  void parts.handle.shutdown('test', { budget: '5s' });
  void parts.handle.shutdown('test', { budget: '60s' });
  const record = await recordOf(parts);
  assert.equal(record.budgetMs, 5_000);
  assert.equal(record.durationMs, 1_000);
});

test('K-166 a second shutdown() call with a shorter budget also shortens the time limit of the destroy hooks that are already running', async () => {
  const parts = await readyUnderTest({ destroyHookTimeout: '3s' });
  parts.handle.addDestroyHook('hangs', hangs);
  void parts.handle.shutdown('test');
  await parts.clock.advance(1_000);
  void parts.handle.shutdown('hurry', { budget: '500ms' });
  const record = await recordOf(parts);
  assert.ok(record.durationMs <= 1_500, `the shutdown took ${String(record.durationMs)} ms`);
});

test('P-073 if a program calls shutdown() with a budget after its shutdown has ended, the call leaves no active timer', async () => {
  const parts = await readyUnderTest();
  void parts.handle.shutdown('test');
  await recordOf(parts);
  await parts.handle.shutdown('again', { budget: '1s' });
  assert.equal(parts.clock.pending.all, 0);
});

test('P-023, P-027 if a request is in flight at the end of the shutdown budget, the request is reported, cut and counted, and the exit code is 80', async (context) => {
  const serving = disposed(context, new ServerUnderTest(neverAnswers));
  const parts = await withRequestInFlight(serving);
  const closed = once(parts.client, 'close');
  await parts.clock.advance(1_000);
  parts.handle.addDestroyHook('fails', () => Promise.reject(new Error('no')));
  void parts.handle.shutdown('test');
  const record = await recordOf(parts);
  await closed;
  assert.equal(record.exitCode, 80);
  assert.equal(record.requests.cut, 1);
  assert.equal(record.phases.InFlightRequestsDrained, 25_000);
  const [unfinished] = record.unfinished;
  assert.deepEqual([unfinished?.method, unfinished?.route, unfinished?.ageMs], ['POST', '/orders', 26_000]);
  assert.match(unfinished?.peer ?? '', /^127\.0\.0\.1:\d+$/);
  assert.deepEqual(parts.observer.unfinished, record.unfinished);
  assert.equal(parts.clock.pending.all, 0);
});

test('K-211, P-063 after an uncaught error, requests in flight have 2 s to end, and the exit code is 82', async (context) => {
  const serving = disposed(context, new ServerUnderTest(neverAnswers));
  const parts = await withRequestInFlight(serving);
  void parts.shutdown.begin('uncaught error', { isUncaughtError: true });
  const record = await recordOf(parts);
  assert.equal(record.exitCode, 82);
  assert.equal(record.reason, 'uncaught error');
  assert.ok((record.phases.InFlightRequestsDrained ?? 0) <= 2_030, JSON.stringify(record.phases));
  assert.equal(record.requests.cut, 1);
});

test('K-211, P-063 an uncaught error during a drain shortens the drain, and the exit code is 82', async (context) => {
  const serving = disposed(context, new ServerUnderTest(neverAnswers));
  const parts = await withRequestInFlight(serving);
  void parts.handle.shutdown('SIGTERM');
  await parts.clock.advance(5_000);
  void parts.shutdown.begin('uncaught error', { isUncaughtError: true });
  const record = await recordOf(parts);
  assert.equal(record.reason, 'SIGTERM');
  assert.equal(record.exitCode, 82);
  assert.equal(record.phases.InFlightRequestsDrained, 7_000);
});

test('A-057 a pre-shutdown hook can send requests to its own server after the shutdown delay', async (context) => {
  const serving = disposed(context, new ServerUnderTest());
  const parts = createUnderTest({ shutdownDelayDuration: '1s' }, [serving.server]);
  const { handle, clock } = parts;
  let answer: { status: number | undefined; body: string } | undefined;
  const asked = Promise.withResolvers<undefined>();
  handle.addPreShutdownHook('say-goodbye', async () => {
    await handle.signals.afterShutdownDelayDuration.signaled;
    answer = await serving.ask('/goodbye');
    asked.resolve(undefined);
  });
  await serving.listen();
  await handle.signals.hasBeenReady.signaled;
  void handle.shutdown('test');
  await clock.advance(1_000);
  await asked.promise;
  assert.deepEqual(answer, { status: 200, body: 'served' });
  assert.equal((await recordOf(parts)).exitCode, 0);
});

test('P-067 the shutdown of a server that never listened ends at once', async () => {
  const parts = createUnderTest({ shutdownDelayDuration: '10s' }, [createServer()]);
  parts.startup.begin();
  void parts.handle.shutdown('test');
  assert.equal((await recordOf(parts)).durationMs, 0);
});
