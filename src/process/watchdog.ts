// The watchdog: a timer that ends the process shortly after the end of the shutdown budget, if it is still alive. If the event
// loop is blocked, the probe thread ends the process (src/probe-worker/last-words.ts).
import type { Clock } from '../clock.ts';

// Milliseconds from the end of the budget to the end of the process. The shutdown itself ends with the budget.
const margin = 250;

// Milliseconds between two looks at the time that is left: a later call can shorten the budget.
const interval = 100;

/**
 * startWatchdog begins to watch the budget of the shutdown that begins now. It does not keep the process alive. `endsAt` tells
 * when the budget ends, by the clock. That can move to an earlier time.
 */
export function startWatchdog(clock: Clock, endsAt: () => number, onOverdue: () => void): void {
  const look = (): void => {
    const left = endsAt() + margin - clock.now();
    if (left > 0) clock.afterUnref(Math.min(left, interval), look);
    else onOverdue();
  };
  clock.afterUnref(interval, look);
}
