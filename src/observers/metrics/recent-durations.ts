// Stores the durations of recent requests, from which lameduck predicts the duration of a shutdown. No side effects:
// all times are arguments, in milliseconds.

/** RecentDurations counts the requests of a sliding window by their duration, in the buckets of a histogram. */
export class RecentDurations {
  readonly #bounds: readonly number[];
  readonly #length: number;
  #current: Slice;
  #previous: Slice | undefined;

  /**
   * The constructor creates an empty sliding window. The window covers a period between `length` and twice `length`
   * milliseconds. `bounds` are the upper bounds of the histogram's buckets.
   */
  constructor(bounds: readonly number[], length: number, now: number) {
    this.#bounds = bounds;
    this.#length = length;
    this.#current = new Slice(bounds.length, now);
  }

  /**
   * `note()` records the duration of one request. `bucket` is the index of the first bucket whose upper bound is not
   * less than this duration.
   */
  note(bucket: number, duration: number): void {
    const { counts, longest } = this.#current;
    (counts[bucket] as number)++;
    if (duration > (longest[bucket] as number)) longest[bucket] = duration;
  }

  /**
   * `quantile()` returns an estimate: the given share of the requests in the window took at most that many
   * milliseconds. It returns 0 if there was no request.
   */
  quantile(share: number, now: number): number {
    this.#slide(now);
    const slices = this.#previous === undefined ? [this.#current] : [this.#previous, this.#current];
    const total = slices.flatMap(({ counts }) => counts).reduce((sum, count) => sum + count, 0);
    const rank = share * total;
    let below = 0;
    for (let bucket = 0; bucket <= this.#bounds.length; bucket++) {
      const count = slices.reduce((sum, { counts }) => sum + (counts[bucket] as number), 0);
      if (count > 0 && below + count >= rank) {
        const from = this.#bounds[bucket - 1] ?? 0;
        const to = Math.max(...slices.map(({ longest }) => longest[bucket] as number));
        return from + (to - from) * ((rank - below) / count);
      }
      below += count;
    }
    return 0;
  }

  #slide(now: number): void {
    const age = now - this.#current.since;
    if (age < this.#length) return;
    // Start a new half of the sliding window. The current half becomes the previous half, or is dropped if it began too
    // long ago.
    this.#previous = age < 2 * this.#length ? this.#current : undefined;
    this.#current = new Slice(this.#bounds.length, now);
  }
}

class Slice {
  readonly since: number;
  readonly counts: number[];
  /** `longest[bucket]` is the longest request duration that was recorded in a bucket of the histogram. */
  readonly longest: number[];

  constructor(bounds: number, since: number) {
    this.since = since;
    this.counts = Array.from({ length: bounds + 1 }, () => 0);
    this.longest = Array.from({ length: bounds + 1 }, () => 0);
  }
}
