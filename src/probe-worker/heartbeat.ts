// The heartbeat of the main thread: a number in shared memory that grows as long as the event loop runs.
import type { Clock } from '../clock.ts';
import type { SharedState } from './shared-state.ts';

/** beatInterval is the time between two heartbeats, and between two checks by the probe thread, in milliseconds. */
export const beatInterval = 100;

/** Heartbeat increments the shared count of heartbeats from the main thread, as long as its event loop runs. */
export class Heartbeat {
  /** lateMs is the sum of the delays of all heartbeats, in milliseconds. */
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

  /** beat increments the number, to show that the event loop runs. */
  beat(): void {
    this.#inspectorPort ??= inspectorProbe();
    this.#state.set('inspectorPort', this.#inspectorPort());
    this.#state.add('beats', 1);
  }

  stop(): void {
    this.#cancel();
  }
}

// Returns a function that reads the port of the inspector, or 0. Only the main thread can read the port. If Node was
// built without the inspector, the port is 0.
function inspectorProbe(): () => number {
  try {
    const { url } = process.getBuiltinModule('node:inspector');
    return () => Number(/:(\d+)\//.exec(url() ?? '')?.[1] ?? 0);
  } catch {
    return () => 0;
  }
}
