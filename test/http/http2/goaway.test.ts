// When a client of HTTP/2 in clear text that was told to leave is refused what it opens.
import assert from 'node:assert/strict';
import type { ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { announce } from '../../../src/http/http2/goaway.ts';
import { FakeClock } from '../../support/fake-clock.ts';

interface Client {
  /** How long it takes to answer the first ping, in milliseconds, and each one behind that. */
  readonly roundTrips: readonly [number, number];
  /** How many frames are always on their way to it. */
  readonly queued?: number;
}

interface Announced {
  readonly isTold: boolean;
  readonly toldAt: readonly number[];
  readonly resolvedAt: number;
}

async function announced({ roundTrips: [first, others], queued = 0 }: Client): Promise<Announced> {
  const clock = new FakeClock();
  const since = clock.now();
  let pings = 0;
  const session = {
    state: { outboundQueueSize: queued },
    ping(answer: (error: null) => void) {
      clock.after(pings++ === 0 ? first : others, () => {
        answer(null);
      });
    },
  };
  const toldAt: number[] = [];
  const socket = {
    _handle: { writeQueueSize: 0 },
    bytesWritten: 0,
    writableLength: 0,
    write() {
      toldAt.push(clock.now() - since);
    },
  };
  const announcement = announce(session as unknown as ServerHttp2Session, socket as unknown as Socket, clock);
  const isTold = await clock.advanceUntil('the announcement', announcement);
  return { isTold, toldAt, resolvedAt: clock.now() - since };
}

const never = [Infinity, Infinity] as const;

for (const [title, client, expected] of [
  ['is refused no stream for a round trip', { roundTrips: [10, 20] }, { isTold: true, toldAt: [10], resolvedAt: 30 }],
  [
    'that does not answer any more has three seconds',
    { roundTrips: [10, Infinity] },
    { isTold: true, toldAt: [10], resolvedAt: 3_010 },
  ],
  ['that answers no ping is told nothing', { roundTrips: never }, { isTold: false, toldAt: [], resolvedAt: 520 }],
  [
    'that always has much on its way to it is told nothing',
    { roundTrips: [10, 10], queued: 1 },
    { isTold: false, toldAt: [], resolvedAt: 510 },
  ],
] as const) {
  test(`P-043 in clear text a client ${title}`, async () => {
    assert.deepEqual(await announced(client), expected);
  });
}
