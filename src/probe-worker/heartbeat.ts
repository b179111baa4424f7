// The heartbeat of the main thread: a number in shared memory that grows as long as the event loop turns.
import type { Clock } from '../clock.ts';
import type { SharedState } from './shared-state.ts';

/** beatInterval is the time between two beats, and between two looks of the probe thread at them, in milliseconds. */
export const beatInterval = 100;

/** Heartbeat beats on the main thread. */
export class Heartbeat {
  /** By how many milliseconds the beats were late, added up. */
  lateMs = 0;
  readonly #state: SharedState;
  readonly #clock: Clock;
  readonly #onBeat: () => void;
  #inspectorPort: (() => number) | undefined;
  #cancel: () => void = () => undefined;

  constructor(state: SharedState, clock: Clock, onBeat: () => void) {
    this.#state = state;
    this.#clock = clock;
    this.#onBeat = onBeat;
  }

  begin(): void {
    const since = this.#clock.now();
    this.#cancel = this.#clock.afterUnref(beatInterval, () => {
      this.lateMs += Math.max(0, this.#clock.now() - since - beatInterval);
      this.beat();
      this.#onBeat();
      this.begin();
    });
  }

  /** beat adds one to the number, because the event loop has turned. */
  beat(): void {
    this.#inspectorPort ??= inspectorProbe();
    this.#state.set('inspectorPort', this.#inspectorPort());
    this.#state.add('beats', 1);
  }

  stop(): void {
    this.#cancel();
  }
}

// Returns the port of the inspector; 0 is none. Only the main thread can read it. A Node that was built without the inspector
// has no such module.
function inspectorProbe(): () => number {
  try {
    const { url } = process.getBuiltinModule('node:inspector');
    return () => Number(/:(\d+)\//.exec(url() ?? '')?.[1] ?? 0);
  } catch {
    return () => 0;
  }
}
