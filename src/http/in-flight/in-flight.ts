// All counters of requests in flight. Only the methods of InFlight change them.
import { delayed, released, serving, type Exchange, type HttpExchange, type State } from '../exchange.ts';

/**
 * Counts has the number of requests in each state, except the states `noted` (not counted yet) and `released` (ended).
 */
export type Counts = Record<Exclude<State['is'], 'noted' | 'released'>, number>;

/** Totals has those request counters of a lifecycle that never decrease. */
export interface Totals {
  /** answered, refused and longRunningEnded count requests since ShutdownInitiated. */
  answered: number;
  refused: number;
  longRunningEnded: number;
  /**
   * aborted counts the responses that this process destroyed before they were complete. It leaves out the responses
   * that the drain destroyed.
   */
  aborted: number;
  /** rejected and timedOut count the requests that the overload limits have answered with 429 and with 504. */
  rejected: number;
  timedOut: number;
}

/**
 * InFlight counts the exchanges (requests with their responses) of all connections by state. It leaves out the
 * exchanges in the state `noted` or `released`, which are in no connection's list of exchanges.
 */
export class InFlight {
  readonly #totals: Totals = { answered: 0, refused: 0, longRunningEnded: 0, aborted: 0, rejected: 0, timedOut: 0 };
  readonly #counts: Counts = { serving: 0, ours: 0, 'long-running': 0, ending: 0 };
  /** #delayed is the number of the requests in state `serving` that lameduck delays. */
  #delayed = 0;
  /** onRoom is called when the program executes one request less. It is undefined if no request waits for that. */
  onRoom: (() => void) | undefined;
  // #isShuttingDown becomes true before ShutdownInitiated fires, because the log line of this signal contains the
  // numbers of requests in flight.
  #isShuttingDown = false;
  // #isCut becomes true when the time for the drain is over. No lifecycle signal fires at that time.
  #isCut = false;

  get counts(): Readonly<Counts> {
    return this.#counts;
  }

  get totals(): Readonly<Totals> {
    return this.#totals;
  }

  get isShuttingDown(): boolean {
    return this.#isShuttingDown;
  }

  /**
   * serving is the number of requests in flight that the program handles. It does not include long-running requests,
   * nor requests that lameduck itself answers.
   */
  get serving(): number {
    return this.#counts.serving;
  }

  /** executing is the number of requests that count for `maxRequestsInflight`: `serving` without the delayed requests. */
  get executing(): number {
    return this.#counts.serving - this.#delayed;
  }

  /** longRunning is the number of long-running requests, including those that the drain is ending. */
  get longRunning(): number {
    return this.#counts['long-running'] + this.#counts.ending;
  }

  /** isIdle tells whether no request of the program is in flight. */
  get isIdle(): boolean {
    return this.serving === 0 && this.longRunning === 0;
  }

  move(exchange: Exchange, to: State): void {
    const { state } = exchange;
    if (state.is !== 'noted' && state.is !== 'released') this.#counts[state.is]--;
    if (to.is !== 'noted' && to.is !== 'released') this.#counts[to.is]++;
    if (state === delayed) this.#delayed--;
    if (to === delayed) this.#delayed++;
    exchange.state = to;
    if (state === serving) this.onRoom?.();
  }

  /** `delay()` is called when lameduck begins to delay a request. Long-running requests are not counted as delayed. */
  delay(exchange: Exchange): void {
    if (exchange.state === serving) this.move(exchange, delayed);
  }

  /** `resume()` is called when a request that lameduck has delayed continues. */
  resume(exchange: Exchange): void {
    if (exchange.state === delayed) this.move(exchange, serving);
  }

  /**
   * After the call of beginShutdown, the counters of answered, refused and aborted requests count each request that
   * ends.
   */
  beginShutdown(): void {
    this.#isShuttingDown = true;
  }

  /**
   * `cut()` is called before the drain destroys the remaining requests. After this call, no destroyed request counts as
   * `aborted`, because `aborted` counts only the responses that the program destroyed.
   */
  cut(): void {
    this.#isCut = true;
  }

  /**
   * When a request has ended, `release()` removes it from the requests in flight. During a shutdown, `release()` also
   * counts the request as answered or aborted. lameduck refuses each request on a connection that was accepted after
   * NotAcceptingNewRequest, so such a request gets neither count.
   */
  release(exchange: HttpExchange): void {
    const { state, response, connection } = exchange;
    // Change the state of the exchange before reading its response. If the program has changed the response, reading
    // the response may throw.
    this.move(exchange, released);
    if (state.is === 'long-running' || state.is === 'ending') this.#noteLongRunningEnd();
    else if (this.#isShuttingDown && state.is === 'serving' && !connection.isLate) {
      if (response.writableFinished) this.#totals.answered++;
      else if (!this.#isCut && exchange.isAborted) this.#totals.aborted++;
    }
  }

  /** noteRefused counts a request, or an upgrade, that was refused because of the shutdown. */
  noteRefused(): void {
    this.#totals.refused++;
  }

  /** noteRejected counts a request that was rejected because `maxRequestsInflight` requests were in flight. */
  noteRejected(): void {
    this.#totals.rejected++;
  }

  /** noteTimedOut counts a request that has exceeded `requestTimeout`. */
  noteTimedOut(): void {
    this.#totals.timedOut++;
  }

  /**
   * When an upgraded connection has ended, releaseUpgraded removes it from the long-running requests in flight. During
   * a shutdown, it also increments `longRunningEnded`.
   */
  releaseUpgraded(exchange: Exchange): void {
    this.#noteLongRunningEnd();
    this.move(exchange, released);
  }

  #noteLongRunningEnd(): void {
    if (this.#isShuttingDown && !this.#isCut) this.#totals.longRunningEnded++;
  }
}
