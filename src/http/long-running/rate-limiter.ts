// How fast long-running requests are told to end.
import { leastPerSecond } from '../../settings/pace.ts';

/**
 * Limiter gives out moments, one after another and never two at once (burst 1), at the apiserver's rate: 200 a second, or
 * more where `count` requests would not all end within `grace` milliseconds.
 */
export class Limiter {
  /** Moments in a second. */
  readonly rate: number;
  readonly #since: number;
  #given = 0;

  constructor(count: number, grace: number, now: number) {
    this.rate = grace > 0 ? Math.max(leastPerSecond, (count * 1_000) / grace) : Infinity;
    this.#since = now;
  }

  /** When the next moment comes. */
  get next(): number {
    return this.#since + (this.#given * 1_000) / this.rate;
  }

  /** take uses up the next moment, if it has come. */
  take(now: number): boolean {
    if (this.next > now) return false;
    this.#given++;
    return true;
  }
}
