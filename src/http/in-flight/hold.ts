// Delays requests for a short time. While their clients wait for the responses, they open no new connections.
import { AsyncResource } from 'node:async_hooks';

/** Hold stores functions that each continue a delayed request. `end` calls them. */
export class Hold {
  #held: (() => void)[] | undefined;

  /**
   * `begin()` begins to delay requests. From now on, `pass` stores each function that continues a request, instead of
   * calling the function at once.
   */
  begin(): void {
    this.#held ??= [];
  }

  /** `end()` ends the delay and calls all stored functions, so that the delayed requests continue. */
  end(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    // Call each function in a separate tick. If a handler throws, the other delayed requests are not affected.
    for (const goOn of held) process.nextTick(goOn);
  }

  /**
   * `pass()` receives a function that continues a request, and calls the function immediately. Between `begin` and
   * `end`, `pass()` stores the function instead.
   */
  pass(goOn: () => void): void {
    if (this.#held === undefined) goOn();
    // Bind the function to the async context of this call, because a tracer or the program stores data of the request
    // in that context.
    else this.#held.push(AsyncResource.bind(goOn));
  }

  get isOn(): boolean {
    return this.#held !== undefined;
  }
}
