// The kubelet's crash back-off: the delay before the kubelet starts an exited container again. No side effects.

/** BackoffLimits are the bounds of the back-off delay, in milliseconds. */
export interface BackoffLimits {
  readonly initial: number;
  readonly maximum: number;
}

/** backoffDefaults are the kubelet's default bounds of the back-off delay (K-142). */
export const backoffDefaults: BackoffLimits = { initial: 10_000, maximum: 300_000 };

/**
 * reducedDecay are the bounds of the back-off delay under the kubelet's feature gate
 * `ReduceDefaultCrashLoopBackOffDecay` (K-146).
 */
export const reducedDecay: BackoffLimits = { initial: 1_000, maximum: 60_000 };

// If a container exits more than this many milliseconds after its last restart, its back-off begins at the initial delay
// again (K-143).
const resetAfter = 600_000;

/** Backoff is the crash back-off of one container. It is undefined until the kubelet has restarted the container. */
export interface Backoff {
  readonly delay: number;
  readonly steppedAt: number;
}

/**
 * `capped()` limits each bound of the back-off delay to the kubelet's setting `maxContainerRestartPeriod` (K-146).
 */
export function capped({ initial, maximum }: BackoffLimits, maxContainerRestartPeriod: number): BackoffLimits {
  return {
    initial: Math.min(initial, maxContainerRestartPeriod),
    maximum: Math.min(maximum, maxContainerRestartPeriod),
  };
}

/**
 * delayUntil returns how many milliseconds after `now` the kubelet may start a container again. `finishedAt` is when
 * the previous instance of the container exited. If the kubelet killed that instance, `finishedAt` is when the instance
 * before it exited (K-148).
 */
export function delayUntil(backoff: Backoff | undefined, finishedAt: number, now: number): number {
  if (backoff === undefined || isExpired(backoff, finishedAt)) return 0;
  return Math.max(0, finishedAt + backoff.delay - now);
}

/**
 * `stepped()` returns the new back-off state of a container that has exited at `finishedAt` and is started again at
 * `now`.
 */
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
