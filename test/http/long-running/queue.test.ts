import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deadline } from '../../../src/deadline.ts';
import { noted, type Exchange } from '../../../src/http/exchange.ts';
import { InFlight } from '../../../src/http/in-flight/in-flight.ts';
import { LongRunning } from '../../../src/http/long-running/queue.ts';
import { FakeClock } from '../../support/fake-clock.ts';

/**
 * `drained()` begins the drain of `count` long-running requests on a fake clock. Each request is a fake object. It
 * records the times at which the drain begins to end it and has ended it.
 */
function drained(count: number, { grace = 10_000, left = 20_000 } = {}) {
  const clock = new FakeClock();
  const since = clock.now();
  const inFlight = new InFlight();
  const failures: unknown[] = [];
  const onFailure = (error: unknown): void => void failures.push(error);
  const longRunning = new LongRunning({ clock, inFlight, random: () => 0.5, onFailure });
  const begun: [number, number][] = [];
  const ended: [number, number][] = [];
  const add = (key: number): void => {
    longRunning.add(keys[key] as Exchange, {
      begin: () => begun.push([key, clock.now() - since]),
      end: () => ended.push([key, clock.now() - since]),
    });
  };
  const keys = Array.from({ length: count + 10 }, (_, key) => ({ key, state: noted }) as unknown as Exchange);
  for (let key = 0; key < count; key++) add(key);
  const drainBy = new Deadline(clock, since + left);
  longRunning.drain({ grace, drainBy, retry: 0 });
  return {
    clock,
    inFlight,
    longRunning,
    begun,
    ended,
    failures,
    keys,
    add,
    drainBy,
    endOverdue: () => longRunning.endOverdue(clock.now()),
  };
}

test('A-140 the drain ends long-running requests one after another, and begins to end the next one every 5 ms', async () => {
  const { clock, begun } = drained(4);
  await clock.advance(100);
  assert.deepEqual(begun, [
    [0, 0],
    [1, 5],
    [2, 10],
    [3, 15],
  ]);
});

test('P-037 if a long-running request ends by itself before the drain ends it, the drain ends the next long-running request at the time that was planned for the ended one', async () => {
  const { clock, inFlight, longRunning, begun, keys } = drained(4);
  await clock.advance(1);
  assert.equal(longRunning.delete(keys[1] as Exchange), true);
  await clock.advance(100);
  assert.deepEqual(begun, [
    [0, 0],
    [2, 5],
    [3, 10],
  ]);
  assert.equal(inFlight.counts.ending, 3, 'requests that the drain is ending count until they have ended');
});

test('P-038 the drain ends long-running requests in the order of their arrival, including requests that arrive during the drain', async () => {
  const { clock, add, begun } = drained(2);
  await clock.advance(2);
  add(2);
  await clock.advance(100);
  add(3);
  await clock.advance(1);
  assert.deepEqual(begun, [
    [0, 0],
    [1, 5],
    [2, 10],
    [3, 102],
  ]);
});

test('A-140, A-143 half a second after shutdownWatchTerminationGracePeriod, the drain ends all long-running requests that still have no response', async () => {
  const { clock, endOverdue, ended } = drained(3, { grace: 1_000 });
  await clock.advance(1_499);
  endOverdue();
  assert.equal(ended.length, 0, 'the handler of the request that the drain ended last has half a second to respond');
  await clock.advance(1);
  endOverdue();
  assert.deepEqual(
    ended.map(([key]) => key),
    [0, 1, 2],
  );
});

test('A-145 the drain ends long-running requests before its time limit, even if the time limit is shortened after the drain has begun', async () => {
  const { clock, endOverdue, ended, drainBy } = drained(2, { grace: 10_000, left: 5_000 });
  await clock.advance(1_000);
  drainBy.shorten(clock.now() + 2_000);
  await clock.advance(1_749);
  endOverdue();
  assert.equal(ended.length, 0);
  await clock.advance(1);
  endOverdue();
  assert.equal(ended.length, 2);
});

test('A-135 if shutdownWatchTerminationGracePeriod is 0, the drain ends all long-running requests immediately, one hundred per turn of the event loop', async () => {
  const { clock, begun } = drained(250, { grace: 0 });
  await clock.advance(0);
  assert.equal(begun.length, 250);
  assert.ok(begun.every(([, moment]) => moment === 0));
});

test('P-023 if the end of a long-running request throws, because the program has changed its response, the drain ends the other long-running requests', async () => {
  const { clock, longRunning, endOverdue, keys, begun, ended, failures, add } = drained(0, { grace: 1_000 });
  const fail = (): never => {
    throw new Error('on purpose');
  };
  longRunning.add(keys[5] as Exchange, { begin: fail, end: fail });
  add(6);
  await clock.advance(1_500);
  endOverdue();
  assert.deepEqual([begun.length, ended.length], [1, 1]);
  assert.deepEqual(failures.map(String), ['Error: on purpose', 'Error: on purpose']);
});

test('P-073 if the lifecycle stops the drain while the drain is ending long-running requests, no timer of the drain remains', async () => {
  const { clock, longRunning, drainBy, begun } = drained(3);
  longRunning.stop();
  drainBy.clear();
  assert.deepEqual(clock.pending, { all: 0, holding: 0 });
  await clock.advance(100);
  assert.deepEqual(begun, []);
});
