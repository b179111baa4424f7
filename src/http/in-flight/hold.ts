// Delays requests for a short time. Their clients then wait for the responses and open no new connections.
import { AsyncResource } from 'node:async_hooks';

/** Hold stores the functions that continue delayed requests, and calls them in `end`. */
export class Hold {
  #held: (() => void)[] | undefined;

  /** `begin()` makes `pass` store functions from now on, instead of calling them at once. */
  begin(): void {
    this.#held ??= [];
  }

  /** `end()` calls all stored functions. */
  end(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    // Call each function in a separate tick, so that a handler that throws affects no other request.
    for (const goOn of held) process.nextTick(goOn);
  }

  /** `pass()` calls the function at once. Between `begin` and `end`, it stores the function instead. */
  pass(goOn: () => void): void {
    if (this.#held === undefined) goOn();
    // Bind the function to the async context of this call, because a tracer or the program stores data of the request
    // there.
    else this.#held.push(AsyncResource.bind(goOn));
  }

  get isOn(): boolean {
    return this.#held !== undefined;
  }
}
