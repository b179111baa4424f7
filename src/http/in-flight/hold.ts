// Delays requests for a short time. When a listening socket closes, the kernel may reset new connections. A client
// whose request is delayed waits for the response and opens no new connection.
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

  /**
   * `end()` ends the delay: it calls all functions that `pass()` has stored. Each of them continues one delayed
   * request.
   */
  end(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    // Continue each delayed request in its own tick, so that an error of one handler does not stop the other requests.
    for (const goOn of held) process.nextTick(goOn);
  }

  /**
   * `pass()` calls `goOn`, which continues one request. During a delay, which lasts from `begin()` to `end()`, it
   * stores `goOn` instead, and `end()` calls it.
   */
  pass(goOn: () => void): void {
    if (this.#held === undefined) goOn();
    // Later call `goOn` in the async context of the caller of `pass()`. A tracer or the program stores data of the
    // request in that context.
    else this.#held.push(AsyncResource.bind(goOn));
  }

  get isOn(): boolean {
    return this.#held !== undefined;
  }
}
