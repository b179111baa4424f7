// The result of one probe attempt, and the kubelet's retries of attempts that ended in an error.
import { systemClock } from '../../../clock.ts';
import type { Result } from '../streak.ts';

/** Attempt is one attempt of a probe. */
export interface Attempt {
  readonly result: Result;
  /** The text of the kubelet's event. */
  readonly output: string;
  /** The status of an HTTP response. */
  readonly status?: number | undefined;
  /** Whether a success is reported with the event `ProbeWarning` (K-005). */
  readonly isWarning?: boolean;
}

/** Outcome is one probe run: up to three attempts. */
export interface Outcome extends Attempt {
  readonly attempts: number;
  readonly tookMs: number;
}

// Only an attempt that ended in an error is repeated, never one that failed (K-006).
const mostAttempts = 3;

/** runAttempts repeats an attempt that ends in an error. It rejects only if `attempt` does. */
export async function runAttempts(attempt: () => Promise<Attempt>): Promise<Outcome> {
  const startedAt = systemClock.now();
  for (let attempts = 1; ; attempts++) {
    const outcome = await attempt();
    if (outcome.result !== 'error' || attempts === mostAttempts) {
      return { ...outcome, attempts, tookMs: systemClock.now() - startedAt };
    }
  }
}
