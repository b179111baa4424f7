// The latest time at which something must end. It can be moved to an earlier time only (K-166).
import type { Clock } from './clock.ts';

/** Deadline is one moment, with a promise that resolves and an AbortSignal that aborts at that moment. */
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

  /** Aborted when the moment has come. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** shorten moves the moment to `at` if that is earlier. A later `at` has no effect. */
  shorten(at: number): void {
    if (at >= this.#at) return;
    this.#at = at;
    this.#cancel();
    this.#cancel = this.#clock.after(Math.max(0, at - this.#clock.now()), () => {
      this.#abort.abort();
      this.#resolve();
    });
  }

  /** clear cancels the deadline: it is never reached, and its timer no longer holds the process. */
  clear(): void {
    this.#cancel();
    this.#at = -Infinity;
  }
}
