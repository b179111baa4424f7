// Requests that are held back for a moment, so that their clients make no new connection meanwhile.
import { AsyncResource } from 'node:async_hooks';

/** Hold keeps what goes on later, while it is on. */
export class Hold {
  #held: (() => void)[] | undefined;

  /** begin keeps what arrives from now on. */
  begin(): void {
    this.#held ??= [];
  }

  /** end lets everything go on. */
  end(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    // Each in a turn of its own, so that a handler that throws takes no other request with it.
    for (const goOn of held) process.nextTick(goOn);
  }

  /** pass goes on now, or when the hold ends. */
  pass(goOn: () => void): void {
    if (this.#held === undefined) goOn();
    // In the context in which it has come: what a tracer, or the program, has put there belongs to that request alone.
    else this.#held.push(AsyncResource.bind(goOn));
  }

  get isOn(): boolean {
    return this.#held !== undefined;
  }
}
