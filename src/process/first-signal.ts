// The process signal that begins the end of this process, and which of those behind it are the same one.
import { systemClock } from '../clock.ts';

// npm, dumb-init and docker compose send the signal of a process group a second time, nodemon another one (P-057).
const sameWithin = 100;

/** FirstSignal is the process signal that begins the end, or the message of a parent process. */
export class FirstSignal {
  /** Its name, or `message`. */
  readonly event: string;
  /** What the program's own listeners are called with; undefined if they have been called past the override. */
  readonly args: readonly unknown[] | undefined;
  #settledAt: number | undefined;

  constructor(event: string, args: readonly unknown[] | undefined) {
    this.event = event;
    this.args = args;
    // What a process is sent while its event loop is blocked, or busy with the first, it is told in this turn or the next.
    setImmediate(() => {
      setImmediate(() => (this.#settledAt = systemClock.now()));
    });
  }

  /** isRepeated tells whether a process signal that comes now is this one again. */
  isRepeated(): boolean {
    return this.#settledAt === undefined || systemClock.now() - this.#settledAt < sameWithin;
  }
}
