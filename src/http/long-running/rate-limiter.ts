// The rate at which the drain ends long-running requests.
import { leastPerSecond } from '../../settings/pace.ts';

/**
 * Limiter allows one request after another, without bursts. The rate is the apiserver's: 200 per second, or more if `count`
 * requests would not all end within `grace` milliseconds.
 */
export class Limiter {
  /** Requests per second. */
  readonly rate: number;
  readonly #since: number;
  #given = 0;

  constructor(count: number, grace: number, now: number) {
    this.rate = grace > 0 ? Math.max(leastPerSecond, (count * 1_000) / grace) : Infinity;
    this.#since = now;
  }

  /** When the next request is allowed. */
  get next(): number {
    return this.#since + (this.#given * 1_000) / this.rate;
  }

  /** take returns true if a request is allowed now, and counts that request. */
  take(now: number): boolean {
    if (this.next > now) return false;
    this.#given++;
    return true;
  }
}
