// Tests which responses count as not sent. A response counts as not sent while its socket still has bytes that the
// kernel has not accepted.
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Exchange } from '../../../src/http/exchange.ts';
import { UnsentResponses } from '../../../src/http/http2/unsent-responses.ts';

function unsentOn(handle: { writeQueueSize?: number }): UnsentResponses {
  return new UnsentResponses({ _handle: handle } as unknown as Socket);
}

const answered = (arrivedAt: number): Exchange => ({ request: {}, arrivedAt }) as Exchange;

test('P-025 a response counts as unsent if its socket still has unwritten bytes at the end of the event-loop turn in which the handler ended the response', async () => {
  const handle = { writeQueueSize: 0 };
  const unsent = unsentOn(handle);
  unsent.note(answered(1));
  handle.writeQueueSize = 10;
  await setImmediate();
  assert.deepEqual(unsent.remaining(), [answered(1)]);
  handle.writeQueueSize = 0;
  assert.deepEqual(unsent.remaining(), []);
});

test('P-025 if all bytes of a response are written in the turn of the event loop in which the handler ended the response, the response counts as sent', async () => {
  const handle = { writeQueueSize: 10 };
  const unsent = unsentOn(handle);
  unsent.note(answered(1));
  handle.writeQueueSize = 0;
  await setImmediate();
  handle.writeQueueSize = 10;
  assert.deepEqual(unsent.remaining(), []);
});

test('if a client never reads as fast as the server writes, lameduck keeps records of only the last hundred responses to this client', () => {
  const unsent = unsentOn({ writeQueueSize: 10 });
  for (let index = 0; index < 150; index++) unsent.note(answered(index));
  assert.deepEqual(
    unsent.remaining().map(({ arrivedAt }) => arrivedAt),
    Array.from({ length: 100 }, (_, index) => 50 + index),
  );
});

test('if Node does not report the number of unwritten bytes of a socket, each response counts as sent when its handler has ended it', () => {
  const unsent = unsentOn({});
  unsent.note(answered(1));
  assert.deepEqual(unsent.remaining(), []);
});
