// Telling whoever counts requests of each that has ended. There is none of these when nobody counts.
import type { Clock } from '../../clock.ts';
import type { RequestObserver } from '../../observer.ts';
import type { HttpExchange } from '../exchange.ts';

/** RequestEnds reports the program's requests; those on a connection that came late were refused, and it never saw them. */
export class RequestEnds {
  readonly #observer: RequestObserver;
  readonly #clock: Clock;
  readonly #isLongRunning: (exchange: HttpExchange) => boolean;

  constructor(observer: RequestObserver, clock: Clock, isLongRunning: (exchange: HttpExchange) => boolean) {
    this.#observer = observer;
    this.#clock = clock;
    this.#isLongRunning = isLongRunning;
  }

  /** note reports a request that is about to be released. */
  note(exchange: HttpExchange): void {
    const { state, connection, response, arrivedAt } = exchange;
    if (state.is === 'ours' || connection.isLate) return;
    if (this.#isLongRunning(exchange)) this.#observer.onLongRunningEnd();
    else this.#observer.onRequestEnd(response, this.#clock.now() - arrivedAt);
  }

  /** noteUpgraded reports the end of a connection that has left HTTP. */
  noteUpgraded(): void {
    this.#observer.onLongRunningEnd();
  }
}
