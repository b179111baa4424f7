// Counts the requests of one lifecycle until their responses have ended. Some settings, such as the overload limits,
// require that a request is counted when it arrives. Without such a setting, lameduck counts a request only when it
// next needs to know how many requests are in flight. HTTP/1.1 and HTTP/2 requests are counted in the same way.
import type { IncomingMessage } from 'node:http';
import { startImmediate, type Clock } from '../../clock.ts';
import { socketOf, type HttpRequest, type HttpResponse } from '../../message.ts';
import { newestRequestOn } from '../../node-internals.ts';
import type { AuditLog, RequestObserver } from '../../observer.ts';
import { connectionOf, type Connection } from '../connection.ts';
import { isLongRunning, ours, serving, type Exchange, type HttpExchange } from '../exchange.ts';
import { Http1Exchange } from '../http1/exchange.ts';
import { LongRunning } from '../long-running/queue.ts';
import { ResponseEnding } from '../long-running/response-ending.ts';
import { watchedStreams, type WatchedStreams } from '../long-running/watched-streams.ts';
import { InFlight } from './in-flight.ts';
import { RequestEndReports } from './request-end-reports.ts';
import type { Classifiers } from './request-functions.ts';
import { abortRequest, abortSignalOf } from './request-signal.ts';
import { visitEach } from '../visit-each.ts';

const recognizedPerTurn = 1_000;

// A recount finds requests that have ended without an event. The pause until the next recount lasts at least
// `pauseFactor` times as long as the recount took. So recounts take little processor time, even if lameduck rejects
// many requests.
const pauseFactor = 10;

export interface RequestsOptions {
  readonly clock: Clock;
  /** random returns a number from 0 up to, but not including, 1. */
  readonly random: () => number;
  readonly functions: Classifiers;
  /** isLimited tells whether there are overload limits. If there are, each request must be counted when it arrives. */
  readonly isLimited: boolean;
  readonly eventStreams: WatchedStreams;
  /**
   * observer is called when a request of the program has ended. It is undefined if the metrics and the audit log are
   * both off.
   */
  readonly observer: RequestObserver | undefined;
  readonly audit?: AuditLog | undefined;
  /**
   * onFailure is called with the error if reading a response throws, because the program has changed the response.
   * lameduck then cannot count or report the request correctly.
   */
  readonly onFailure: (error: unknown) => void;
}

/**
 * The interface Ended has the functions that the class Requests calls at the end of a response. Two of these functions
 * find responses that ended without emitting `close`.
 */
export interface Ended {
  /** onEnd is called when the response of an exchange has ended, complete or not. */
  onEnd(exchange: HttpExchange): void;
  /**
   * forgetIfEnded and forgetEnded find responses that have ended without a `close` event, because the program has
   * removed the listeners of the response. They no longer count the requests of these responses as in flight.
   */
  forgetIfEnded(connection: Connection): void;
  forgetEnded(): void;
}

/**
 * Requests counts the requests of the program. For a request that lameduck itself answers, Requests keeps a record
 * until the response has ended, but does not count the request.
 */
export class Requests {
  readonly inFlight = new InFlight();
  readonly longRunning: LongRunning;
  readonly #clock: Clock;
  readonly #functions: Classifiers;
  readonly #endReports: RequestEndReports | undefined;
  readonly #audit: AuditLog | undefined;
  readonly #isWatchedStream: (exchange: HttpExchange) => boolean;
  readonly #now: () => number;
  readonly #onHead: (exchange: HttpExchange) => void;
  readonly #onEnd: (this: HttpResponse) => void;
  /**
   * #isWatched is true if lameduck must recognize an event stream as soon as the headers of the response have been
   * sent. Overload limits and the audit log need this.
   */
  readonly #isWatched: boolean;
  /**
   * If #enrolsOnArrival is true, lameduck counts each request when the request arrives. It is one boolean for several
   * conditions, so that each request checks only one value. From ShutdownInitiated on, it is always true.
   */
  #enrolsOnArrival: boolean;
  readonly #ended: Ended;
  readonly #onFailure: (error: unknown) => void;
  #recountAt = -Infinity;

  constructor(
    { clock, random, functions, isLimited, eventStreams, observer, audit, onFailure }: RequestsOptions,
    ended: Ended,
  ) {
    this.longRunning = new LongRunning({ clock, inFlight: this.inFlight, random, onFailure });
    this.#clock = clock;
    this.#functions = functions;
    const isReported = observer !== undefined || audit !== undefined;
    const isLong = this.isLongRunning.bind(this);
    this.#endReports = isReported
      ? new RequestEndReports({ clock, isLongRunning: isLong, observer, audit })
      : undefined;
    this.#audit = audit;
    this.#isWatchedStream = watchedStreams(eventStreams);
    this.#now = () => clock.now();
    this.#ended = ended;
    this.#onFailure = onFailure;
    // All requests share this one `close` listener. A new function for each request would cost memory.
    this.#onEnd = function (this: HttpResponse): void {
      const { req } = this as { readonly req?: HttpRequest | null };
      const connection = connectionOf(req?.socket);
      const exchange = connection?.exchangeOf(this);
      if (exchange !== undefined) ended.onEnd(exchange);
      // The program has replaced `req` of the response, or `socket` of the request.
      else if (connection === undefined) ended.forgetEnded();
    };
    this.#isWatched = isLimited || audit !== undefined;
    this.#enrolsOnArrival = isLimited || isReported || functions.longRunning !== undefined;
    const noteHead = (exchange: HttpExchange): void => {
      if (this.#isWatchedStream(exchange)) this.#beginLongRunning(exchange);
      const { state } = exchange;
      if (this.inFlight.isShuttingDown && (state.is === 'long-running' || state.is === 'ending'))
        state.ending.watch?.();
      const { response } = exchange;
      if (response.headersSent && isLongRunning(exchange)) audit?.onStarted(exchange, response.statusCode);
    };
    // This function runs inside the call with which the handler sends the headers. Catch every error here, because the
    // handler would otherwise get an error of lameduck.
    this.#onHead = (exchange) => {
      visitEach([exchange], noteHead, onFailure);
    };
  }

  /**
   * After the call of beginShutdown, each response tells its client to close the connection, if the protocol has a way
   * to say so. This includes the responses to requests that are already in flight.
   */
  beginShutdown(connections: Iterable<Connection>): void {
    this.enrolNoted(connections);
    this.#enrolsOnArrival = true;
    this.inFlight.beginShutdown();
    for (const { exchanges } of connections) visitEach(exchanges, this.#beginShutdown.bind(this), this.#onFailure);
  }

  /** enrolsOnArrival tells whether each request must be counted when it arrives. */
  get enrolsOnArrival(): boolean {
    return this.#enrolsOnArrival;
  }

  /**
   * `admit()` counts an HTTP/1.1 request as in flight, and returns its exchange. Before a shutdown, `admit()` does not
   * count most requests: it records only the arrival time and returns undefined. `enrolNoted` counts these requests
   * later, when a count is read. `isOurs` is true if lameduck itself answers the request.
   */
  admit(
    connection: Connection,
    request: HttpRequest,
    response: Http1Exchange['response'],
    isOurs: boolean,
  ): HttpExchange | undefined {
    const now = this.#clock.now();
    if (!this.#enrolsOnArrival && !isOurs && connection.note(response, now)) return undefined;
    const exchange = new Http1Exchange(connection, request, response, now);
    this.enrol(exchange, isOurs);
    return exchange;
  }

  /** `enrol()` counts a request and adds a listener for the end of its response. */
  enrol(exchange: HttpExchange, isOurs: boolean): void {
    exchange.connection.add(exchange);
    this.#begin(exchange, isOurs);
  }

  /** enrolStream counts an HTTP/2 request as `enrol` does. A CONNECT, which opens a tunnel, counts as long-running. */
  enrolStream(exchange: HttpExchange, isOurs: boolean): void {
    this.enrol(exchange, isOurs);
    if (exchange.request.method === 'CONNECT') this.#beginLongRunning(exchange);
  }

  #begin(exchange: HttpExchange, isOurs: boolean): void {
    this.inFlight.move(exchange, isOurs ? ours : serving);
    exchange.onEnd(this.#onEnd);
    if (!isOurs && this.#functions.longRunning?.(exchange.request) === true) this.#beginLongRunning(exchange);
    if (this.inFlight.isShuttingDown) this.#beginShutdown(exchange);
  }

  #beginShutdown(exchange: HttpExchange): void {
    exchange.beginShutdown(this.#now);
    exchange.onHead(this.#onHead);
  }

  /** enrolNoted counts the requests in flight of which `admit` or `Session.note()` has recorded only the arrival. */
  enrolNoted(connections: Iterable<Connection>): void {
    if (this.#enrolsOnArrival) return;
    visitEach(connections, this.#enrolNotedOn.bind(this), this.#onFailure);
  }

  #enrolNotedOn(connection: Connection | undefined): void {
    if (connection === undefined || this.#enrolsOnArrival) return;
    const exchange = this.#addNoted(connection);
    if (exchange !== undefined) this.#begin(exchange, false);
    // If the program has changed one stream so that reading it throws, the other streams must still be counted.
    const enrol = (one: HttpExchange): void => {
      this.enrolStream(one, false);
    };
    connection.session?.takeNoted(this.#clock.now(), (one) => {
      visitEach([one], enrol, this.#onFailure);
    });
  }

  // Creates the exchange of a request that has none yet. Either `admit` has recorded only the arrival time of the
  // request, or the request arrived before the lifecycle was created.
  #addNoted(connection: Connection): HttpExchange | undefined {
    const { noted } = connection;
    if (noted === undefined) return undefined;
    const { response, arrivedAt } = noted;
    const { req } = response as { readonly req?: IncomingMessage | null };
    const request = req ?? newestRequestOn(connection.socket);
    if (request === undefined) return undefined;
    const exchange = new Http1Exchange(connection, request, response, arrivedAt);
    connection.addNoted(exchange);
    return exchange;
  }

  /**
   * enrolOlder counts the HTTP/1.1 request that was in flight on a connection when the lifecycle began (P-053). Node
   * gives access only to the current response of a socket. So if the client has pipelined requests, enrolOlder counts
   * the second request only when the first response has ended. If the second response has then already ended too, the
   * second request is never counted.
   */
  enrolOlder(connection: Connection): void {
    const exchange = this.#addNoted(connection);
    if (exchange === undefined) return;
    // Count the connection's next request before the end of this response is counted. Otherwise the connection would
    // seem idle for a moment.
    exchange.onEnd(() => {
      this.enrolOlder(connection);
    });
    this.#begin(exchange, false);
  }

  /**
   * `watch()` makes lameduck recognize an event stream as soon as the headers of its response have been sent. Only the
   * overload limits and the audit log need this early recognition. Without them, `watch()` does nothing.
   */
  watch(exchange: HttpExchange): void {
    if (this.#isWatched && !this.inFlight.isShuttingDown) exchange.onHead(this.#onHead);
  }

  /** noteReceived tells the audit log that lameduck passes a request to the program. */
  noteReceived(exchange: Exchange): void {
    this.#audit?.onReceived(exchange, exchange.request);
  }

  /**
   * noteThrow tells the audit log that the program's listener of the event `request`, or of a similar event, has
   * thrown.
   */
  noteThrow(request: object): void {
    const connection = connectionOf(socketOf(request));
    const exchange = connection?.exchangeFor(request) ?? connection?.upgraded;
    if (exchange !== undefined) this.#audit?.onPanic(exchange);
  }

  /**
   * `recount()` first finds the requests that have ended without an event, and no longer counts them. It then returns
   * the number of requests that the program executes.
   */
  recount({ connection }: HttpExchange): number {
    const now = this.#clock.now();
    // Without pipelining, a client sends its next request only after it has received the response. So when a request
    // arrives, all earlier requests on its connection have ended.
    this.#ended.forgetIfEnded(connection);
    if (now >= this.#recountAt) {
      this.#ended.forgetEnded();
      this.#recountAt = now + (this.#clock.now() - now) * pauseFactor;
    }
    return this.inFlight.executing;
  }

  /**
   * `refuse()` answers a request with 429 because of the shutdown. The program does not get the request, and the drain
   * does not wait for the response.
   */
  refuse(exchange: HttpExchange): void {
    this.inFlight.noteRefused();
    this.setApart(exchange);
    exchange.refuse();
  }

  /**
   * setApart removes a request from the requests in flight of the program, because lameduck itself answers the request.
   * The numbers of the program's requests then no longer include it.
   */
  setApart(exchange: HttpExchange): void {
    this.longRunning.delete(exchange);
    this.inFlight.move(exchange, ours);
  }

  /**
   * `release()` removes an exchange whose response has ended, complete or not, from the requests in flight. It returns
   * false if the exchange had already been removed.
   */
  release(exchange: HttpExchange): boolean {
    if (exchange.state.is === 'released') return false;
    exchange.connection.remove(exchange);
    this.#release(exchange);
    return true;
  }

  /** When a connection has closed, releaseAll removes all requests of the connection from the requests in flight. */
  releaseAll(connection: Connection): void {
    for (const exchange of connection.removeAll()) this.#release(exchange);
    const { upgraded } = connection;
    if (upgraded === undefined || !this.longRunning.delete(upgraded)) return;
    this.#endReports?.reportUpgraded(upgraded);
    this.inFlight.releaseUpgraded(upgraded);
  }

  #release(exchange: HttpExchange): void {
    exchange.cancelTimeout?.();
    this.longRunning.delete(exchange);
    try {
      this.#endReports?.report(exchange);
    } catch (error) {
      this.#onFailure(error);
    }
    try {
      this.inFlight.release(exchange);
    } catch (error) {
      this.#onFailure(error);
    }
  }

  /**
   * recognize finds, among the requests in flight, the event streams that the drain will end, and makes them count as
   * long-running. If there are many requests, it takes many turns of the event loop, so that other work does not wait.
   */
  async recognize(connections: Iterable<Connection>): Promise<void> {
    this.enrolNoted(connections);
    let looked = 0;
    for (const { exchanges } of connections) {
      for (const exchange of exchanges) this.#onHead(exchange);
      if (++looked % recognizedPerTurn === 0) await new Promise((resolve) => startImmediate(resolve));
    }
  }

  /**
   * isLongRunning tells whether a request is long-running. The result is also true for an event stream that the drain
   * will end, even if it does not count as long-running yet.
   */
  isLongRunning(exchange: HttpExchange): boolean {
    return isLongRunning(exchange) || this.#isWatchedStream(exchange);
  }

  /** markLongRunning makes a request in flight count as long-running (P-033). */
  markLongRunning(request: object): void {
    const connection = connectionOf(socketOf(request));
    this.#enrolNotedOn(connection);
    const exchange = connection?.exchangeFor(request);
    if (exchange !== undefined) this.#beginLongRunning(exchange);
  }

  /**
   * abortSignal returns the AbortSignal of a request. If the drain is already ending the request, the signal is aborted
   * (P-028).
   */
  abortSignal(request: object): AbortSignal {
    const connection = connectionOf(socketOf(request));
    this.#enrolNotedOn(connection);
    const exchange = connection?.exchangeFor(request) ?? connection?.upgraded;
    const signal = abortSignalOf(request, connection, exchange);
    if (exchange?.state.is === 'ending') abortRequest(request, 'the server is shutting down');
    return signal;
  }

  /** `cut()` aborts the AbortSignal of every request in flight when the drain is about to destroy the connections. */
  cut(connections: Iterable<Connection>): void {
    this.inFlight.cut();
    const abort = (connection: Connection): void => {
      for (const { request } of connection.unfinished()) abortRequest(request, 'the shutdown budget is over');
    };
    visitEach(connections, abort, this.#onFailure);
  }

  #beginLongRunning(exchange: HttpExchange): void {
    if (exchange.state.is === 'serving') this.longRunning.add(exchange, new ResponseEnding(exchange));
  }
}
