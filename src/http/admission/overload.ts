// Overload limits: rejects requests above a limit, and answers requests that take too long. Off by default.
import type { Clock } from '../../clock.ts';
import { parseDuration } from '../../settings/duration.ts';
import { longestBehindAnswer } from '../http1/half-request.ts';
import { answerInstead } from '../responses/instead.ts';
import { abortRequest } from '../in-flight/request-signal.ts';
import { timedOut, tooManyRequests } from '../responses/rejection.ts';
import type { Answer } from '../../message.ts';
import type { HttpExchange } from '../exchange.ts';

/** OverloadLimits are the limits of a server. 0 means no limit. */
export interface OverloadLimits {
  /** In milliseconds. */
  readonly requestTimeout: number;
  readonly maxRequestsInflight: number;
  /** The probability with which a request on HTTP/2 makes its session end. */
  readonly goawayChance: number;
}

/** Load is the load that the limits are compared with. */
export interface Load {
  /** Requests that are neither long-running nor probes, including the request that has just arrived. */
  readonly inFlight: { readonly serving: number };
  /** recount returns the same number without requests that have ended although no `close` event was emitted. */
  recount(exchange: HttpExchange): number;
  isLongRunning(exchange: HttpExchange): boolean;
}

/** isLimited tells whether there is a limit. */
export function isLimited({ requestTimeout, maxRequestsInflight }: OverloadLimits): boolean {
  return requestTimeout > 0 || maxRequestsInflight > 0;
}

/** createOverload returns undefined if there is no limit, so that requests cost no more time than without limits. */
export function createOverload(clock: Clock, limits: OverloadLimits, load: Load): Overload | undefined {
  return isLimited(limits) ? new Overload(clock, limits, load) : undefined;
}

/** Overload holds a server's requests to its limits; long-running ones have none. */
export class Overload {
  requestsRejected = 0;
  requestsTimedOut = 0;
  readonly #clock: Clock;
  readonly #limits: OverloadLimits;
  readonly #load: Load;

  constructor(clock: Clock, limits: OverloadLimits, load: Load) {
    this.#clock = clock;
    this.#limits = limits;
    this.#load = load;
  }

  /** rejects answers a request that is one too many, and lets the time of every other begin. */
  rejects(exchange: HttpExchange): boolean {
    if (this.#load.isLongRunning(exchange)) return false;
    const { maxRequestsInflight, requestTimeout } = this.#limits;
    const isTooMany = maxRequestsInflight > 0 && this.#load.inFlight.serving > maxRequestsInflight;
    if (isTooMany && this.#load.recount(exchange) > maxRequestsInflight) {
      this.requestsRejected++;
      answerInstead(exchange, tooManyRequests);
      return true;
    }
    if (requestTimeout > 0) {
      exchange.cancelTimeout = this.#clock.after(timeoutOf(exchange, requestTimeout), () => {
        this.#timeOut(exchange);
      });
    }
    return false;
  }

  // Called before and after the abort, because a listener of the AbortSignal may answer the request.
  #isAnswered({ response }: HttpExchange): boolean {
    return response.writableEnded;
  }

  // The handler continues to run. If it has begun its response, the response is broken off, so that the client does
  // not take the part for a complete response.
  #timeOut(exchange: HttpExchange): void {
    if (this.#isAnswered(exchange) || this.#load.isLongRunning(exchange)) return;
    abortRequest(exchange.request, 'its time is up');
    if (this.#isAnswered(exchange)) return;
    this.requestsTimedOut++;
    if (exchange.response.headersSent) {
      exchange.breakOff();
      return;
    }
    answerInstead(exchange, closing(exchange, timedOut));
    this.#stopReading(exchange);
  }

  // On HTTP/2, a request does not end with its response. If the client keeps sending a body, the request would count forever.
  #stopReading(exchange: HttpExchange): void {
    if (exchange.stopReading()) return;
    exchange.cancelTimeout = this.#clock.after(longestBehindAnswer, () => {
      this.#stopReading(exchange);
    });
  }
}

// Close the connection after the response. The handler still runs and may write to the socket, where it must not disturb the
// next request.
function closing(exchange: HttpExchange, answer: Answer): Answer {
  const isLast = exchange.connection.isLast(exchange);
  return isLast ? { ...answer, headers: { ...answer.headers, Connection: 'close' } } : answer;
}

// A client can shorten the limit by a Go duration in its query. If the parameter has another value, the parameter
// belongs to the program.
function timeoutOf({ request: { url = '' } }: HttpExchange, limit: number): number {
  const asked = /[?&]timeout=([^&#]*)/.exec(url)?.[1];
  const milliseconds = asked === undefined ? undefined : parseDuration(asked);
  return milliseconds === undefined || milliseconds <= 0 ? limit : Math.min(milliseconds, limit);
}
