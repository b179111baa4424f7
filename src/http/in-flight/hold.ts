// Delays requests for a short time, so that their clients wait for the response and open no new connection.
import { AsyncResource } from 'node:async_hooks';

/** Hold stores the functions that continue delayed requests. It calls them when the hold ends. */
export class Hold {
  #held: (() => void)[] | undefined;

  /** begin makes `pass` store every function that it gets from now on, instead of calling it. */
  begin(): void {
    this.#held ??= [];
  }

  /** end calls all stored functions. */
  end(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    // Call each function in a separate tick, so that a handler that throws affects no other request.
    for (const goOn of held) process.nextTick(goOn);
  }

  /** pass calls a function at once, or stores it if the hold has begun. */
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
