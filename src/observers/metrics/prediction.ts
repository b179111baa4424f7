// How long a shutdown is expected to take. Pure: all times are milliseconds, and given.
import { leastPerSecond } from '../../settings/pace.ts';

/** Outlook is what the expectation is made from. */
export interface Outlook {
  /** The whole budget, and what of it is over when the destroy hooks have to begin. */
  readonly budget: number;
  readonly drainEnd: number;
  readonly delay: number;
  /** The longest limit of a pre-shutdown hook. */
  readonly longestHook: number;
  /** Since ShutdownInitiated; undefined when none has begun. */
  readonly elapsed: number | undefined;
  readonly haveHooksStopped: boolean;
  readonly isDraining: boolean;
  readonly isDrained: boolean;
  readonly requestsInFlight: number;
  /** The age of the oldest of them. */
  readonly oldest: number;
  /** What nearly all requests took at most, so far. */
  readonly usual: number;
  readonly longRunningRequests: number;
  /** How long the drain may take to end those. */
  readonly grace: number;
}

/** Prediction is the expected length of the whole shutdown, and whether requests would be cut. */
export interface Prediction {
  readonly duration: number;
  readonly isOverrun: boolean;
}

/**
 * predict adds up what comes before the drain, the drain, and what has passed already. A request is expected to go on for
 * as long as it has been going on, and at least as long as nearly all others took.
 */
export function predict(outlook: Outlook): Prediction {
  const { budget, drainEnd, elapsed = 0, isDraining, isDrained } = outlook;
  const hook = outlook.haveHooksStopped ? 0 : outlook.longestHook;
  // When the time for the drain is over, so is that for the delay and the hooks.
  const before = isDraining ? elapsed : Math.max(Math.min(Math.max(outlook.delay, hook), drainEnd), elapsed);
  const drain = isDrained ? 0 : Math.max(ordinaryDrain(outlook), longRunningDrain(outlook, drainEnd - before));
  const duration = before + drain;
  return { duration, isOverrun: duration > (isDrained ? budget : drainEnd) };
}

function ordinaryDrain({ requestsInFlight, oldest, usual }: Outlook): number {
  return requestsInFlight === 0 ? 0 : Math.max(oldest, usual);
}

// However many they are, they are all told to end while there is time.
function longRunningDrain({ longRunningRequests, grace }: Outlook, left: number): number {
  return Math.max(0, Math.min(grace, left, (longRunningRequests * 1_000) / leastPerSecond));
}
