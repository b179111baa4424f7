// A Clock that goes slower than time does, or faster.
import { systemClock, type Clock } from '../../src/clock.ts';

/**
 * pacedClock advances by `pace` milliseconds per real millisecond. At a pace of a tenth, each wait takes ten times as
 * long, and the time that the machine itself needs counts for a tenth. A slow machine then reaches no limit.
 */
export function pacedClock(pace: number): Clock {
  return {
    now: () => systemClock.now() * pace,
    after: (milliseconds, callback) => systemClock.after(milliseconds / pace, callback),
    afterUnref: (milliseconds, callback) => systemClock.afterUnref(milliseconds / pace, callback),
  };
}
