// Decides how many long-running requests the drain may end per second.
import { lowestDrainRate } from '../../settings/drain-rate.ts';

/**
 * DrainRateLimiter decides when the drain may end the next long-running request. It spreads the ends evenly over time.
 * The rate is at least 200 requests per second, as in the apiserver. If ending `count` requests at 200 per second would
 * take longer than `grace` milliseconds, the rate is higher.
 */
export class DrainRateLimiter {
  /** `rate` is the maximum number of long-running requests that the drain ends per second. */
  readonly rate: number;
  readonly #since: number;
  #given = 0;

  constructor(count: number, grace: number, now: number) {
    this.rate = grace > 0 ? Math.max(lowestDrainRate, (count * 1_000) / grace) : Infinity;
    this.#since = now;
  }

  /** `next` is the time at which the drain may end the next long-running request. */
  get next(): number {
    return this.#since + (this.#given * 1_000) / this.rate;
  }

  /**
   * `take()` returns true if the rate allows the drain to end one more long-running request now. A call that returns
   * true uses up this permission.
   */
  take(now: number): boolean {
    if (this.next > now) return false;
    this.#given++;
    return true;
  }
}
