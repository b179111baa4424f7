import assert from 'node:assert/strict';
import { test } from 'node:test';
import { disposed } from './support/disposed.ts';
import {
  neverAnswers,
  readyUnderTest,
  recordOf,
  ServerUnderTest,
  withRequestInFlight,
} from './support/lifecycle-under-test.ts';

test('the shutdown record has every field, and each time in it is the number of milliseconds since ShutdownInitiated', async () => {
  const parts = await readyUnderTest({ shutdownDelayDuration: '1s' });
  parts.handle.addPreShutdownHook('slow', () => parts.handle.signals.afterShutdownDelayDuration.signaled);
  await parts.clock.advance(5_000);
  void parts.handle.shutdown('SIGTERM');
  assert.deepEqual(await recordOf(parts), {
    schema: 'lameduck/shutdown/v1',
    reason: 'SIGTERM',
    exitCode: 0,
    phases: {
      ShutdownInitiated: 0,
      AfterShutdownDelayDuration: 1_000,
      PreShutdownHooksStopped: 1_000,
      NotAcceptingNewRequest: 1_000,
      HTTPServerStoppedListening: 1_000,
      InFlightRequestsDrained: 1_000,
    },
    durationMs: 1_000,
    budgetMs: 28_000,
    requests: { answered: 0, refused: 0, aborted: 0, cut: 0 },
    longRunningEnded: 0,
    unfinished: [],
    hookFailures: [],
    stepFailures: [],
    heldBy: [],
  });
});

test('P-101 the observer of the lifecycle gets each lifecycle signal once, with the time since the previous signal and the counts', async () => {
  const parts = await readyUnderTest({ shutdownDelayDuration: '1s' });
  await parts.clock.advance(5_000);
  void parts.handle.shutdown('test');
  await recordOf(parts);
  const durations = parts.observer.signals.map(({ name, durationMs }) => [name, durationMs]);
  assert.deepEqual(Object.fromEntries(durations), {
    MuxAndDiscoveryComplete: 0,
    HasBeenReady: 0,
    ShutdownInitiated: 5_000,
    PreShutdownHooksStopped: 0,
    AfterShutdownDelayDuration: 1_000,
    NotAcceptingNewRequest: 0,
    HTTPServerStoppedListening: 0,
    InFlightRequestsDrained: 0,
  });
  assert.equal(durations.length, 8);
  for (const { connections, requestsInFlight } of parts.observer.signals) {
    assert.deepEqual([connections, requestsInFlight], [0, 0]);
  }
});

test('the record of an incomplete shutdown has only the phases that the shutdown has reached, and the record is reported once', async (context) => {
  const serving = disposed(context, new ServerUnderTest(neverAnswers));
  const parts = await withRequestInFlight(serving);
  void parts.handle.shutdown('SIGTERM');
  await parts.clock.advance(1_000);
  parts.recorder.report(['Timeout'], 1);
  parts.recorder.report([], 0);
  assert.equal(parts.observer.records.length, 1);
  const [record] = parts.observer.records;
  assert.deepEqual([record?.exitCode, record?.durationMs, record?.heldBy], [1, 1_000, ['Timeout']]);
  assert.equal(record?.unfinished[0]?.route, '/orders');
  assert.equal(record.phases.InFlightRequestsDrained, undefined);
  assert.equal((await recordOf(parts)).exitCode, 1);
});

test('before a shutdown begins, no shutdown record exists; after the shutdown has ended, its record does not change', async () => {
  const parts = await readyUnderTest();
  parts.recorder.report([], 1);
  assert.deepEqual(parts.observer.records, []);
  void parts.handle.shutdown('test');
  const record = await recordOf(parts);
  parts.recorder.report();
  assert.deepEqual(parts.observer.records, [record]);
});

test('the shutdown record has failed hooks by kind, name and message', async () => {
  const parts = await readyUnderTest();
  parts.handle.addDestroyHook('pool', () => Promise.reject(new Error('no connection')));
  void parts.handle.shutdown('test');
  const { exitCode, hookFailures } = await recordOf(parts);
  assert.equal(exitCode, 81);
  assert.deepEqual(hookFailures, [
    { kind: 'destroy', name: 'pool', error: 'destroy hook "pool" failed: no connection' },
  ]);
});

test('if a process has several uncaught errors, the shutdown record has only the first', async () => {
  const { recorder } = await readyUnderTest();
  assert.equal(recorder.uncaughtError, undefined);
  for (const text of ['first', 'second']) recorder.noteUncaughtError(text);
  assert.equal(recorder.uncaughtError, 'first');
});
