// Measures how long the event loop of the main thread has been blocked. This code runs in the probe thread (P-090).
import type { Clock } from '../clock.ts';
import type { SharedState } from './shared-state.ts';

// The most milliseconds that one call of `tick()` adds to the duration of a stall of the event loop. If more time has
// passed since the previous call, the whole machine was suspended. A suspension is not a stall of the event loop.
const longestTick = 1_000;

export interface StallWatchOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly state: SharedState;
  /**
   * isAttached tells whether a debugger is attached. An event loop that is paused at a breakpoint does not count as
   * blocked.
   */
  readonly isAttached: () => boolean;
  /** threshold is how long the event loop must be blocked before a stall is reported, in milliseconds. */
  readonly threshold: number;
  /** onStall is called once for each stall, when the event loop has been blocked for `threshold` milliseconds. */
  readonly onStall: (stalledMs: number) => void;
  /** onStallEnd is called after a reported stall, when the event loop runs again. */
  readonly onStallEnd: (stalledMs: number) => void;
}

/**
 * StallWatch measures for how long the main thread has sent no heartbeat. For this, it adds up the times between its
 * own ticks. Each of these times counts as at most one second, so that a suspension of the machine does not count as a
 * stall.
 */
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
   * tick checks whether the main thread has sent a heartbeat since the previous tick. If it has sent none, tick adds
   * the time since the previous tick to the duration of the current stall. It adds at most `most` milliseconds.
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
    // After a suspension of the machine, the main thread may resume later than the probe thread. So after a long pause
    // between two calls of `tick()`, a missing heartbeat is not yet a stall. It is a stall if it is still missing at
    // the next call.
    if (passed > longestTick) return;
    this.stalledMs = this.#sum;
    if (this.stalledMs < threshold) return;
    if (before < threshold) {
      state.add('stalls', 1);
      onStall(Math.round(this.stalledMs));
    }
    // The total `stalledMs` in the shared state contains only stalls that have lasted at least `threshold`. When a
    // stall reaches `threshold`, add its whole duration so far. After that, each call of `tick()` adds the time since
    // the previous call.
    state.add('stalledMs', Math.round(before < threshold ? this.stalledMs : this.stalledMs - before));
  }
}
