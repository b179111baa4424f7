import assert from 'node:assert/strict';
import { test } from 'node:test';
import { predict, type Outlook } from '../../../src/observers/metrics/prediction.ts';

const seconds = 1_000;

const idle: Outlook = {
  budget: 28 * seconds,
  drainEnd: 25 * seconds,
  delay: 10 * seconds,
  longestHook: 0,
  elapsed: undefined,
  haveHooksStopped: false,
  isDraining: false,
  isDrained: false,
  requestsInFlight: 0,
  oldest: 0,
  usual: 0,
  longRunningRequests: 0,
  grace: 10 * seconds,
};

function prediction(outlook: Partial<Outlook>): [number, boolean] {
  const { duration, isOverrun } = predict({ ...idle, ...outlook });
  return [duration / seconds, isOverrun];
}

test('the predicted duration of a shutdown without requests in flight is the shutdown delay', () => {
  assert.deepEqual(prediction({}), [10, false]);
});

test('if a pre-shutdown hook has a longer time limit than the shutdown delay, the predicted duration of the shutdown contains this limit instead of the delay', () => {
  assert.deepEqual(prediction({ longestHook: 12 * seconds }), [12, false]);
  assert.deepEqual(prediction({ longestHook: 5 * seconds }), [10, false]);
});

test('the predicted duration of a request in flight is the 99th percentile of the durations of earlier requests', () => {
  assert.deepEqual(prediction({ requestsInFlight: 1, usual: 2 * seconds }), [12, false]);
  assert.deepEqual(prediction({ requestsInFlight: 0, usual: 2 * seconds }), [10, false]);
});

test('if a request in flight has already taken longer than the 99th percentile of earlier requests, lameduck predicts that it will take the same time once more', () => {
  assert.deepEqual(prediction({ requestsInFlight: 1, usual: 2 * seconds, oldest: 9 * seconds }), [19, false]);
});

test('if the predicted end of the drain is later than the latest start of the destroy hooks, lameduck predicts an overrun of the shutdown budget', () => {
  assert.deepEqual(prediction({ requestsInFlight: 1, oldest: 15 * seconds }), [25, false]);
  assert.deepEqual(prediction({ requestsInFlight: 1, oldest: 15 * seconds + 1 }), [25.001, true]);
});

test('A-140 lameduck predicts that the drain ends 200 long-running requests per second, or more if all of them must end within shutdownWatchTerminationGracePeriod', () => {
  assert.deepEqual(prediction({ longRunningRequests: 400 }), [12, false]);
  assert.deepEqual(prediction({ longRunningRequests: 50_000 }), [20, false]);
  assert.deepEqual(prediction({ longRunningRequests: 50_000, grace: 0 }), [10, false]);
});

test('long-running requests alone never cause a predicted overrun of the shutdown budget, however many there are', () => {
  assert.deepEqual(prediction({ longRunningRequests: 50_000, grace: 60 * seconds }), [25, false]);
});

test('in the predicted duration of a shutdown, ordinary and long-running requests end during the same time, not one kind after the other', () => {
  assert.deepEqual(prediction({ longRunningRequests: 400, requestsInFlight: 3, usual: 5 * seconds }), [15, false]);
});

test('during the shutdown delay, the predicted duration of the shutdown is the whole delay plus the predicted time of the requests in flight', () => {
  assert.deepEqual(prediction({ elapsed: 4 * seconds, requestsInFlight: 1, usual: seconds }), [11, false]);
});

test('the predicted duration of the shutdown does not contain the time limits of pre-shutdown hooks that have ended', () => {
  const outlook = { elapsed: 3 * seconds, delay: 0, longestHook: 20 * seconds };
  assert.deepEqual(prediction(outlook), [20, false]);
  assert.deepEqual(prediction({ ...outlook, haveHooksStopped: true }), [3, false]);
});

test('during the drain, the predicted duration of the shutdown is its elapsed time plus the predicted time of the requests in flight', () => {
  const outlook = { elapsed: 16 * seconds, isDraining: true, requestsInFlight: 1 };
  assert.deepEqual(prediction({ ...outlook, oldest: 8 * seconds }), [24, false]);
  assert.deepEqual(prediction({ ...outlook, oldest: 10 * seconds }), [26, true]);
});

test('after the drain, lameduck predicts an overrun of the shutdown budget only when the budget has already ended, because destroy hooks may use the whole rest of the budget', () => {
  const drained = { isDraining: true, isDrained: true };
  assert.deepEqual(prediction({ ...drained, elapsed: 27 * seconds }), [27, false]);
  assert.deepEqual(prediction({ ...drained, elapsed: 29 * seconds }), [29, true]);
});

test('if a shutdown() call has set a shutdown budget that is shorter than the shutdown delay, lameduck predicts an overrun of this budget only while requests are in flight', () => {
  const outlook = { budget: 4 * seconds, drainEnd: seconds, elapsed: 0 };
  assert.deepEqual(prediction(outlook), [1, false]);
  assert.deepEqual(prediction({ ...outlook, requestsInFlight: 1, oldest: 500 }), [1.5, true]);
});
