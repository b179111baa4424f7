import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Latch } from '../../src/lifecycle/signal.ts';

test('A-001 a signal becomes true once, stays true, and is told to those who waited and to those who come later', async () => {
  const latch = new Latch('ShutdownInitiated');
  let told = 0;
  const waiting = latch.signaled.then(() => told++);

  assert.equal(latch.hasSignaled, false);
  latch.signal();
  assert.equal(latch.hasSignaled, true);
  await waiting;
  await latch.signaled.then(() => told++);
  assert.equal(told, 2);
});

test('A-001 signaling twice changes nothing', async () => {
  const latch = new Latch('HasBeenReady');
  let told = 0;
  const waiting = latch.signaled.then(() => told++);

  latch.signal();
  latch.signal();
  await waiting;
  await Promise.resolve();
  assert.equal(latch.hasSignaled, true);
  assert.equal(told, 1);
});

test('a signal keeps its name, and reading it does not make it true', () => {
  const latch = new Latch('NotAcceptingNewRequest');
  assert.equal(latch.name, 'NotAcceptingNewRequest');
  void latch.signaled;
  assert.equal(latch.hasSignaled, false);
});
