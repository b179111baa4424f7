// The backstop of the shutdown budget: a timer that ends the process shortly after the budget, if the process is still
// alive. If the event loop is blocked, probe-worker/blocked-process-end.ts ends the process instead.
import type { Clock } from '../clock.ts';

// If the process is still alive this many milliseconds after the end of its shutdown budget, a timer ends the process.
// Normally, the process has exited before.
const margin = 250;

// The longest time between two calls of `endsAt`, in milliseconds. `endsAt` returns the end of the shutdown budget,
// which can become earlier, for example through an uncaught error.
const interval = 100;

/**
 * startBudgetBackstop calls `onOverdue` if the process is still alive shortly after the end of the shutdown budget. Its
 * timer does not keep the process alive. `endsAt` returns the time at which the shutdown budget ends. It is called
 * repeatedly, because this time can become earlier.
 */
export function startBudgetBackstop(clock: Clock, endsAt: () => number, onOverdue: () => void): void {
  const look = (): void => {
    const left = endsAt() + margin - clock.now();
    if (left > 0) clock.afterUnref(Math.min(left, interval), look);
    else onOverdue();
  };
  clock.afterUnref(interval, look);
}
