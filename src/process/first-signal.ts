// The process signal that begins the shutdown, and which later process signals count as the same one.
import { startImmediate, systemClock } from '../clock.ts';

// Milliseconds within which every further process signal counts as the first one: npm, dumb-init and docker compose send
// the signal of a process group twice, and nodemon sends SIGINT after SIGTERM (P-057).
const sameWithin = 100;

/** FirstSignal is the process signal, or the message of the parent process, that begins the shutdown. */
export class FirstSignal {
  /** Its name, or `message`. */
  readonly event: string;
  /** The arguments for the program's own listeners; undefined if an `emit` other than `process.emit` has called them. */
  readonly args: readonly unknown[] | undefined;
  #settledAt: number | undefined;

  constructor(event: string, args: readonly unknown[] | undefined) {
    this.event = event;
    this.args = args;
    // A process signal that arrived while the event loop was blocked is delivered in this turn or in the next one. It counts as
    // the first one, so the 100 ms begin after both turns.
    startImmediate(() => {
      startImmediate(() => (this.#settledAt = systemClock.now()));
    });
  }

  /** isRepeated tells whether a process signal that arrives now counts as this one. */
  isRepeated(): boolean {
    return this.#settledAt === undefined || systemClock.now() - this.#settledAt < sameWithin;
  }
}
