// Reports each ended request to the metrics and the audit log. If both are off, no RequestEndReports is created.
import type { Clock } from '../../clock.ts';
import type { AuditLog, RequestObserver } from '../../observer.ts';
import type { Exchange, HttpExchange } from '../exchange.ts';

export interface RequestEndReportsOptions {
  readonly clock: Clock;
  readonly isLongRunning: (exchange: HttpExchange) => boolean;
  readonly observer: RequestObserver | undefined;
  readonly audit: AuditLog | undefined;
}

/**
 * RequestEndReports reports the end of each request of the program. It does not report requests on a connection that
 * was accepted after NotAcceptingNewRequest, because lameduck refuses these requests.
 */
export class RequestEndReports {
  readonly #options: RequestEndReportsOptions;

  constructor(options: RequestEndReportsOptions) {
    this.#options = options;
  }

  /** `report()` adds the end of a request to the metrics and to the audit log. */
  report(exchange: HttpExchange): void {
    const { clock, isLongRunning, observer, audit } = this.#options;
    const { state, connection, response, arrivedAt } = exchange;
    if (state.is === 'ours' || connection.isLate) return;
    audit?.onComplete(exchange, response);
    if (observer === undefined) return;
    if (isLongRunning(exchange)) observer.onLongRunningEnd();
    else observer.onRequestEnd(response, clock.now() - arrivedAt);
  }

  /** reportUpgraded tells the metrics and the audit log that an upgraded connection has ended. */
  reportUpgraded(upgraded: Exchange): void {
    this.#options.audit?.onComplete(upgraded);
    this.#options.observer?.onLongRunningEnd();
  }
}
