// Telling metrics and the audit log of each request that has ended. Without either, there is none of these.
import type { Clock } from '../../clock.ts';
import type { AuditLog, RequestObserver } from '../../observer.ts';
import type { Exchange, HttpExchange } from '../exchange.ts';

/** RequestEndsOptions are the observers of the ends, and the functions that they need. */
export interface RequestEndsOptions {
  readonly clock: Clock;
  readonly isLongRunning: (exchange: HttpExchange) => boolean;
  readonly observer: RequestObserver | undefined;
  readonly audit: AuditLog | undefined;
}

/** RequestEnds reports the program's requests; those on a connection that came late were refused, and it never saw them. */
export class RequestEnds {
  readonly #options: RequestEndsOptions;

  constructor(options: RequestEndsOptions) {
    this.#options = options;
  }

  /** note reports a request that is about to be released. */
  note(exchange: HttpExchange): void {
    const { clock, isLongRunning, observer, audit } = this.#options;
    const { state, connection, response, arrivedAt } = exchange;
    if (state.is === 'ours' || connection.isLate) return;
    audit?.onComplete(exchange, response);
    if (observer === undefined) return;
    if (isLongRunning(exchange)) observer.onLongRunningEnd();
    else observer.onRequestEnd(response, clock.now() - arrivedAt);
  }

  /** noteUpgraded reports the end of a connection that has left HTTP. */
  noteUpgraded(upgraded: Exchange): void {
    this.#options.audit?.onComplete(upgraded);
    this.#options.observer?.onLongRunningEnd();
  }
}
