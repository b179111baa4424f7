// The kubelet's crash back-off: how long a container that has exited waits for its next start. Pure.

/** BackoffLimits bound the delay, in milliseconds. */
export interface BackoffLimits {
  readonly initial: number;
  readonly maximum: number;
}

/** backoffDefaults are the kubelet's (K-142). */
export const backoffDefaults: BackoffLimits = { initial: 10_000, maximum: 300_000 };

/** reducedDecay are the limits under the kubelet's gate `ReduceDefaultCrashLoopBackOffDecay` (K-146). */
export const reducedDecay: BackoffLimits = { initial: 1_000, maximum: 60_000 };

// A container that ran for longer than this since its last step starts at the initial delay again (K-143).
const resetAfter = 600_000;

/** Backoff is the entry of one container; there is none before its first restart. */
export interface Backoff {
  readonly delay: number;
  readonly steppedAt: number;
}

/** capped returns limits under the kubelet's `maxContainerRestartPeriod`, which also bounds the initial delay (K-146). */
export function capped({ initial, maximum }: BackoffLimits, maxContainerRestartPeriod: number): BackoffLimits {
  return {
    initial: Math.min(initial, maxContainerRestartPeriod),
    maximum: Math.min(maximum, maxContainerRestartPeriod),
  };
}

/**
 * delayUntil returns the milliseconds from `now` until a container may start, if its last known instance finished at
 * `finishedAt`. For a kill by the kubelet that is the instance before the one which is killed (K-148).
 */
export function delayUntil(backoff: Backoff | undefined, finishedAt: number, now: number): number {
  if (backoff === undefined || isExpired(backoff, finishedAt)) return 0;
  return Math.max(0, finishedAt + backoff.delay - now);
}

/** stepped returns the entry after a restart at `now`. */
export function stepped(
  backoff: Backoff | undefined,
  finishedAt: number,
  now: number,
  { initial, maximum }: BackoffLimits = backoffDefaults,
): Backoff {
  const isNew = backoff === undefined || isExpired(backoff, finishedAt);
  return { delay: isNew ? initial : Math.min(backoff.delay * 2, maximum), steppedAt: now };
}

function isExpired({ steppedAt }: Backoff, finishedAt: number): boolean {
  return finishedAt - steppedAt > resetAfter;
}
