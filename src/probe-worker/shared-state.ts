// The memory that the main thread and the probe thread share, so that neither has to wait for the other to be told.

const slots = { beats: 0, isShuttingDown: 1, isReported: 2, isDebugged: 3, taken: 4, stalls: 5, stalledMs: 6 } as const;

type Slot = keyof typeof slots;

/** SharedState is a few numbers. The probe thread writes the last two, the main thread the others. */
export class SharedState {
  readonly memory: SharedArrayBuffer;
  readonly #numbers: Int32Array<SharedArrayBuffer>;

  constructor(memory = new SharedArrayBuffer(Object.keys(slots).length * Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#numbers = new Int32Array(memory);
  }

  get(slot: Slot): number {
    return Atomics.load(this.#numbers, slots[slot]);
  }

  set(slot: Slot, value: number): void {
    Atomics.store(this.#numbers, slots[slot], value);
  }

  add(slot: Slot, value: number): void {
    Atomics.add(this.#numbers, slots[slot], value);
  }
}
