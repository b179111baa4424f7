// A deadline: the latest time at which something must end. It can become earlier, but never later (K-166).
import type { Clock } from './clock.ts';

/** Deadline is one point in time. When this time is reached, a promise resolves and an AbortSignal aborts. */
export class Deadline {
  readonly reached: Promise<void>;
  readonly #clock: Clock;
  readonly #abort = new AbortController();
  #resolve!: () => void;
  #cancel: () => void = () => undefined;
  #at = Infinity;

  constructor(clock: Clock, at: number) {
    this.#clock = clock;
    this.reached = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.shorten(at);
  }

  get at(): number {
    return this.#at;
  }

  /** `signal` is aborted when the deadline is reached. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** `shorten()` moves the deadline to `at` if `at` is earlier. A later `at` has no effect. */
  shorten(at: number): void {
    if (at >= this.#at) return;
    this.#at = at;
    this.#cancel();
    this.#cancel = this.#clock.after(Math.max(0, at - this.#clock.now()), () => {
      this.#abort.abort();
      this.#resolve();
    });
  }

  /** `clear()` cancels the deadline: it is never reached, and its timer no longer keeps the event loop alive. */
  clear(): void {
    this.#cancel();
    this.#at = -Infinity;
  }
}
