// Tests when a client of HTTP/2 receives its GOAWAY, by its round trips and by the frames in flight.
import assert from 'node:assert/strict';
import type { ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { Goaway } from '../../../src/http/http2/goaway.ts';
import { FakeClock } from '../../support/fake-clock.ts';

interface AnnouncedClient {
  /** How many milliseconds the client takes to answer the first ping, and each later one. */
  readonly roundTrips: readonly [number, number];
  /** How many frames are always on their way to it. */
  readonly queued?: number;
}

interface Announced {
  readonly isTold: boolean;
  readonly toldAt: readonly number[];
  readonly resolvedAt: number;
}

async function announced({ roundTrips: [first, others], queued = 0 }: AnnouncedClient): Promise<Announced> {
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
  const announcement = new Goaway(
    session as unknown as ServerHttp2Session,
    socket as unknown as Socket,
    clock,
  ).announce();
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

interface SettlingClient {
  /** How long it takes to answer a ping, in milliseconds. */
  readonly roundTrip: number;
  /** After how many answered pings it opens nothing any more. */
  readonly opens: number;
}

/** settle returns after how many milliseconds of holding such a client receives the GOAWAY. */
async function settle({ roundTrip, opens }: SettlingClient): Promise<number> {
  const clock = new FakeClock();
  let pings = 0;
  const session = {
    ping(answer: (error: null) => void) {
      clock.after(roundTrip, () => {
        if (++pings <= opens) settling.noteChange();
        answer(null);
      });
    },
  };
  const settling = new Goaway(session as unknown as ServerHttp2Session, {} as Socket, clock);
  const since = clock.now();
  const told = new Promise<number>((resolve) => {
    void settling.settle(() => {
      assert.ok(settling.hold.isOn, 'what came before is held until it is told');
      resolve(clock.now() - since);
    });
  });
  const after = await clock.advanceUntil('the end of the holding', told);
  assert.ok(!settling.hold.isOn);
  return after;
}

for (const [title, client, expected] of [
  ['that has nothing on its way is told after a round trip and 100 ms', { roundTrip: 10, opens: 0 }, 110],
  ['is told once nothing was opened for so long', { roundTrip: 10, opens: 3 }, 440],
  ['that always opens more is told after half a second', { roundTrip: 5, opens: Infinity }, 520],
  ['that is slow has four round trips to have nothing on its way', { roundTrip: 300, opens: 3 }, 1_600],
  ['that is slow and always opens more is told after four round trips', { roundTrip: 300, opens: Infinity }, 1_600],
  ['that answers no ping is told after three seconds', { roundTrip: Infinity, opens: 0 }, 3_100],
  ['that is slower still is told after three seconds', { roundTrip: 1_600, opens: Infinity }, 3_100],
] as const) {
  test(`P-043 over TLS a client ${title}`, async () => {
    assert.equal(await settle(client), expected);
  });
}
