// Waiting until a client of HTTP/2 has nothing on its way, so that the one GOAWAY that Node allows refuses no stream.
import type { ServerHttp2Session } from 'node:http2';
import { wait, type Clock } from '../clock.ts';
import { Hold } from './hold.ts';
import { roundTrip } from './round-trip.ts';

// A client that has had an answer opens its next stream within so many milliseconds of a round trip.
const pause = 20;

// A client that opens streams without waiting for answers is not waited for longer than this, in milliseconds.
const longest = 500;

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

  /** settle calls back once nothing was opened and nothing ended for a round trip and a little more; then lets go. */
  async settle(callback: () => void): Promise<void> {
    this.hold.begin();
    const until = this.#clock.now() + longest;
    let before;
    do {
      before = this.#changes;
      await roundTrip(this.#session, this.#clock, until - this.#clock.now());
      await wait(this.#clock, pause);
    } while (before !== this.#changes && this.#clock.now() < until && !this.#session.closed);
    callback();
    this.hold.end();
  }
}
