// Predicts how long a shutdown takes. Pure: all times are arguments, in milliseconds.
import { leastPerSecond } from '../../settings/pace.ts';

/** Outlook is the input of a prediction. */
export interface Outlook {
  /** The shutdown budget, and the part of it before the destroy hooks have to begin. */
  readonly budget: number;
  readonly drainEnd: number;
  readonly delay: number;
  /** The longest limit of a pre-shutdown hook. */
  readonly longestHook: number;
  /** Time since ShutdownInitiated; undefined before that. */
  readonly elapsed: number | undefined;
  readonly haveHooksStopped: boolean;
  readonly isDraining: boolean;
  readonly isDrained: boolean;
  readonly requestsInFlight: number;
  /** The age of the oldest request in flight. */
  readonly oldest: number;
  /** The duration that nearly all requests so far have not exceeded. */
  readonly usual: number;
  readonly longRunningRequests: number;
  /** How long the drain may take to end the long-running requests. */
  readonly grace: number;
}

/** Prediction is the expected length of the whole shutdown, and whether requests would be cut. */
export interface Prediction {
  readonly duration: number;
  readonly isOverrun: boolean;
}

/**
 * predict adds the time before the drain and the drain. It assumes that a request in flight needs as much time again as it
 * has already taken. It assumes at least the time that nearly all other requests took.
 */
export function predict(outlook: Outlook): Prediction {
  const { budget, drainEnd, elapsed = 0, isDraining, isDrained } = outlook;
  const hook = outlook.haveHooksStopped ? 0 : outlook.longestHook;
  // The delay and the hooks also end when the time for the drain is over.
  const before = isDraining ? elapsed : Math.max(Math.min(Math.max(outlook.delay, hook), drainEnd), elapsed);
  const drain = isDrained ? 0 : Math.max(ordinaryDrain(outlook), longRunningDrain(outlook, drainEnd - before));
  const duration = before + drain;
  return { duration, isOverrun: duration > (isDrained ? budget : drainEnd) };
}

function ordinaryDrain({ requestsInFlight, oldest, usual }: Outlook): number {
  return requestsInFlight === 0 ? 0 : Math.max(oldest, usual);
}

// The drain ends at least `leastPerSecond` of them per second, and more if the time would not suffice otherwise.
function longRunningDrain({ longRunningRequests, grace }: Outlook, left: number): number {
  return Math.max(0, Math.min(grace, left, (longRunningRequests * 1_000) / leastPerSecond));
}
