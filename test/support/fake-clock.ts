// A Clock whose hands a test turns. It starts at an odd hour, so that a moment taken for a length of time shows.
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

  /** How many timers wait, and how many of them would keep a process alive. */
  get pending(): { all: number; holding: number } {
    const timers = [...this.#timers];
    return { all: timers.length, holding: timers.filter(({ holdsProcess }) => holdsProcess).length };
  }

  /** How many milliseconds until the next timer; Infinity without one. */
  get untilNext(): number {
    return Math.min(...[...this.#timers].map(({ at }) => Math.max(0, at - this.#now)));
  }

  /** advance runs the timers of the next `milliseconds` in order, and between two of them everything that follows. */
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

  /** block lets time pass in which nothing runs, as in a blocked event loop. */
  block(milliseconds: number): void {
    this.#now += milliseconds;
  }

  /** advanceUntil goes on in steps of 10 ms until `promise` has resolved; a failure says that `what` did not come. */
  async advanceUntil<Value>(what: string, promise: Promise<Value>, atMost = 60_000): Promise<Value> {
    const outcome: { value?: Value } = {};
    void promise.then((value) => (outcome.value = value));
    for (const end = this.#now + atMost; this.#now < end;) {
      await settled();
      if ('value' in outcome) return outcome.value;
      await this.advance(10);
    }
    throw new Error(`${what} did not come within ${String(atMost)} ms of the fake clock`);
  }

  #next(end: number): Timer | undefined {
    const due = [...this.#timers].filter(({ at }) => at <= end);
    return due.sort((a, b) => a.at - b.at)[0];
  }
}

/** settled resolves when everything that follows from what has happened has happened, short of time and sockets. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
