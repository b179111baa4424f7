// Continues delayed requests one after another if the setting `maxRequestsInflight` is set. All requests of one delay
// could otherwise continue at the same time, and exceed the limit only because lameduck has delayed them.
import { AsyncResource } from 'node:async_hooks';
import type { Clock } from '../../clock.ts';
import { delayed, type HttpExchange } from '../exchange.ts';
import type { InFlight } from '../in-flight/in-flight.ts';

// The longest time, in milliseconds, that requests wait for the end of other requests. A server that needs more time is
// overloaded, whether or not lameduck has delayed requests. A 429 tells its client to wait for one second too.
const longestWait = 1_000;

interface Waiting {
  readonly exchange: HttpExchange;
  readonly goOn: () => void;
}

/**
 * Backlog continues delayed requests as soon as the program executes fewer than `limit` requests. Requests that arrive
 * meanwhile wait too. Otherwise they would get a 429 because the delayed requests are executing.
 */
export class Backlog {
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #inFlight: InFlight;
  #waiting: Waiting[] = [];
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, limit: number, inFlight: InFlight) {
    this.#clock = clock;
    this.#limit = limit;
    this.#inFlight = inFlight;
  }

  /** isOn tells whether requests wait for the end of other requests. */
  get isOn(): boolean {
    return this.#waiting.length > 0;
  }

  /**
   * `add()` adds a request whose delay has ended. It calls `goOn`, which continues the request, when the program executes
   * fewer than `limit` requests, or after `longestWait`. After `longestWait`, `goOn` may answer the request with 429.
   */
  add(exchange: HttpExchange, goOn: () => void): void {
    // Long-running requests have no limit.
    if (exchange.state !== delayed) {
      goOn();
      return;
    }
    this.#waiting.push({ exchange, goOn: AsyncResource.bind(goOn) });
    this.#continue();
  }

  #continue(): void {
    let count = 0;
    for (const { exchange, goOn } of this.#waiting) {
      if (this.#inFlight.executing >= this.#limit) break;
      this.#inFlight.resume(exchange);
      process.nextTick(goOn);
      count++;
    }
    this.#waiting = this.#waiting.slice(count);
    this.#wait();
  }

  // Begins or ends the wait for the end of other requests.
  #wait(): void {
    if (this.isOn === (this.#cancel !== undefined)) return;
    this.#cancel?.();
    this.#cancel = this.isOn ? this.#clock.after(longestWait, this.#giveUp.bind(this)) : undefined;
    this.#inFlight.onRoom = this.isOn ? this.#continue.bind(this) : undefined;
  }

  #giveUp(): void {
    for (const { goOn } of this.#waiting) process.nextTick(goOn);
    this.#waiting = [];
    this.#wait();
  }
}
