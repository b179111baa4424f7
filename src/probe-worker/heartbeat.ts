// The heartbeat of the main thread: a number in shared memory that grows as long as the event loop runs.
import type { Clock } from '../clock.ts';
import type { SharedState } from './shared-state.ts';

/** beatInterval is the time between two heartbeats, and between two checks by the probe thread, in milliseconds. */
export const beatInterval = 100;

/**
 * idleBeatInterval is the time between two heartbeats of an idle process, in milliseconds. Each heartbeat wakes the
 * main thread, so heartbeats are less frequent in an idle process.
 */
export const idleBeatInterval = 500;

// After this many heartbeats in a row without an event of a server, the process counts as idle, and its heartbeats
// become less frequent. With 100 ms between two heartbeats, this takes five seconds.
const beatsUntilIdle = 50;

/**
 * Heartbeat increments a counter of the main thread in shared memory at regular intervals, as long as the event loop
 * runs.
 */
export class Heartbeat {
  /** lateMs is the total time by which the heartbeats of the main thread were late, in milliseconds. */
  lateMs = 0;
  readonly #state: SharedState;
  readonly #clock: Clock;
  readonly #onBeat: () => void;
  #inspectorPort: (() => number) | undefined;
  /**
   * #own is the number of heartbeats that this object has added to the shared counter. Each event of a server also adds
   * a heartbeat. If the counter grows only by the heartbeats of this object, no request has arrived.
   */
  #own = 0;
  #others = 0;
  #quietBeats = 0;
  #cancel: () => void = () => undefined;

  constructor(state: SharedState, clock: Clock, onBeat: () => void) {
    this.#state = state;
    this.#clock = clock;
    this.#onBeat = onBeat;
  }

  begin(): void {
    const isIdle = this.#quietBeats >= beatsUntilIdle && this.#state.get('isShuttingDown') === 0;
    const interval = isIdle ? idleBeatInterval : beatInterval;
    this.#state.set('beatInterval', interval);
    const since = this.#clock.now();
    this.#cancel = this.#clock.afterUnref(interval, () => {
      this.lateMs += Math.max(0, this.#clock.now() - since - interval);
      this.#countQuietBeats();
      this.beat();
      this.#onBeat();
      this.begin();
    });
  }

  /** `beat()` increments the counter of heartbeats, from which the probe thread sees that the event loop runs. */
  beat(): void {
    this.#inspectorPort ??= inspectorProbe();
    this.#state.set('inspectorPort', this.#inspectorPort());
    this.#state.add('beats', 1);
    this.#own++;
  }

  stop(): void {
    this.#cancel();
  }

  #countQuietBeats(): void {
    // Compute with 32 bits, because the shared counter of heartbeats overflows after 32 bits.
    const others = (this.#state.get('beats') - this.#own) | 0;
    this.#quietBeats = others === this.#others ? this.#quietBeats + 1 : 0;
    this.#others = others;
  }
}

// Returns a function that returns the port of the inspector, or 0 if no inspector listens. Only the main thread can
// read the port. If Node was built without the inspector, the port is 0.
function inspectorProbe(): () => number {
  try {
    const { url } = process.getBuiltinModule('node:inspector');
    return () => Number(/:(\d+)\//.exec(url() ?? '')?.[1] ?? 0);
  } catch {
    return () => 0;
  }
}
