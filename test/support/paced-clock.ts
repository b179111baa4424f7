// A Clock whose speed can be set. If the clock is slower than real time, a time limit cannot pass too early on a slow
// machine.
import { systemClock, type Clock } from '../../src/clock.ts';

/**
 * pacedClock advances by `pace` milliseconds per real millisecond. At a pace of 1/10, each wait takes ten times as long
 * in real time.
 */
export function pacedClock(pace: number): Clock {
  return {
    now: () => systemClock.now() * pace,
    after: (milliseconds, callback) => systemClock.after(milliseconds / pace, callback),
    afterUnref: (milliseconds, callback) => systemClock.afterUnref(milliseconds / pace, callback),
  };
}
