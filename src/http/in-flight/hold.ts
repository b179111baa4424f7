// Delays requests for a short time. A client that waits for a response opens no new connection, which a closing
// listening socket might reset.
import { AsyncResource } from 'node:async_hooks';

/**
 * Hold delays requests from `begin()` to `end()`. It stores, for each delayed request, a function that continues the
 * request.
 */
export class Hold {
  #held: (() => void)[] | undefined;

  /**
   * `begin()` begins the delay. From this call on, `pass()` stores the function that continues a request, instead of
   * calling this function at once.
   */
  begin(): void {
    this.#held ??= [];
  }

  /** `end()` ends the delay and calls all stored functions, so that the delayed requests continue. */
  end(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    // Continue each delayed request in its own tick, so that an error of one handler does not stop the other requests.
    for (const goOn of held) process.nextTick(goOn);
  }

  /**
   * `pass()` receives a function that continues a request. It calls this function immediately, or, between `begin()`
   * and `end()`, stores it until `end()`.
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
