// The memory that the main thread and the probe thread share. Each thread can read it without waiting for a message
// from the other thread.
import { longestMessage } from '../process/termination-message.ts';

const slots = {
  beats: 0,
  isShuttingDown: 1,
  isReported: 2,
  inspectorPort: 3,
  taken: 4,
  beatInterval: 5,
  stalls: 6,
  stalledMs: 7,
  isWritingMessage: 8,
  messageLength: 9,
} as const;
const numbersLength = Object.keys(slots).length * Int32Array.BYTES_PER_ELEMENT;

type Slot = keyof typeof slots;

/**
 * SharedState contains the numbers that `slots` names, and one text, in shared memory. The probe thread writes the
 * text, the number `stalls` and all numbers that `slots` names after `stalls`. The main thread writes all other
 * numbers.
 */
export class SharedState {
  readonly memory: SharedArrayBuffer;
  readonly #numbers: Int32Array<SharedArrayBuffer>;
  readonly #message: Uint8Array<SharedArrayBuffer>;

  constructor(memory = new SharedArrayBuffer(numbersLength + longestMessage)) {
    this.memory = memory;
    this.#numbers = new Int32Array(memory, 0, Object.keys(slots).length);
    this.#message = new Uint8Array(memory, numbersLength);
  }

  /**
   * message is the termination message that the probe thread has written to the file, truncated to its maximum length.
   * It is empty if the probe thread has written none.
   */
  get message(): string {
    return Buffer.from(this.#message.subarray(0, this.get('messageLength'))).toString();
  }

  set message(text: string) {
    const { written } = new TextEncoder().encodeInto(text, this.#message);
    this.set('messageLength', written);
  }

  get(slot: Slot): number {
    return Atomics.load(this.#numbers, slots[slot]);
  }

  /**
   * `set` writes `value` to the number in the shared memory that has the name `slot`. It wakes a thread that waits in
   * `waitWhile` for a change of this number.
   */
  set(slot: Slot, value: number): void {
    Atomics.store(this.#numbers, slots[slot], value);
    Atomics.notify(this.#numbers, slots[slot]);
  }

  add(slot: Slot, value: number): void {
    Atomics.add(this.#numbers, slots[slot], value);
  }

  /**
   * waitWhile blocks the calling thread while the number `slot` in the shared memory equals `value`, for at most
   * `milliseconds`.
   */
  waitWhile(slot: Slot, value: number, milliseconds: number): void {
    Atomics.wait(this.#numbers, slots[slot], value, milliseconds);
  }
}
