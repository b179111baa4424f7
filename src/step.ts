// One step of the shutdown. If a step throws, rejects or hangs, its failure is reported and the next step still runs.
import { wait, type Clock } from './clock.ts';
import type { Deadline } from './deadline.ts';

// The tolerance, in milliseconds, for the deadline of a step of the shutdown. A step counts as failed only if it
// exceeds its deadline by more than this. A step that is aborted at its deadline needs some time to stop.
const leniency = 50;

export interface StepOptions {
  readonly clock: Clock;
  /**
   * `by` is the deadline of this step of the shutdown. If the step is still running shortly after its deadline, it
   * counts as failed.
   */
  readonly by: Deadline;
  readonly onFailure: (error: unknown) => void;
}

/**
 * runStep calls `run` at once. It resolves when `run` has ended or failed, or when its deadline has passed. It never
 * rejects: a failure is passed to `onFailure`.
 */
export async function runStep({ clock, by, onFailure }: StepOptions, run: () => unknown): Promise<void> {
  const isOver = new AbortController();
  try {
    const outcome = run();
    if (outcome === undefined) return;
    const isLate = by.reached.then(() => wait(clock, leniency, isOver.signal)).then(() => true);
    const ended = Promise.resolve(outcome).then(() => false);
    if (await Promise.race([ended, isLate])) throw new Error('had not ended at its deadline');
  } catch (error) {
    onFailure(error);
  } finally {
    isOver.abort();
  }
}
