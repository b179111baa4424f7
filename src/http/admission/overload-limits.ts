// Applies the overload limits. If too many requests are in flight, lameduck rejects a new request. If the handler of a
// request takes too long, lameduck itself sends the response. By default, no limit is set.
import type { Clock } from '../../clock.ts';
import { parseDuration } from '../../settings/duration.ts';
import { closingAnswer } from '../http1/close-header.ts';
import { answerInPlaceOfHandler } from '../responses/in-place-of-handler.ts';
import { abortRequest } from '../in-flight/request-signal.ts';
import { timedOut, tooManyRequests } from '../responses/rejection.ts';
import { longestBodyAfterResponse, type HttpExchange } from '../exchange.ts';
import type { InFlight } from '../in-flight/in-flight.ts';

/** OverloadLimits are the overload limits of a server. 0 means no limit. */
export interface OverloadLimits {
  /** requestTimeout is how long a request may take, in milliseconds. */
  readonly requestTimeout: number;
  readonly maxRequestsInflight: number;
}

/**
 * Load counts the requests in flight, whose number is compared with `maxRequestsInflight`. It also counts the requests
 * that a limit has rejected.
 */
export interface Load {
  /**
   * inFlight.executing counts the requests that are neither long-running nor probes, including the request that has
   * just arrived. It leaves out the requests that lameduck delays.
   */
  readonly inFlight: Pick<InFlight, 'executing' | 'noteRejected' | 'noteTimedOut'>;
  /**
   * `recount()` first stops counting the requests that have ended although Node emitted no `close` event. It then
   * returns the number of the remaining requests, `inFlight.executing`.
   */
  recount(exchange: HttpExchange): number;
  isLongRunning(exchange: HttpExchange): boolean;
}

/** isLimited tells whether at least one overload limit is set. */
export function isLimited({ requestTimeout, maxRequestsInflight }: OverloadLimits): boolean {
  return requestTimeout > 0 || maxRequestsInflight > 0;
}

/**
 * createOverload returns an Overload that applies the given limits. If no limit is set, it returns undefined, so that
 * requests cost no additional time.
 */
export function createOverload(clock: Clock, limits: OverloadLimits, load: Load): Overload | undefined {
  return isLimited(limits) ? new Overload(clock, limits, load) : undefined;
}

/** Overload applies the overload limits to requests. Long-running requests have no limit. */
export class Overload {
  readonly #clock: Clock;
  readonly #limits: OverloadLimits;
  readonly #load: Load;

  constructor(clock: Clock, limits: OverloadLimits, load: Load) {
    this.#clock = clock;
    this.#limits = limits;
    this.#load = load;
  }

  /**
   * `rejects()` checks a new request. If there are already too many requests in flight, it answers the request with 429
   * and returns true. Otherwise, it starts the timer of `requestTimeout` and returns false.
   */
  rejects(exchange: HttpExchange): boolean {
    if (this.#load.isLongRunning(exchange)) return false;
    const { maxRequestsInflight, requestTimeout } = this.#limits;
    const isTooMany = maxRequestsInflight > 0 && this.#load.inFlight.executing > maxRequestsInflight;
    if (isTooMany && this.#load.recount(exchange) > maxRequestsInflight) {
      this.#load.inFlight.noteRejected();
      answerInPlaceOfHandler(exchange, tooManyRequests);
      return true;
    }
    if (requestTimeout > 0) {
      exchange.cancelTimeout = this.#clock.after(timeoutOf(exchange, requestTimeout), () => {
        this.#timeOut(exchange);
      });
    }
    return false;
  }

  // Tells whether the response to a request has ended, so that no 504 must be sent. It is called before and after the
  // abort of the request's AbortSignal, because a listener of that signal may answer the request.
  #isAnswered({ response }: HttpExchange): boolean {
    return response.writableEnded;
  }

  // Answers a request that takes too long. The handler is not stopped. If the handler has begun its response,
  // the response is truncated, so that the client sees that it is not complete.
  #timeOut(exchange: HttpExchange): void {
    if (this.#isAnswered(exchange) || this.#load.isLongRunning(exchange)) return;
    abortRequest(exchange.request, 'the request took longer than its time limit');
    if (this.#isAnswered(exchange)) return;
    this.#load.inFlight.noteTimedOut();
    if (exchange.response.headersSent) {
      exchange.breakOff();
      return;
    }
    answerInPlaceOfHandler(exchange, closingAnswer(exchange, timedOut));
    this.#stopReading(exchange);
  }

  // Stops reading the body of a request that lameduck has answered. Otherwise an HTTP/2 request would count as in
  // flight for as long as the client sends its body.
  #stopReading(exchange: HttpExchange): void {
    if (exchange.stopReading()) return;
    exchange.cancelTimeout = this.#clock.after(longestBodyAfterResponse, () => {
      this.#stopReading(exchange);
    });
  }
}

// Returns the limit of a request in milliseconds. A client can shorten the limit with a Go duration in the query
// parameter `timeout`. If the parameter is not a Go duration, it belongs to the program, and the setting is
// the limit.
function timeoutOf({ request: { url = '' } }: HttpExchange, limit: number): number {
  const asked = /[?&]timeout=([^&#]*)/.exec(url)?.[1];
  const milliseconds = asked === undefined ? undefined : parseDuration(asked);
  return milliseconds === undefined || milliseconds <= 0 ? limit : Math.min(milliseconds, limit);
}
