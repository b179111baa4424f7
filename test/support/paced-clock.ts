// A Clock that goes slower than time does, or faster.
import { systemClock, type Clock } from '../../src/clock.ts';

/**
 * pacedClock goes by so many milliseconds in each one of the world. At a tenth what waits for it waits ten times as long, and
 * what the machine itself takes counts for a tenth: it does not reach a limit that would be near otherwise.
 */
export function pacedClock(pace: number): Clock {
  return {
    now: () => systemClock.now() * pace,
    after: (milliseconds, callback) => systemClock.after(milliseconds / pace, callback),
    afterUnref: (milliseconds, callback) => systemClock.afterUnref(milliseconds / pace, callback),
  };
}
