// One step of the shutdown. If it throws, rejects or hangs, the failure is reported and the next step follows in time.
import { wait, type Clock } from './clock.ts';
import type { Deadline } from './deadline.ts';

// Milliseconds after its deadline in which a step may still end, because a step that the deadline aborts needs a moment.
const leniency = 50;

/** StepOptions is what bounds a step. */
export interface StepOptions {
  readonly clock: Clock;
  /** The step fails if it has not ended by then. */
  readonly by: Deadline;
  readonly onFailure: (error: unknown) => void;
}

/**
 * runStep calls `run` at once, and resolves when `run` has ended or failed, or when its time is up. It never rejects: a
 * failure goes to `onFailure`.
 */
export async function runStep({ clock, by, onFailure }: StepOptions, run: () => unknown): Promise<void> {
  const isOver = new AbortController();
  try {
    const outcome = run();
    if (outcome === undefined) return;
    const isLate = by.reached.then(() => wait(clock, leniency, isOver.signal)).then(() => true);
    const ended = Promise.resolve(outcome).then(() => false);
    if (await Promise.race([ended, isLate])) throw new Error('had not ended when its time was up');
  } catch (error) {
    onFailure(error);
  } finally {
    isOver.abort();
  }
}
