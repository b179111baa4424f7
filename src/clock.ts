// The only file that reads the time and sets timers. All other code is given a Clock, so that a test can control it.
import { performance } from 'node:perf_hooks';
import timers from 'node:timers';

// Read when lameduck loads, so that fake timers of the program cannot stop a shutdown. The global `performance` is a getter,
// which would cost every request time.
const now = performance.now.bind(performance);
const { clearTimeout: stopTimer } = timers;
const hrtime = process.hrtime.bind(process);

/** startTimer is the `setTimeout` of Node. */
export const startTimer = timers.setTimeout;

/** startImmediate is the `setImmediate` of Node. */
export const startImmediate = timers.setImmediate;

/** threadTime is monotonic time in milliseconds that is the same in every thread. `now()` counts from the start of its thread. */
export function threadTime(): number {
  const [seconds, nanoseconds] = hrtime();
  return seconds * 1_000 + nanoseconds / 1_000_000;
}

/** Clock is monotonic time in milliseconds (P-074). */
export interface Clock {
  now(): number;
  /** after runs `callback` once, `milliseconds` from now. The returned function cancels it. */
  after(milliseconds: number, callback: () => void): () => void;
  /** afterUnref is `after` with a timer that is dropped when nothing else keeps the event loop alive. */
  afterUnref(milliseconds: number, callback: () => void): () => void;
}

/** systemClock is the clock of the machine. */
export const systemClock: Clock = {
  now,
  after(milliseconds, callback) {
    const timer = startTimer(callback, milliseconds);
    return () => {
      stopTimer(timer);
    };
  },
  afterUnref(milliseconds, callback) {
    const timer = startTimer(callback, milliseconds).unref();
    return () => {
      stopTimer(timer);
    };
  },
};

/** wallTime is the time of day in milliseconds, for log lines. It measures no interval (P-074). */
export function wallTime(): number {
  return Date.now();
}

/** wait resolves `milliseconds` from now, or at once when `signal` is aborted. It never rejects. */
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

/** timedOut is what `withTimeout` resolves with if the time was up first. */
export const timedOut = Symbol('lameduck.timed-out');

/**
 * withTimeout resolves with what `promise` resolves with, or with `timedOut` after `milliseconds`. It rejects as `promise`
 * does in time; a later rejection is ignored.
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
