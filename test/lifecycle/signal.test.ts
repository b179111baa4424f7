import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Latch } from '../../src/lifecycle/signal.ts';

test('A-001 a lifecycle signal fires once and stays fired, and its promise resolves for callbacks that are added before the signal fires and for callbacks that are added later', async () => {
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

test('A-001 firing a lifecycle signal twice has no further effect', async () => {
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

test('a lifecycle signal keeps the name with which it was created, and reading its property `signaled` does not fire the signal', () => {
  const latch = new Latch('NotAcceptingNewRequest');
  assert.equal(latch.name, 'NotAcceptingNewRequest');
  void latch.signaled;
  assert.equal(latch.hasSignaled, false);
});
