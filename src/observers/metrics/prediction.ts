// Predicts how long a shutdown takes. No side effects: all times are arguments, in milliseconds.
import { lowestDrainRate } from '../../settings/drain-rate.ts';

/**
 * Outlook contains the facts from which `predict` computes how long the shutdown will take, and whether it will cut
 * requests. Times are in milliseconds.
 */
export interface Outlook {
  /**
   * `budget` is the longest time from the beginning of the shutdown to its end. drainEnd is the longest time from the
   * beginning of the shutdown to the end of the drain, after which the destroy hooks run.
   */
  readonly budget: number;
  readonly drainEnd: number;
  readonly delay: number;
  /** longestHook is the longest of the time limits of the pre-shutdown hooks. */
  readonly longestHook: number;
  /** `elapsed` is the time since ShutdownInitiated. It is undefined before that. */
  readonly elapsed: number | undefined;
  readonly haveHooksStopped: boolean;
  readonly isDraining: boolean;
  readonly isDrained: boolean;
  readonly requestsInFlight: number;
  /** `oldest` is the age of the oldest request in flight. */
  readonly oldest: number;
  /** `usual` is the 99th percentile of the durations of recent requests. */
  readonly usual: number;
  readonly longRunningRequests: number;
  /**
   * `grace` is the value of shutdownWatchTerminationGracePeriod: the longest time that the drain takes to end the
   * long-running requests.
   */
  readonly grace: number;
}

/** Prediction is the expected duration of the whole shutdown, and whether the drain is expected to cut requests. */
export interface Prediction {
  readonly duration: number;
  readonly isOverrun: boolean;
}

/**
 * `predict()` returns the expected duration of the whole shutdown, in milliseconds: the time before the drain plus the
 * time of the drain. It expects that the requests in flight need as long to drain as the age of the oldest request. If
 * the 99th percentile of the durations of recent requests is longer, `predict()` uses this percentile instead.
 */
export function predict(outlook: Outlook): Prediction {
  const { budget, drainEnd, elapsed = 0, isDraining, isDrained } = outlook;
  const hook = outlook.haveHooksStopped ? 0 : outlook.longestHook;
  // The drain begins when the shutdown delay and the pre-shutdown hooks have ended, at `drainEnd` at the latest.
  const before = isDraining ? elapsed : Math.max(Math.min(Math.max(outlook.delay, hook), drainEnd), elapsed);
  const drain = isDrained ? 0 : Math.max(ordinaryDrain(outlook), longRunningDrain(outlook, drainEnd - before));
  const duration = before + drain;
  return { duration, isOverrun: duration > (isDrained ? budget : drainEnd) };
}

function ordinaryDrain({ requestsInFlight, oldest, usual }: Outlook): number {
  return requestsInFlight === 0 ? 0 : Math.max(oldest, usual);
}

// Returns how many milliseconds the drain needs to end the long-running requests. The drain ends at least
// `lowestDrainRate` of these requests per second. The result is at most `grace` (the setting
// shutdownWatchTerminationGracePeriod), and at most `left`, the remaining time of the drain.
function longRunningDrain({ longRunningRequests, grace }: Outlook, left: number): number {
  return Math.max(0, Math.min(grace, left, (longRunningRequests * 1_000) / lowestDrainRate));
}
