// A Clock whose time moves only when a test advances it. Its first time is a large number that no test uses as a
// duration. So a test fails if code uses a time as a duration.
import type { Clock } from '../../src/clock.ts';

interface Timer {
  readonly at: number;
  readonly callback: () => void;
  readonly holdsProcess: boolean;
}

export class FakeClock implements Clock {
  #now = 1_000_003;
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#now;
  }

  after(milliseconds: number, callback: () => void): () => void {
    return this.#start(milliseconds, callback, true);
  }

  afterUnref(milliseconds: number, callback: () => void): () => void {
    return this.#start(milliseconds, callback, false);
  }

  #start(milliseconds: number, callback: () => void, holdsProcess: boolean): () => void {
    const timer = { at: this.#now + milliseconds, callback, holdsProcess };
    this.#timers.add(timer);
    return () => {
      this.#timers.delete(timer);
    };
  }

  /** How many timers are pending, and how many of these would keep a process alive. */
  get pending(): { all: number; holding: number } {
    const timers = [...this.#timers];
    return { all: timers.length, holding: timers.filter(({ holdsProcess }) => holdsProcess).length };
  }

  /** The milliseconds until the next timer, or Infinity if there is none. */
  get untilNext(): number {
    return Math.min(...[...this.#timers].map(({ at }) => Math.max(0, at - this.#now)));
  }

  /**
   * `advance()` advances the fake clock by `milliseconds`, and runs each timer that becomes due, the earliest first.
   * After each timer, `advance()` waits until the callbacks of pending promises have run.
   */
  async advance(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds;
    await settled();
    for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.callback();
      await settled();
    }
    this.#now = end;
  }

  /**
   * `block()` simulates a blocked event loop: it advances the fake clock, but does not run the timers that become due.
   */
  block(milliseconds: number): void {
    this.#now += milliseconds;
  }

  /**
   * advanceUntil advances the fake clock in steps of 10 ms until `promise` has resolved. After `atMost` milliseconds of
   * the fake clock, it throws an error that contains the text `what`.
   */
  async advanceUntil<Value>(what: string, promise: Promise<Value>, atMost = 60_000): Promise<Value> {
    const outcome: { value?: Value } = {};
    void promise.then((value) => (outcome.value = value));
    for (const end = this.#now + atMost; this.#now < end;) {
      await settled();
      if ('value' in outcome) return outcome.value;
      await this.advance(10);
    }
    throw new Error(`${what} did not happen within ${String(atMost)} ms of the fake clock`);
  }

  #next(end: number): Timer | undefined {
    const due = [...this.#timers].filter(({ at }) => at <= end);
    return due.sort((a, b) => a.at - b.at)[0];
  }
}

/** `settled()` resolves after all pending promise callbacks have run. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
