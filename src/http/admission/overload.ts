// Overload: requests beyond a limit are rejected, and those that take too long are answered for. Off unless asked for.
import type { Clock } from '../../clock.ts';
import { parseDuration } from '../../settings/duration.ts';
import { connectionOf } from '../connection.ts';
import { longestBehindAnswer } from '../http1/half-request.ts';
import { answerInstead, breakOff } from '../responses/instead.ts';
import { abortRequest } from '../in-flight/request-signal.ts';
import { timedOut, tooManyRequests } from '../responses/rejection.ts';
import type { Answer, Response } from '../../message.ts';
import { StreamResponse } from '../http2/stream-response.ts';

/** OverloadLimits is what a server allows; 0 is no limit. */
export interface OverloadLimits {
  /** In milliseconds. */
  readonly requestTimeout: number;
  readonly maxRequestsInflight: number;
  /** The probability with which a request on HTTP/2 makes its session end. */
  readonly goawayChance: number;
}

/** Load is what the limits are held against. */
export interface Load {
  /** Requests that are not long-running, nor probes; the one that has just come among them. */
  readonly inFlight: number;
  /** recount returns `inFlight` without requests whose end nobody has reported. */
  recount(response: Response): number;
  isLongRunning(response: Response): boolean;
}

/** createOverload returns undefined when there is no limit, so that nothing is paid for it. */
export function createOverload(clock: Clock, limits: OverloadLimits, load: Load): Overload | undefined {
  const isLimited = limits.requestTimeout > 0 || limits.maxRequestsInflight > 0;
  return isLimited ? new Overload(clock, limits, load) : undefined;
}

/** Overload holds a server's requests to its limits; long-running ones have none. */
export class Overload {
  requestsRejected = 0;
  requestsTimedOut = 0;
  readonly #clock: Clock;
  readonly #limits: OverloadLimits;
  readonly #load: Load;
  readonly #timers = new Map<Response, () => void>();

  constructor(clock: Clock, limits: OverloadLimits, load: Load) {
    this.#clock = clock;
    this.#limits = limits;
    this.#load = load;
  }

  /** rejects answers a request that is one too many, and lets the time of every other begin. */
  rejects(response: Response): boolean {
    if (this.#load.isLongRunning(response)) return false;
    const { maxRequestsInflight, requestTimeout } = this.#limits;
    const isTooMany = maxRequestsInflight > 0 && this.#load.inFlight > maxRequestsInflight;
    if (isTooMany && this.#load.recount(response) > maxRequestsInflight) {
      this.requestsRejected++;
      answerInstead(response, tooManyRequests);
      return true;
    }
    if (requestTimeout > 0) {
      const cancel = this.#clock.after(timeoutOf(response, requestTimeout), () => {
        this.#timers.delete(response);
        this.#timeOut(response);
      });
      this.#timers.set(response, cancel);
    }
    return false;
  }

  /** release forgets a request that has ended. */
  release(response: Response): void {
    this.#timers.get(response)?.();
    this.#timers.delete(response);
  }

  // Asked again, because whoever listens for the abort may answer.
  #isAnswered(response: Response): boolean {
    return response.writableEnded;
  }

  // The handler goes on running. What it has begun to answer can only be broken off, so that the client does not
  // take a part for the whole.
  #timeOut(response: Response): void {
    if (response.writableEnded || this.#load.isLongRunning(response)) return;
    abortRequest(response.req, 'its time is up');
    if (this.#isAnswered(response)) return;
    this.requestsTimedOut++;
    if (response.headersSent) {
      breakOff(response);
      return;
    }
    answerInstead(response, closing(response, timedOut));
    if (response instanceof StreamResponse) this.#stopReading(response);
  }

  // On HTTP/2 a request does not end with its answer, and one whose client goes on sending would take up room for ever.
  #stopReading(response: StreamResponse): void {
    response.stopReading();
    if (response.stream.destroyed) return;
    const cancel = this.#clock.after(longestBehindAnswer, () => {
      this.#stopReading(response);
    });
    this.#timers.set(response, cancel);
  }
}

// The handler that goes on may do what it likes to the socket, and must not meet the next request there.
function closing(response: Response, answer: Answer): Answer {
  const isLast = connectionOf(response.req.socket)?.responses.at(-1) === response;
  return isLast ? { ...answer, headers: { ...answer.headers, Connection: 'close' } } : answer;
}

// A client may ask for less time than there is, by a Go duration in its query; anything else in a parameter of that
// name is the program's own.
function timeoutOf({ req: { url = '' } }: Response, limit: number): number {
  const asked = /[?&]timeout=([^&#]*)/.exec(url)?.[1];
  const milliseconds = asked === undefined ? undefined : parseDuration(asked);
  return milliseconds === undefined || milliseconds <= 0 ? limit : Math.min(milliseconds, limit);
}
