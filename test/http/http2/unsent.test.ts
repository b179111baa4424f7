// Which answers count as not sent, by what the kernel has not taken of their socket.
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Exchange } from '../../../src/http/exchange.ts';
import { Unsent } from '../../../src/http/http2/unsent.ts';

function unsentOn(handle: { writeQueueSize?: number }): Unsent {
  return new Unsent({ _handle: handle } as unknown as Socket);
}

const answered = (arrivedAt: number): Exchange => ({ request: {}, arrivedAt }) as Exchange;

test('P-025 an answer is not sent as long as its socket has something to write after the turn that it ended in', async () => {
  const handle = { writeQueueSize: 0 };
  const unsent = unsentOn(handle);
  unsent.note(answered(1));
  handle.writeQueueSize = 10;
  await setImmediate();
  assert.deepEqual(unsent.list(), [answered(1)]);
  handle.writeQueueSize = 0;
  assert.deepEqual(unsent.list(), []);
});

test('P-025 an answer that was written in its turn is forgotten in that', async () => {
  const handle = { writeQueueSize: 10 };
  const unsent = unsentOn(handle);
  unsent.note(answered(1));
  handle.writeQueueSize = 0;
  await setImmediate();
  handle.writeQueueSize = 10;
  assert.deepEqual(unsent.list(), []);
});

test('for a client that never catches up, the last hundred answers are kept', () => {
  const unsent = unsentOn({ writeQueueSize: 10 });
  for (let index = 0; index < 150; index++) unsent.note(answered(index));
  assert.deepEqual(
    unsent.list().map(({ arrivedAt }) => arrivedAt),
    Array.from({ length: 100 }, (_, index) => 50 + index),
  );
});

test('where Node does not tell, nothing counts as not sent', () => {
  const unsent = unsentOn({});
  unsent.note(answered(1));
  assert.deepEqual(unsent.list(), []);
});
