// How long a client of HTTP/2 is waited for that has something on its way.
import assert from 'node:assert/strict';
import type { ServerHttp2Session } from 'node:http2';
import { test } from 'node:test';
import { Settling } from '../../../src/http/http2/settling.ts';
import { FakeClock } from '../../support/fake-clock.ts';

interface Client {
  /** How long it takes to answer a ping, in milliseconds. */
  readonly roundTrip: number;
  /** After how many answered pings it opens nothing any more. */
  readonly opens: number;
}

/** settle returns after how many milliseconds of holding such a client is told. */
async function settle({ roundTrip, opens }: Client): Promise<number> {
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
  const settling = new Settling(session as unknown as ServerHttp2Session, clock);
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
