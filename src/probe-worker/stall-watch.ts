// Measures how long the event loop of the main thread has been blocked. This code runs in the probe thread (P-090).
import type { Clock } from '../clock.ts';
import type { SharedState } from './shared-state.ts';

// One tick adds at most this many milliseconds to a stall of the event loop. A longer time between two ticks means that
// the whole machine was suspended, and a suspension is not a stall.
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
 * StallWatch measures how long the main thread has sent no heartbeat. It adds up the times between its own ticks, and
 * limits each of them, because a suspended machine is not a stall.
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
   * tick checks whether the main thread has sent a heartbeat since the previous tick. If no heartbeat was sent, tick
   * adds the time between the two ticks to the stall. It adds at most `most` milliseconds.
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
    // After a suspension of the machine, the main thread may resume later than the probe thread. Give the main thread
    // until the next tick to send a heartbeat.
    if (passed > longestTick) return;
    this.stalledMs = this.#sum;
    if (this.stalledMs < threshold) return;
    if (before < threshold) {
      state.add('stalls', 1);
      onStall(Math.round(this.stalledMs));
    }
    // A stall that is shorter than the threshold does not count. At the tick at which a stall reaches the threshold,
    // add the duration of the whole stall so far. At each later tick, add only the time since the previous tick.
    state.add('stalledMs', Math.round(before < threshold ? this.stalledMs : this.stalledMs - before));
  }
}
