// Predicts how long a shutdown takes. No side effects: all times are arguments, in milliseconds.
import { lowestDrainRate } from '../../settings/drain-rate.ts';

/** Outlook contains the facts from which `predict` computes a prediction. Times are in milliseconds. */
export interface Outlook {
  /**
   * `budget` is the length of the shutdown budget. drainEnd is the part of the budget before the destroy hooks begin.
   */
  readonly budget: number;
  readonly drainEnd: number;
  readonly delay: number;
  /** longestHook is the longest limit of a pre-shutdown hook. */
  readonly longestHook: number;
  /** `elapsed` is the time since ShutdownInitiated. It is undefined before that. */
  readonly elapsed: number | undefined;
  readonly haveHooksStopped: boolean;
  readonly isDraining: boolean;
  readonly isDrained: boolean;
  readonly requestsInFlight: number;
  /** `oldest` is the age of the oldest request in flight. */
  readonly oldest: number;
  /** `usual` is the duration within which 99 % of the recent requests have ended. */
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
 * `predict()` adds the expected time before the drain and the expected time of the drain. It assumes that the drain of
 * the requests in flight takes as long as the age of the oldest request. If this age is less than `usual`, it assumes
 * `usual`.
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

// Returns how long the drain takes to end the long-running requests. The drain ends at least `lowestDrainRate` of them
// per second.
function longRunningDrain({ longRunningRequests, grace }: Outlook, left: number): number {
  return Math.max(0, Math.min(grace, left, (longRunningRequests * 1_000) / lowestDrainRate));
}
