// The queue in which the long-running requests of a lifecycle wait until the drain ends them. The drain ends them one
// after another, at the rate at which the apiserver ends its watches.
import type { Clock } from '../../clock.ts';
import type { Deadline } from '../../deadline.ts';
import { DrainRateLimiter } from './drain-rate-limiter.ts';
import type { Ending, Exchange } from '../exchange.ts';
import type { InFlight } from '../in-flight/in-flight.ts';
import { visitEach } from '../visit-each.ts';

// The largest number of long-running requests to end in one turn of the event loop. After a stall, many requests are
// due at once, and ending all of them in one turn would cause another stall.
const mostPerTurn = 100;

// The drain ends long-running requests that are still open after their grace period. This is the longest time, in
// milliseconds, that the drain spends on these requests in one turn of the event loop.
const longestTurn = 25;

// How long the handler of the last long-running request may still run after lameduck has aborted the request's
// AbortSignal, in milliseconds.
const abortGrace = 500;

// The shortest time, in milliseconds, from the end of the last long-running requests until the drain destroys all
// connections. In this time, the connections of these last requests can close.
const reserve = 250;

/**
 * LongRunningDrainOptions contains the grace period, the deadline and the reconnection time for the drain of
 * long-running requests. Times are in milliseconds.
 */
export interface LongRunningDrainOptions {
  readonly grace: number;
  /** drainBy is the time at which the drain destroys all remaining connections. */
  readonly drainBy: Deadline;
  /**
   * `retry` is the mean of the `retry:` values that event streams send. If retry is 0, event streams send no `retry:`.
   */
  readonly retry: number;
}

/** LongRunningOptions are the parts of a lifecycle that LongRunning uses. */
export interface LongRunningOptions {
  readonly clock: Clock;
  readonly inFlight: InFlight;
  readonly random: () => number;
  /**
   * onFailure is called with the error if ending a long-running request throws, because the program has changed its
   * response.
   */
  readonly onFailure: (error: unknown) => void;
}

/**
 * LongRunning contains the long-running requests in two sets. The requests in `#waiting` wait for their turn. The drain
 * has begun to end the requests in `#ending`.
 */
export class LongRunning {
  readonly #clock: Clock;
  readonly #inFlight: InFlight;
  readonly #random: () => number;
  readonly #onFailure: (error: unknown) => void;
  readonly #waiting = new Set<Exchange>();
  readonly #ending = new Set<Exchange>();
  #limiter: DrainRateLimiter | undefined;
  #endAt: (() => number) | undefined;
  #retry = 0;
  #cancel: (() => void) | undefined;

  constructor({ clock, inFlight, random, onFailure }: LongRunningOptions) {
    this.#clock = clock;
    this.#inFlight = inFlight;
    this.#random = random;
    this.#onFailure = onFailure;
  }

  /** `add()` makes a request count as long-running. */
  add(exchange: Exchange, ending: Ending): void {
    this.#inFlight.move(exchange, { is: 'long-running', ending });
    this.#waiting.add(exchange);
    if (this.#limiter !== undefined) this.#schedule();
  }

  /**
   * `delete()` removes an ended request from the queue, or returns false if the queue does not contain the request. If
   * the drain had not yet begun to end the removed request, the next request in the queue gets its turn sooner (P-037).
   */
  delete(exchange: Exchange): boolean {
    return this.#waiting.delete(exchange) || this.#ending.delete(exchange);
  }

  /**
   * `drain()` begins to end the long-running requests one after another, at the rate of DrainRateLimiter. A
   * long-running request that arrives later is put at the end of the queue (P-038).
   */
  drain({ grace, drainBy, retry }: LongRunningDrainOptions): void {
    const now = this.#clock.now();
    const length = Math.max(0, Math.min(grace, drainBy.at - now - abortGrace - reserve));
    // Read the deadline `drainBy.at` at each call of `#endAt()`, because an uncaught error during the drain can make
    // the deadline earlier.
    this.#endAt = () => Math.min(now + length + abortGrace, drainBy.at - reserve);
    this.#limiter = new DrainRateLimiter(this.#waiting.size, length, now);
    this.#retry = retry;
    this.#schedule();
  }

  /**
   * When the grace period of the long-running requests is over, endOverdue ends those that are still open (A-140,
   * The drain calls endOverdue repeatedly.
   */
  endOverdue(now: number): void {
    if (this.#endAt === undefined || now < this.#endAt()) return;
    for (const exchange of this.#waiting) this.#moveToEnding(exchange);
    for (const { state } of this.#ending) {
      if (this.#clock.now() - now > longestTurn) break;
      if (state.is === 'ending') visitEach([state.ending], endNow, this.#onFailure);
    }
  }

  /**
   * `stop()` cancels the timer at which the drain would end the next long-running request. Otherwise, the timer would
   * keep the process alive.
   */
  stop(): void {
    this.#cancel?.();
    this.#limiter = undefined;
  }

  #schedule(): void {
    if (this.#cancel !== undefined || this.#limiter === undefined || this.#waiting.size === 0) return;
    this.#cancel = this.#clock.after(Math.max(0, this.#limiter.next - this.#clock.now()), () => {
      this.#cancel = undefined;
      this.#beginThoseDue();
      this.#schedule();
    });
  }

  #beginThoseDue(): void {
    const now = this.#clock.now();
    let begun = 0;
    for (const exchange of this.#waiting) {
      if (begun++ === mostPerTurn || this.#limiter?.take(now) !== true) break;
      const retry = this.#retry === 0 ? undefined : this.#jittered(this.#retry);
      visitEach([exchange], (one) => this.#moveToEnding(one)?.begin(retry), this.#onFailure);
    }
  }

  // Add jitter to the reconnection time of each client, so that clients that connected at the same time do not
  // reconnect at the same time.
  #jittered(retry: number): number {
    return Math.round(retry * (0.5 + this.#random()));
  }

  #moveToEnding(exchange: Exchange): Ending | undefined {
    const { state } = exchange;
    if (state.is !== 'long-running') return undefined;
    this.#waiting.delete(exchange);
    this.#ending.add(exchange);
    this.#inFlight.move(exchange, { is: 'ending', ending: state.ending });
    return state.ending;
  }
}

function endNow(ending: Ending): void {
  ending.end();
}
