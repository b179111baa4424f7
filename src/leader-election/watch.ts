// Follows a Lease with a watch. When the watch ends, a new one begins, after a longer pause for each failure (L-053).
import { wait, type Clock } from '../clock.ts';
import type { LeaseApi } from './api-client.ts';
import type { Change } from './state.ts';

/** WatchParts are the parts that a watch uses and its callbacks. */
export interface WatchParts {
  readonly api: LeaseApi;
  readonly clock: Clock;
  readonly random: () => number;
  /** The shortest wait after a failure, in milliseconds. */
  readonly retryPeriod: number;
  readonly onOpen: (isOpen: boolean) => void;
  readonly onChange: (change: Change) => void;
}

// The longest wait between two watches that fail, in milliseconds.
const longestPause = 30_000;

// The pause after a 403, in milliseconds. A Role without `watch` is rarely changed.
const pauseWithoutPermission = 300_000;

/** Following keeps one watch open from `begin` to `end`. The elector polls while no watch is open. */
export class Following {
  #abort: AbortController | undefined;

  begin(parts: WatchParts): void {
    if (this.#abort !== undefined) return;
    this.#abort = new AbortController();
    void follow(parts, this.#abort.signal);
  }

  /** end returns whether a watch was being kept open. */
  end(): boolean {
    const wasFollowing = this.#abort !== undefined;
    this.#abort?.abort();
    this.#abort = undefined;
    return wasFollowing;
  }
}

async function follow(parts: WatchParts, signal: AbortSignal): Promise<void> {
  const { api, clock, random, retryPeriod, onOpen, onChange } = parts;
  let failures = 0;
  const onFirst = (): void => {
    failures = 0;
    onOpen(true);
  };
  do {
    const problem = await api.watch(unlessAborted(onFirst, signal), unlessAborted(onChange, signal), signal);
    unlessAborted(onOpen, signal)(false);
    const pause =
      problem?.kind === 'forbidden' ? pauseWithoutPermission : Math.min(longestPause, retryPeriod * 2 ** failures++);
    // Add jitter, so that watches that an API server has ended together do not begin again together.
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
