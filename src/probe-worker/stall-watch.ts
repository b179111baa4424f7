// Watching the heartbeat from the probe thread: for how long the event loop of the main thread has not turned (P-090).
import type { Clock } from '../clock.ts';
import type { SharedState } from './shared-state.ts';

// A tick that comes later than this was held up with everything else, and counts for so much: a frozen machine is no stalled
// loop.
const longestTick = 1_000;

/** StallWatchOptions is what is watched, and who is told. */
export interface StallWatchOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly state: SharedState;
  /** Whether a debugger may hold the loop: whoever stops at a breakpoint has not stalled. */
  readonly isAttached: () => boolean;
  /** From how many milliseconds on a stall is told of. */
  readonly threshold: number;
  /** Called once in each stall that is told of, when it has lasted that long. */
  readonly onStall: (stalledMs: number) => void;
  /** Called when the loop turns again, after a stall that was told of. */
  readonly onStallEnd: (stalledMs: number) => void;
}

/** StallWatch adds up the time of its own ticks between which there was no beat. */
export class StallWatch {
  /** For how long the loop has not turned, in milliseconds. */
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

  /** tick looks once. */
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
    // The loop has been free for no longer than this thread, and says by the next tick whether it turns.
    if (passed > longestTick) return;
    this.stalledMs = this.#sum;
    if (this.stalledMs < threshold) return;
    if (before < threshold) {
      state.add('stalls', 1);
      onStall(Math.round(this.stalledMs));
    }
    // A stall counts from its beginning, but only once it is known to be one.
    state.add('stalledMs', Math.round(before < threshold ? this.stalledMs : this.stalledMs - before));
  }
}
