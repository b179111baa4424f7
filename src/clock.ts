// The only file that reads the time and sets timers. All other code gets a Clock as an argument, so that a test can
// control the time.
import { performance, type Performance } from 'node:perf_hooks';
import { hrtime, startTimer, stopTimer } from './node-timers.ts';

export { startImmediate, stopTimer } from './node-timers.ts';

// Store the bound function, because calling it is faster than reading the global `performance`, which is a getter. Take
// `now` from the prototype, because fake timers may have replaced `performance.now` before this file is loaded. In Bun,
// the prototype has no such method.
const native = (Object.getPrototypeOf(performance) as Partial<Performance>).now;
const now = (native ?? performance.now).bind(performance);

/**
 * threadTime returns a monotonic time in milliseconds that is equal in every thread. `Clock.now` counts from the start
 * of its thread, so it returns different times in two threads.
 */
export function threadTime(): number {
  const [seconds, nanoseconds] = hrtime();
  return seconds * 1_000 + nanoseconds / 1_000_000;
}

/** Clock measures monotonic time in milliseconds (P-074). */
export interface Clock {
  now(): number;
  /**
   * `after()` calls `callback` once after `milliseconds`, which is at most 24.8 days. The returned function cancels the
   * timer.
   */
  after(milliseconds: number, callback: () => void): () => void;
  /** afterUnref calls `callback` as `after` does, but its timer does not keep the process alive. */
  afterUnref(milliseconds: number, callback: () => void): () => void;
}

// The longest delay of a Node timer, in milliseconds. A timer with a longer delay would fire at once.
const longestTimer = 2 ** 31 - 1;

// Add one millisecond to the duration of the timer. Node truncates the duration and the current time to whole
// milliseconds. Without the addition, the timer could therefore fire too early.
function startLater(callback: () => void, milliseconds: number): NodeJS.Timeout {
  return startTimer(callback, Math.min(Math.ceil(milliseconds) + 1, longestTimer));
}

/** systemClock is the real Clock, which every process uses except in tests. */
export const systemClock: Clock = {
  now,
  after(milliseconds, callback) {
    const timer = startLater(callback, milliseconds);
    return () => {
      stopTimer(timer);
    };
  },
  afterUnref(milliseconds, callback) {
    const timer = startLater(callback, milliseconds).unref();
    return () => {
      stopTimer(timer);
    };
  },
};

/** wallTime is the time of day in milliseconds, for log lines. It must not be used to measure a duration (P-074). */
export function wallTime(): number {
  return Date.now();
}

/** `wait()` resolves `milliseconds` from now, or at once when `signal` is aborted. It never rejects. */
export function wait(clock: Clock, milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const cancel = clock.after(milliseconds, done);
    signal?.addEventListener('abort', done, { once: true });
    function done(): void {
      cancel();
      signal?.removeEventListener('abort', done);
      resolve();
    }
  });
}

/** timedOut is the value with which `withTimeout` resolves after its time limit. */
export const timedOut = Symbol('lameduck.timed-out');

/**
 * withTimeout settles as `promise` does, or resolves with `timedOut` after `milliseconds`. A later rejection of
 * `promise` is ignored.
 */
export async function withTimeout<Result>(
  clock: Clock,
  promise: Result | Promise<Result>,
  milliseconds: number,
): Promise<Result | typeof timedOut> {
  let cancel = (): void => undefined;
  const late = new Promise<typeof timedOut>((resolve) => {
    cancel = clock.after(milliseconds, () => {
      resolve(timedOut);
    });
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    cancel();
  }
}
