// The backstop of the shutdown budget: a timer that ends the process shortly after the budget, if the process is still
// alive. If the event loop is blocked, probe-worker/blocked-process-end.ts ends the process instead.
import type { Clock } from '../clock.ts';

// Milliseconds from the end of the shutdown budget until the backstop ends the process. Normally, the process has
// exited by then.
const margin = 250;

// Milliseconds between two checks of the remaining time. The end of the budget can become earlier at any time.
const interval = 100;

/**
 * startBudgetBackstop calls `onOverdue` when the process is still alive after the end of the shutdown budget. Its timer
 * does not keep the process alive. `endsAt` returns the end of the budget, which a later event can bring forward.
 */
export function startBudgetBackstop(clock: Clock, endsAt: () => number, onOverdue: () => void): void {
  const look = (): void => {
    const left = endsAt() + margin - clock.now();
    if (left > 0) clock.afterUnref(Math.min(left, interval), look);
    else onOverdue();
  };
  clock.afterUnref(interval, look);
}
