// Measures in the probe thread how long the event loop of the main thread has been blocked (P-090).
import type { Clock } from '../clock.ts';
import type { SharedState } from './shared-state.ts';

// If more than this many milliseconds have passed since the last tick, the whole machine was suspended. That is not a
// stall of the event loop, so only this maximum is added.
const longestTick = 1_000;

export interface StallWatchOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly state: SharedState;
  /** isAttached tells whether a debugger is attached: an event loop that is paused at a breakpoint is not stalled. */
  readonly isAttached: () => boolean;
  /** threshold is how long the event loop must be blocked before a stall is reported, in milliseconds. */
  readonly threshold: number;
  /** onStall is called once for each stall, when the event loop has been blocked for `threshold`. */
  readonly onStall: (stalledMs: number) => void;
  /** onStallEnd is called when the event loop runs again after a reported stall. */
  readonly onStallEnd: (stalledMs: number) => void;
}

/** StallWatch measures the time without a heartbeat, by adding up the time between its ticks. */
export class StallWatch {
  /** stalledMs is how long the event loop has been blocked, in milliseconds. */
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

  /**
   * tick checks whether there was a heartbeat since the previous tick. If there was none, at most `most` milliseconds
   * are added to the stall.
   */
  tick(most = longestTick): void {
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
    this.#sum += Math.min(passed, most);
    // After a suspension of the machine, the main thread resumes no earlier than this thread. Give the main thread
    // until the next tick to send a heartbeat.
    if (passed > longestTick) return;
    this.stalledMs = this.#sum;
    if (this.stalledMs < threshold) return;
    if (before < threshold) {
      state.add('stalls', 1);
      onStall(Math.round(this.stalledMs));
    }
    // Do not count a stall that is shorter than the threshold. When a stall reaches the threshold, add its whole
    // duration.
    state.add('stalledMs', Math.round(before < threshold ? this.stalledMs : this.stalledMs - before));
  }
}
