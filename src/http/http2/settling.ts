// Waiting until a client of HTTP/2 has nothing on its way, so that the one GOAWAY that Node allows refuses no stream.
import type { ServerHttp2Session } from 'node:http2';
import { wait, type Clock } from '../../clock.ts';
import { Hold } from '../admission/hold.ts';
import { quiet, roundTrip } from './round-trip.ts';

// What is left of `quiet` for a client whose streams end so often that it is never quiet for so long.
const shortestPause = 20;

// A client that opens streams without waiting for answers is not waited for longer than this, in milliseconds; but for a
// few round trips, where those take long, since one that waits shows it only after them.
const longest = 500;
const roundTrips = 4;
const longestRoundTrips = 3_000;

/**
 * Settling holds the streams that a client opens. In the end it waits for the answers to all of them, and a GOAWAY that is
 * ahead of these refuses nothing.
 */
export class Settling {
  /** Keeps what is opened meanwhile. */
  readonly hold = new Hold();
  readonly #session: ServerHttp2Session;
  readonly #clock: Clock;
  #changes = 0;

  constructor(session: ServerHttp2Session, clock: Clock) {
    this.#session = session;
    this.#clock = clock;
  }

  /** noteChange says that a stream was opened or has ended. */
  noteChange(): void {
    this.#changes++;
  }

  /**
   * settle calls back once nothing was opened and nothing ended for a round trip and a little more. It lets go when the
   * callback's promise has resolved, and resolves with the same.
   */
  async settle<Result>(callback: () => Result | Promise<Result>): Promise<Result> {
    this.hold.begin();
    const since = this.#clock.now();
    let elapsed = 0;
    for (let count = 1; ; count++) {
      const before = this.#changes;
      await roundTrip(this.#session, this.#clock, longestRoundTrips - elapsed);
      await wait(this.#clock, count <= roundTrips ? quiet : shortestPause);
      elapsed = this.#clock.now() - since;
      if (before === this.#changes || this.#session.closed) break;
      if (elapsed >= (count < roundTrips ? longestRoundTrips : longest)) break;
    }
    const result = await callback();
    this.hold.end();
    return result;
  }
}
