// Measures in the probe thread for how long the event loop of the main thread has not turned (P-090).
import type { Clock } from '../clock.ts';
import type { SharedState } from './shared-state.ts';

// The most milliseconds that one tick can add to a stall. If a tick comes later, the whole machine was suspended, which is no
// stall of the event loop.
const longestTick = 1_000;

/** StallWatchOptions is what StallWatch reads and calls. */
export interface StallWatchOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly state: SharedState;
  /** Whether a debugger is attached: an event loop that is paused at a breakpoint is not stalled. */
  readonly isAttached: () => boolean;
  /** The length in milliseconds from which on a stall is reported. */
  readonly threshold: number;
  /** Called once in each stall, when it has lasted for `threshold`. */
  readonly onStall: (stalledMs: number) => void;
  /** Called when the event loop turns again after a stall that was reported. */
  readonly onStallEnd: (stalledMs: number) => void;
}

/** StallWatch adds up the time between its ticks as long as no beat comes. */
export class StallWatch {
  /** For how many milliseconds the event loop has not turned. */
  stalledMs = 0;
  readonly #options: StallWatchOptions;
  #at: number;
  #beats: number;
  #sum = 0;

  constructor(options: StallWatchOptions) {
    this.#options = options;
    this.#at = options.clock.now();
    this.#beats = options.state.get('beats');
  }

  /** tick compares the number of beats with that of the tick before. */
  tick(): void {
    const { clock, state, isAttached, threshold, onStall, onStallEnd } = this.#options;
    const now = clock.now();
    const passed = now - this.#at;
    this.#at = now;
    const before = this.stalledMs;
    const beats = state.get('beats');
    if (beats !== this.#beats) {
      this.#beats = beats;
      this.#sum = 0;
      this.stalledMs = 0;
      if (before >= threshold) onStallEnd(Math.round(before));
      return;
    }
    if (isAttached()) return;
    this.#sum += Math.min(passed, longestTick);
    // After a suspension, the main thread has been running for no longer than this thread. Wait for the next tick.
    if (passed > longestTick) return;
    this.stalledMs = this.#sum;
    if (this.stalledMs < threshold) return;
    if (before < threshold) {
      state.add('stalls', 1);
      onStall(Math.round(this.stalledMs));
    }
    // A stall shorter than the threshold is not counted. A longer one counts from its beginning.
    state.add('stalledMs', Math.round(before < threshold ? this.stalledMs : this.stalledMs - before));
  }
}
