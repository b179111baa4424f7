// Combines the attempts of a probe into its result. If an attempt ends in an error, the kubelet tries the probe again
// at once.
import { systemClock } from '../../../clock.ts';
import type { Result } from '../streak.ts';

/** Attempt is the result of one attempt of a probe. */
export interface Attempt {
  readonly result: Result;
  /** `output` is the text about the probe that the kubelet writes into a Kubernetes Event such as `Unhealthy`. */
  readonly output: string;
  /** `status` is the status code of the HTTP response. */
  readonly status?: number | undefined;
  /** isWarning is true if the probe succeeded, but the kubelet also creates an event `ProbeWarning` (K-005). */
  readonly isWarning?: boolean;
}

/** Outcome is the result of one probe, which makes up to three attempts. */
export interface Outcome extends Attempt {
  readonly attempts: number;
  readonly tookMs: number;
}

// The largest number of attempts of one probe. The kubelet repeats an attempt that ended in an error, but not an
// attempt that failed (K-006).
const mostAttempts = 3;

/**
 * runAttempts calls `attempt` up to three times, until a result is not an error. It resolves with the last result, and
 * rejects only if `attempt` rejects.
 */
export async function runAttempts(attempt: () => Promise<Attempt>): Promise<Outcome> {
  const startedAt = systemClock.now();
  for (let attempts = 1; ; attempts++) {
    const outcome = await attempt();
    if (outcome.result !== 'error' || attempts === mostAttempts) {
      return { ...outcome, attempts, tookMs: systemClock.now() - startedAt };
    }
  }
}
