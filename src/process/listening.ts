// lameduck's own listeners of `process`, by which Node delivers what is taken before it reaches them.
import { passOverride } from './held-signals.ts';
import type { Listener } from './own-listeners.ts';

/**
 * Listening has one listener for each event. Node delivers a signal or a message only if it has a listener, and the program's
 * own may come and go.
 */
export class Listening {
  readonly #listeners = new Map<string, (...args: unknown[]) => void>();
  readonly #onBypassed: (event: string, args: readonly unknown[]) => void;

  /** `onBypassed` is called for what an `emit` other than `process.emit` delivers, to the program's listeners as well. */
  constructor(onBypassed: (event: string, args: readonly unknown[]) => void) {
    this.#onBypassed = onBypassed;
  }

  /** listen adds the listener of an event, if there is none. */
  listen(event: string): void {
    if (this.#listeners.has(event)) return;
    const listener = (...args: unknown[]): void => {
      this.#onBypassed(event, args);
    };
    this.#listeners.set(event, listener);
    process.on(event, listener);
    // A turn later: a signal that came while the program was loading is lost if its last listener is removed before Node has
    // delivered it.
    setImmediate(() => {
      if (this.#listeners.get(event) === listener) passOverride(event);
    });
  }

  /** forget removes the listener of an event. */
  forget(event: string): void {
    const listener = this.#listeners.get(event);
    if (listener === undefined) return;
    process.off(event, listener);
    this.#listeners.delete(event);
  }

  /** forgetAll removes every listener. */
  forgetAll(): void {
    for (const event of [...this.#listeners.keys()]) this.forget(event);
  }

  /** othersOf returns the program's own listeners of an event. */
  othersOf(event: string): Listener[] {
    return process.rawListeners(event).filter((listener) => listener !== this.#listeners.get(event)) as Listener[];
  }
}
