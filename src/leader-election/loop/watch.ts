// Keeps a watch of a Lease open. When a watch ends, a new watch begins, with a longer pause after each failure
// (L-053).
import { wait, type Clock } from '../../clock.ts';
import { longestWatch, type LeaseApi } from '../api-client/api-client.ts';
import type { Problem } from '../api-client/answer.ts';
import type { Lease } from '../decision/lease.ts';

export interface WatchParts {
  readonly api: LeaseApi;
  readonly clock: Clock;
  readonly random: () => number;
  /**
   * retryPeriod is the mean pause after the first failure of a watch, in milliseconds. Each further failure doubles the
   * pause.
   */
  readonly retryPeriod: number;
  readonly onOpen: (isOpen: boolean) => void;
  readonly onChange: (lease: Lease) => void;
  /**
   * onProblem is called each time a watch has ended. Its argument is the problem that ended the watch, or undefined if
   * the watch ended without a problem.
   */
  readonly onProblem: (problem: Problem | undefined) => void;
}

// The longest pause before a failed watch is started again, in milliseconds.
const longestPause = 30_000;

// If a watch of the Lease is open for longer than this many milliseconds, the elector assumes that the connection is
// lost. The API server ends each watch earlier.
const lostAfter = (longestWatch + 10) * 1_000;

// After a 403, the elector waits this many milliseconds before it watches the Lease again. The wait is long, because a
// Role that lacks the verb `watch` is rarely changed.
const pauseWithoutPermission = 300_000;

/**
 * The class Following keeps a Kubernetes watch of the Lease open while this process is a follower, from `begin()` to
 * `end()`. While no watch is open, the elector polls the Lease.
 */
export class Following {
  #abort: AbortController | undefined;

  begin(parts: WatchParts): void {
    if (this.#abort !== undefined) return;
    this.#abort = new AbortController();
    void follow(parts, this.#abort.signal);
  }

  /** `end()` ends the watch of the Lease. It returns false if no watch was in progress. */
  end(): boolean {
    const wasFollowing = this.#abort !== undefined;
    this.#abort?.abort();
    this.#abort = undefined;
    return wasFollowing;
  }
}

async function follow(parts: WatchParts, signal: AbortSignal): Promise<void> {
  const { api, clock, random, retryPeriod, onOpen, onChange, onProblem } = parts;
  let failures = 0;
  const onFirst = (): void => {
    failures = 0;
    onOpen(true);
  };
  do {
    const lost = new AbortController();
    const cancel = clock.after(lostAfter, () => {
      lost.abort();
    });
    const ending = AbortSignal.any([signal, lost.signal]);
    const problem = await api.watch(unlessAborted(onFirst, signal), unlessAborted(onChange, signal), ending);
    cancel();
    unlessAborted(onOpen, signal)(false);
    unlessAborted(onProblem, signal)(problem);
    const pause =
      problem?.kind === 'forbidden' ? pauseWithoutPermission : Math.min(longestPause, retryPeriod * 2 ** failures++);
    // Add jitter, because the API server may end the watches of many followers at the same time. They must not all
    // begin a new watch at the same time.
    await wait(clock, pause * (0.5 + random()), signal);
  } while (!signal.aborted);
}

function unlessAborted<Args extends unknown[]>(
  run: (...args: Args) => void,
  signal: AbortSignal,
): (...args: Args) => void {
  return (...args) => {
    if (!signal.aborted) run(...args);
  };
}
