// The rate at which the drain ends long-running requests.
import { lowestDrainRate } from '../../settings/drain-rate.ts';

/**
 * DrainRateLimiter decides when the drain may end the next long-running request, without bursts. As in the apiserver,
 * the rate is 200 requests per second. If ending `count` requests at that rate would take longer than `grace`
 * milliseconds, the rate is higher.
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

  /** `next` is the time at which the drain may end the next long-running request. */
  get next(): number {
    return this.#since + (this.#given * 1_000) / this.rate;
  }

  /** `take()` returns true if the drain may end a long-running request now, and counts this request. */
  take(now: number): boolean {
    if (this.next > now) return false;
    this.#given++;
    return true;
  }
}
