// Tests when the server sends a GOAWAY, depending on the client's round-trip times and on the frames in flight.
import assert from 'node:assert/strict';
import type { ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { Goaway } from '../../../src/http/http2/goaway.ts';
import { FakeClock } from '../../support/fake-clock.ts';

interface AnnouncedClient {
  /** How long the simulated client takes to answer the first ping and each later ping, in milliseconds. */
  readonly roundTrips: readonly [number, number];
  /**
   * The number of frames that the server has queued for the simulated client. The number does not change during the
   * test.
   */
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
  [
    'that answers pings can open streams for one round trip after the first GOAWAY',
    { roundTrips: [10, 20] },
    { isTold: true, toldAt: [10], resolvedAt: 30 },
  ],
  [
    'that stops answering pings can open streams for three seconds after the first GOAWAY',
    { roundTrips: [10, Infinity] },
    { isTold: true, toldAt: [10], resolvedAt: 3_010 },
  ],
  ['that answers no ping gets no GOAWAY', { roundTrips: never }, { isTold: false, toldAt: [], resolvedAt: 520 }],
  [
    'to which the server always has more frames to send gets no GOAWAY',
    { roundTrips: [10, 10], queued: 1 },
    { isTold: false, toldAt: [], resolvedAt: 510 },
  ],
] as const) {
  test(`P-043 without TLS, a client ${title}`, async () => {
    assert.deepEqual(await announced(client), expected);
  });
}

interface SettlingClient {
  /** How long the simulated client takes to answer a ping, in milliseconds. */
  readonly roundTrip: number;
  /**
   * The largest number of streams that the simulated client opens. The client opens one stream each time it answers a
   * ping.
   */
  readonly opens: number;
}

/**
 * Before lameduck sends the GOAWAY of a session over TLS, it waits until the client has stopped opening streams.
 * `settle()` returns how long lameduck waits for the simulated client, in milliseconds.
 */
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
      assert.ok(settling.hold.isOn, 'streams that arrive before the GOAWAY wait for the GOAWAY');
      resolve(clock.now() - since);
    });
  });
  const after = await clock.advanceUntil('the end of the holding', told);
  assert.ok(!settling.hold.isOn);
  return after;
}

for (const [title, client, expected] of [
  ['that opens no stream gets its GOAWAY after a round trip and 100 ms', { roundTrip: 10, opens: 0 }, 110],
  ['that stops opening streams gets its GOAWAY a round trip and 100 ms later', { roundTrip: 10, opens: 3 }, 440],
  ['that never stops opening streams gets its GOAWAY after half a second', { roundTrip: 5, opens: Infinity }, 520],
  ['with a slow connection gets its GOAWAY after four round trips', { roundTrip: 300, opens: 3 }, 1_600],
  [
    'with a slow connection that never stops opening streams gets its GOAWAY after four round trips',
    { roundTrip: 300, opens: Infinity },
    1_600,
  ],
  ['that answers no ping gets its GOAWAY after three seconds', { roundTrip: Infinity, opens: 0 }, 3_100],
  ['with round trips of 1.6 seconds gets its GOAWAY after three seconds', { roundTrip: 1_600, opens: Infinity }, 3_100],
] as const) {
  test(`P-043 over TLS, a client ${title}`, async () => {
    assert.equal(await settle(client), expected);
  });
}
