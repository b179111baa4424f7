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

test('if the time limit of a pre-shutdown hook exceeds the shutdown delay, the prediction uses this limit instead of the shutdown delay', () => {
  assert.deepEqual(prediction({ longestHook: 12 * seconds }), [12, false]);
  assert.deepEqual(prediction({ longestHook: 5 * seconds }), [10, false]);
});

test('the predicted duration of a request in flight is the duration that nearly all earlier requests did not exceed', () => {
  assert.deepEqual(prediction({ requestsInFlight: 1, usual: 2 * seconds }), [12, false]);
  assert.deepEqual(prediction({ requestsInFlight: 0, usual: 2 * seconds }), [10, false]);
});

test('if a request is older than nearly all earlier requests became, the prediction is that it takes as long again as it has already taken', () => {
  assert.deepEqual(prediction({ requestsInFlight: 1, usual: 2 * seconds, oldest: 9 * seconds }), [19, false]);
});

test('if the drain would not be over when the destroy hooks start, an overrun of the shutdown budget is predicted', () => {
  assert.deepEqual(prediction({ requestsInFlight: 1, oldest: 15 * seconds }), [25, false]);
  assert.deepEqual(prediction({ requestsInFlight: 1, oldest: 15 * seconds + 1 }), [25.001, true]);
});

test('A-140 long-running requests are predicted to end at 200 per second, or within their grace period', () => {
  assert.deepEqual(prediction({ longRunningRequests: 400 }), [12, false]);
  assert.deepEqual(prediction({ longRunningRequests: 50_000 }), [20, false]);
  assert.deepEqual(prediction({ longRunningRequests: 50_000, grace: 0 }), [10, false]);
});

test('however many long-running requests there are, the predicted shutdown stays within its budget, because the drain ends all of them in time', () => {
  assert.deepEqual(prediction({ longRunningRequests: 50_000, grace: 60 * seconds }), [25, false]);
});

test('the prediction assumes that ordinary and long-running requests drain at the same time', () => {
  assert.deepEqual(prediction({ longRunningRequests: 400, requestsInFlight: 3, usual: 5 * seconds }), [15, false]);
});

test('during the shutdown delay the prediction is the whole delay plus the time of the requests in flight', () => {
  assert.deepEqual(prediction({ elapsed: 4 * seconds, requestsInFlight: 1, usual: seconds }), [11, false]);
});

test('pre-shutdown hooks that have ended no longer count in the prediction', () => {
  const outlook = { elapsed: 3 * seconds, delay: 0, longestHook: 20 * seconds };
  assert.deepEqual(prediction(outlook), [20, false]);
  assert.deepEqual(prediction({ ...outlook, haveHooksStopped: true }), [3, false]);
});

test('during the drain the prediction is the elapsed time plus the time of the requests still in flight', () => {
  const outlook = { elapsed: 16 * seconds, isDraining: true, requestsInFlight: 1 };
  assert.deepEqual(prediction({ ...outlook, oldest: 8 * seconds }), [24, false]);
  assert.deepEqual(prediction({ ...outlook, oldest: 10 * seconds }), [26, true]);
});

test('after the drain, the destroy hooks may use the rest of the shutdown budget, so an overrun is predicted only when the budget is over', () => {
  const drained = { isDraining: true, isDrained: true };
  assert.deepEqual(prediction({ ...drained, elapsed: 27 * seconds }), [27, false]);
  assert.deepEqual(prediction({ ...drained, elapsed: 29 * seconds }), [29, true]);
});

test('a shutdown budget that was shortened below the shutdown delay is predicted to be overrun only if requests are in flight', () => {
  const outlook = { budget: 4 * seconds, drainEnd: seconds, elapsed: 0 };
  assert.deepEqual(prediction(outlook), [1, false]);
  assert.deepEqual(prediction({ ...outlook, requestsInFlight: 1, oldest: 500 }), [1.5, true]);
});
