// The requests of one lifecycle, over every protocol: which are counted, from when on, and when they are released.
import { startImmediate, type Clock } from '../../clock.ts';
import { socketOf, type Response } from '../../message.ts';
import type { AuditLog, RequestObserver } from '../../observer.ts';
import { connectionOf, type Connection } from '../connection.ts';
import { isLongRunning, ours, serving, type Exchange, type HttpExchange } from '../exchange.ts';
import { Http1Exchange } from '../http1/exchange.ts';
import { LongRunning } from '../long-running/queue.ts';
import { ResponseEnding } from '../long-running/response-ending.ts';
import { watchedStreams, type WatchedStreams } from '../long-running/watched-streams.ts';
import { InFlight } from './in-flight.ts';
import { RequestEnds } from './request-ends.ts';
import type { Asked } from './request-functions.ts';
import { abortRequest, abortSignalOf } from './request-signal.ts';

const recognizedPerTurn = 1_000;

// A recount waits this many times as long as the one before it took, so that rejecting many requests stays cheap.
const pauseFactor = 10;

/** RequestsOptions are the rules and the observers of the requests. */
export interface RequestsOptions {
  readonly clock: Clock;
  readonly functions: Asked;
  /** Whether there are limits, so that each request must be counted when it arrives. */
  readonly isLimited: boolean;
  readonly eventStreams: WatchedStreams;
  /** Called for each request of the program that has ended. Undefined if nothing records the requests. */
  readonly observer: RequestObserver | undefined;
  readonly audit?: AuditLog | undefined;
}

/** Ended has the functions that Requests calls when responses have ended. */
export interface Ended {
  /** The response of an exchange has ended, whole or not. */
  onEnd(exchange: HttpExchange): void;
  /** Release responses whose end was not reported, because the program has removed the listeners. */
  forgetIfEnded(connection: Connection): void;
  forgetEnded(): void;
}

/** Requests counts the requests of the program. Requests that lameduck answers are tracked until their end, but not counted. */
export class Requests {
  readonly inFlight = new InFlight();
  readonly longRunning: LongRunning;
  readonly #clock: Clock;
  readonly #functions: Asked;
  readonly #ends: RequestEnds | undefined;
  readonly #audit: AuditLog | undefined;
  readonly #isWatchedStream: (exchange: HttpExchange) => boolean;
  readonly #now: () => number;
  readonly #onHead: (exchange: HttpExchange) => void;
  readonly #onEnd: (this: Response) => void;
  /** Whether watched event streams must be recognized as soon as their headers have been sent. */
  readonly #isWatched: boolean;
  /** Whether each request is counted when it arrives; from ShutdownInitiated on it is. */
  #isListed: boolean;
  #isLeaving = false;
  readonly #ended: Ended;
  #recountAt = -Infinity;

  constructor({ clock, functions, isLimited, eventStreams, observer, audit }: RequestsOptions, ended: Ended) {
    this.longRunning = new LongRunning(clock, this.inFlight);
    this.#clock = clock;
    this.#functions = functions;
    const isReported = observer !== undefined || audit !== undefined;
    const isLong = this.isLongRunning.bind(this);
    this.#ends = isReported ? new RequestEnds({ clock, isLongRunning: isLong, observer, audit }) : undefined;
    this.#audit = audit;
    this.#isWatchedStream = watchedStreams(eventStreams);
    this.#now = () => clock.now();
    this.#ended = ended;
    // One function for every request, so that a request costs no closure.
    this.#onEnd = function (this: Response): void {
      const exchange = connectionOf(this.req.socket)?.exchangeOf(this);
      if (exchange !== undefined) ended.onEnd(exchange);
    };
    this.#isWatched = isLimited || audit !== undefined;
    this.#isListed = isLimited || isReported || functions.longRunning !== undefined;
    this.#onHead = (exchange) => {
      if (this.#isWatchedStream(exchange)) this.#beginLongRunning(exchange);
      const { state } = exchange;
      if (this.#isLeaving && (state.is === 'long-running' || state.is === 'told')) state.ending.watch?.();
      const { response } = exchange;
      if (response.headersSent && isLongRunning(exchange)) audit?.onStarted(exchange, response.statusCode);
    };
  }

  /** leave makes current and future responses on the connections tell their clients to close them, if the protocol allows it. */
  leave(connections: Iterable<Connection>): void {
    this.list(connections);
    this.#isListed = true;
    this.#isLeaving = true;
    this.inFlight.leave();
    for (const { exchanges } of connections) for (const exchange of exchanges) this.#beginLeaving(exchange);
  }

  /**
   * admit counts a request of HTTP/1.1. `isOurs` means that lameduck answers it. Before a shutdown, admit only notes most requests
   * and returns undefined. They are counted when the counts are read.
   */
  admit(connection: Connection, response: Http1Exchange['response'], isOurs: boolean): HttpExchange | undefined {
    const now = this.#clock.now();
    if (!this.#isListed && !isOurs && connection.note(response, now)) return undefined;
    const exchange = new Http1Exchange(connection, response, now);
    this.enrol(exchange, isOurs);
    return exchange;
  }

  /** enrol counts a request. */
  enrol(exchange: HttpExchange, isOurs: boolean): void {
    exchange.connection.add(exchange);
    this.#begin(exchange, isOurs);
    if (!isOurs && this.#functions.longRunning?.(exchange.request) === true) this.#beginLongRunning(exchange);
    if (this.#isLeaving) this.#beginLeaving(exchange);
  }

  #begin(exchange: HttpExchange, isOurs: boolean): void {
    this.inFlight.move(exchange, isOurs ? ours : serving);
    exchange.onEnd(this.#onEnd);
  }

  #beginLeaving(exchange: HttpExchange): void {
    exchange.beginLeaving(this.#now);
    exchange.onHead(this.#onHead);
  }

  /** list counts the requests that were only noted. */
  list(connections: Iterable<Connection>): void {
    if (this.#isListed) return;
    for (const connection of connections) this.#list(connection);
  }

  #list(connection: Connection | undefined): void {
    const exchange = this.#isListed ? undefined : connection?.list();
    if (exchange !== undefined) this.#begin(exchange, false);
  }

  /** watch lets an event stream be recognized as soon as its headers are sent, where that matters at once. */
  watch(exchange: HttpExchange): void {
    if (this.#isWatched && !this.#isLeaving) exchange.onHead(this.#onHead);
  }

  /** noteReceived reports that a request goes to the program. */
  noteReceived(exchange: Exchange): void {
    this.#audit?.onReceived(exchange, exchange.request);
  }

  /** noteThrow reports that the program's listener has thrown when it got a request. */
  noteThrow(request: object): void {
    const connection = connectionOf(socketOf(request));
    const exchange = connection?.exchangeFor(request) ?? connection?.upgraded;
    if (exchange !== undefined) this.#audit?.onPanic(exchange);
  }

  /** recount returns the requests in flight without those whose end nobody has reported. */
  recount({ connection }: HttpExchange): number {
    const now = this.#clock.now();
    // A client that waits for its responses has its last request, which has ended, on the same connection.
    this.#ended.forgetIfEnded(connection);
    if (now >= this.#recountAt) {
      this.#ended.forgetEnded();
      this.#recountAt = now + (this.#clock.now() - now) * pauseFactor;
    }
    return this.inFlight.serving;
  }

  /** refuse answers an admitted request in the place of its handler, and waits for it no more. */
  refuse(exchange: HttpExchange): void {
    this.inFlight.refused++;
    this.setApart(exchange);
    exchange.refuse();
  }

  /** setApart no longer counts a request as the program's, because lameduck answers it. */
  setApart(exchange: HttpExchange): void {
    this.longRunning.delete(exchange);
    this.inFlight.move(exchange, ours);
  }

  /** release sees a response out that has ended, whole or not; false when its connection had ended before it. */
  release(exchange: HttpExchange): boolean {
    if (exchange.state.is === 'released') return false;
    exchange.connection.remove(exchange);
    this.#release(exchange);
    return true;
  }

  /** releaseAll sees everything out that was on a connection which has closed. */
  releaseAll(connection: Connection): void {
    for (const exchange of connection.removeAll()) this.#release(exchange);
    const { upgraded } = connection;
    if (upgraded === undefined || !this.longRunning.delete(upgraded)) return;
    this.#ends?.noteUpgraded(upgraded);
    this.inFlight.releaseUpgraded(upgraded);
  }

  #release(exchange: HttpExchange): void {
    exchange.cancelTimeout?.();
    this.#ends?.note(exchange);
    this.longRunning.delete(exchange);
    this.inFlight.release(exchange);
  }

  /**
   * recognize finds watched event streams among the requests in flight, so that they are counted as long-running. If there are
   * many requests, it takes many turns of the event loop, so that other work does not wait.
   */
  async recognize(connections: Iterable<Connection>): Promise<void> {
    this.list(connections);
    let looked = 0;
    for (const { exchanges } of connections) {
      for (const exchange of exchanges) this.#onHead(exchange);
      if (++looked % recognizedPerTurn === 0) await new Promise((resolve) => startImmediate(resolve));
    }
  }

  /** isLongRunning tells whether a request is long-running, even if its event stream has not been recognized yet. */
  isLongRunning(exchange: HttpExchange): boolean {
    return isLongRunning(exchange) || this.#isWatchedStream(exchange);
  }

  /** markLongRunning makes a request in flight long-running (P-033). */
  markLongRunning(request: object): void {
    const connection = connectionOf(socketOf(request));
    this.#list(connection);
    const exchange = connection?.exchangeFor(request);
    if (exchange !== undefined) this.#beginLongRunning(exchange);
  }

  /** abortSignal returns the AbortSignal of a request. If the drain has already ended the request, the signal is aborted (P-028). */
  abortSignal(request: object): AbortSignal {
    const connection = connectionOf(socketOf(request));
    this.#list(connection);
    const exchange = connection?.exchangeFor(request) ?? connection?.upgraded;
    const signal = abortSignalOf(request, connection, exchange);
    if (exchange?.state.is === 'told') abortRequest(request, 'the server is shutting down');
    return signal;
  }

  /** cut aborts the signals of all requests that are left, which end with their connections and not by themselves. */
  cut(connections: Iterable<Connection>): void {
    this.inFlight.cut();
    for (const connection of connections) {
      for (const { request } of connection.unfinished()) abortRequest(request, 'the shutdown has no time left');
    }
  }

  #beginLongRunning(exchange: HttpExchange): void {
    if (exchange.state.is === 'serving') this.longRunning.add(exchange, new ResponseEnding(exchange));
  }
}
