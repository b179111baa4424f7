// The rate at which the drain ends long-running requests.
import { lowestDrainRate } from '../../settings/drain-rate.ts';

/**
 * DrainRateLimiter says when the drain may end the next long-running request, without bursts. As in the apiserver, the
 * rate is 200 requests per second. If `count` requests would take longer than `grace` milliseconds at that rate, the
 * rate is raised.
 */
export class DrainRateLimiter {
  /** `rate` is the number of requests per second. */
  readonly rate: number;
  readonly #since: number;
  #given = 0;

  constructor(count: number, grace: number, now: number) {
    this.rate = grace > 0 ? Math.max(lowestDrainRate, (count * 1_000) / grace) : Infinity;
    this.#since = now;
  }

  /** `next` is the time at which the next request may be ended. */
  get next(): number {
    return this.#since + (this.#given * 1_000) / this.rate;
  }

  /** `take()` returns true, and counts a request, if a request may be ended now. */
  take(now: number): boolean {
    if (this.next > now) return false;
    this.#given++;
    return true;
  }
}
