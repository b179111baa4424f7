// Telling whoever counts requests of each that has ended. There is none of these when nobody counts.
import type { Clock } from '../../clock.ts';
import type { RequestObserver } from '../../observer.ts';
import type { Connection } from '../connection.ts';
import type { Response } from '../../message.ts';

/** Kinds tells which requests are long-running. */
export interface Kinds {
  readonly longRunning: { has(key: object): boolean };
  isLongRunning(response: Response): boolean;
}

/** RequestEnds reports the program's requests; those on a connection that came late were refused, and it never saw them. */
export class RequestEnds {
  readonly #observer: RequestObserver;
  readonly #clock: Clock;
  readonly #kinds: Kinds;

  constructor(observer: RequestObserver, clock: Clock, kinds: Kinds) {
    this.#observer = observer;
    this.#clock = clock;
    this.#kinds = kinds;
  }

  /** note reports a request by its response. */
  note({ isLate }: Connection, response: Response, arrivedAt: number): void {
    if (isLate) return;
    if (this.#kinds.isLongRunning(response)) this.#observer.onLongRunningEnd();
    else this.#observer.onRequestEnd(response, this.#clock.now() - arrivedAt);
  }

  /** noteGone reports what ends with a connection that has closed. */
  noteGone(connection: Connection): void {
    if (this.#kinds.longRunning.has(connection)) this.#observer.onLongRunningEnd();
    if (!connection.isBusy) return;
    for (const { response, arrivedAt } of connection.requests()) this.note(connection, response, arrivedAt);
  }
}
