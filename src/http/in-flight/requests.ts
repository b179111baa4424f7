// The requests of one lifecycle: each is admitted and counted in one step, and released once, over every protocol.
import { startImmediate, type Clock } from '../../clock.ts';
import { socketOf, type Request, type Response } from '../../message.ts';
import type { RequestObserver } from '../../observer.ts';
import { isAborted } from './aborted.ts';
import { connectionOf, type Connection } from '../connection.ts';
import { onHead } from '../responses/head.ts';
import { LongRunningRequest } from '../long-running/request.ts';
import { LongRunning } from '../long-running/queue.ts';
import { createOverload, type Overload, type OverloadLimits } from '../admission/overload.ts';
import { RequestEnds } from './request-ends.ts';
import type { Asked } from '../admission/request-functions.ts';
import { abortRequest, abortSignalOf } from './request-signal.ts';
import { StreamResponse } from '../http2/stream-response.ts';
import type { Upgraded } from '../upgraded/socket.ts';
import { watchedStreams, type WatchedStreams } from '../long-running/watched-streams.ts';

const recognizedPerTurn = 1_000;

// A recount waits this many times as long as the one before it took, so that rejecting many requests stays cheap.
const pauseFactor = 10;

/** RequestsOptions is what decides of requests, and who is told of them. */
export interface RequestsOptions {
  readonly clock: Clock;
  readonly functions: Asked;
  readonly limits: OverloadLimits;
  readonly eventStreams: WatchedStreams;
  /** Told of each of the program's requests that has ended; there is none when nobody counts them. */
  readonly observer: RequestObserver | undefined;
}

/** ForgetEnded releases responses that have ended although the program has removed the listeners that report it. */
export interface ForgetEnded {
  forgetIfEnded(connection: Connection): void;
  forgetEnded(): void;
}

/** Requests counts those of the program; what lameduck answers itself is only seen out. */
export class Requests {
  /** Those that are not long-running. */
  inFlight = 0;
  /** Those answered, refused and, where they were long-running, ended since ShutdownInitiated. */
  answered = 0;
  refused = 0;
  longRunningEnded = 0;
  /** Those whose response this process has destroyed before it was complete, without those that the drain has cut. */
  aborted = 0;
  readonly longRunning: LongRunning;
  /** Undefined when there is no limit, so that nothing is paid for it. */
  readonly overload: Overload | undefined;
  readonly #clock: Clock;
  readonly #functions: Asked;
  readonly #ends: RequestEnds | undefined;
  readonly #isWatchedStream: (response: Response) => boolean;
  readonly #now: () => number;
  readonly #onHead: (response: Response) => void;
  readonly #watch: (response: Response) => void;
  /** Whether each request is counted when it arrives; from ShutdownInitiated on it is. */
  #isListed: boolean;
  #isLeaving = false;
  #isCut = false;
  readonly #forget: ForgetEnded;
  #recountAt = -Infinity;

  /**
   * `watch` sees to it that a response is released when it ends; `forget` releases those of which the program has removed
   * the listeners.
   */
  constructor(
    { clock, functions, limits, eventStreams, observer }: RequestsOptions,
    watch: (response: Response) => void,
    forget: ForgetEnded,
  ) {
    this.longRunning = new LongRunning(clock);
    this.overload = createOverload(clock, limits, this);
    this.#clock = clock;
    this.#functions = functions;
    this.#ends = observer && new RequestEnds(observer, clock, this);
    this.#isWatchedStream = watchedStreams(eventStreams);
    this.#now = () => clock.now();
    this.#watch = watch;
    this.#forget = forget;
    this.#isListed = this.overload !== undefined || observer !== undefined || functions.longRunning !== undefined;
    this.#onHead = (response) => {
      const connection = connectionOf(response.req.socket);
      if (connection !== undefined && this.#isWatchedStream(response)) this.#beginLongRunning(connection, response);
      if (this.#isLeaving) this.longRunning.get(response)?.watch();
    };
  }

  /** leave lets what is and will be in flight on the connections ask its client to leave, in the response if it can. */
  leave(connections: Iterable<Connection>): void {
    this.list(connections);
    this.#isListed = true;
    this.#isLeaving = true;
    for (const connection of connections) {
      for (const response of connection.responses) {
        if (response instanceof StreamResponse) response.watchEnd();
        if (!response.headersSent) this.#prepareToLeave(connection, response);
      }
    }
  }

  /**
   * admit counts a request; `isOurs` says that lameduck answers it. Before a shutdown most are only noted, and counted when
   * somebody asks.
   */
  admit(connection: Connection, response: Response, isOurs: boolean): void {
    const now = this.#clock.now();
    if (!this.#isListed && !isOurs && connection.note(response, now)) return;
    connection.admit(response, now);
    this.#watch(response);
    if (isOurs) connection.setApart(response);
    else {
      this.inFlight++;
      if (this.#functions.longRunning?.(response.req) === true) this.#beginLongRunning(connection, response);
    }
    if (!this.#isLeaving) return;
    if (response instanceof StreamResponse) response.watchEnd();
    this.#prepareToLeave(connection, response);
  }

  /** list counts the requests that were only noted. */
  list(connections: Iterable<Connection>): void {
    if (this.#isListed) return;
    for (const connection of connections) this.#list(connection);
  }

  #list(connection: Connection | undefined): void {
    const response = this.#isListed ? undefined : connection?.list();
    if (response === undefined) return;
    this.inFlight++;
    this.#watch(response);
  }

  /** upgrade counts a connection that has left HTTP as one long-running request. */
  upgrade(connection: Upgraded, request: Request): void {
    this.longRunning.add(connection, new LongRunningRequest(connection, request));
  }

  /** isRejected answers an admitted request that is one too many. */
  isRejected(connection: Connection, response: Response): boolean {
    if (this.overload === undefined) return false;
    // Only here does it matter at once that a watched event stream is no ordinary request.
    if (!this.#isLeaving) onHead(response, this.#onHead);
    if (!this.overload.rejects(response)) return false;
    this.#setApart(connection, response);
    return true;
  }

  /** recount returns the requests in flight without those whose end nobody has reported. */
  recount({ req: { socket } }: Response): number {
    const now = this.#clock.now();
    // A client that waits for its responses has its last request, which has ended, on the same connection.
    const connection = connectionOf(socket);
    if (connection !== undefined) this.#forget.forgetIfEnded(connection);
    if (now >= this.#recountAt) {
      this.#forget.forgetEnded();
      this.#recountAt = now + (this.#clock.now() - now) * pauseFactor;
    }
    return this.inFlight;
  }

  /** refuse counts an admitted request that lameduck answers in the place of its handler, and waits for it no more. */
  refuse(connection: Connection, response: Response): void {
    this.refused++;
    this.#setApart(connection, response);
  }

  #setApart(connection: Connection, response: Response): void {
    connection.setApart(response);
    if (!this.longRunning.delete(response)) this.inFlight--;
  }

  /** release sees a response out that has ended, whole or not; false when its connection had ended before it. */
  release(connection: Connection, response: Response): boolean {
    const owner = connection.release(response);
    this.overload?.release(response);
    if (owner === undefined) return false;
    if (owner === 'program') this.#ends?.note(connection, response, connection.releasedArrival);
    const isLongRunning = this.longRunning.count > 0 && this.longRunning.delete(response);
    if (owner === 'program' && !isLongRunning) this.inFlight--;
    if (!this.#isLeaving) return true;
    if (isLongRunning) this.#noteLongRunningEnd();
    else if (owner === 'program' && !connection.isLate) {
      if (response.writableFinished) this.answered++;
      else this.#noteIfAborted(connection, response);
    }
    return true;
  }

  /** releaseAll sees everything out that was on a connection which has closed. */
  releaseAll(connection: Connection): void {
    this.#ends?.noteGone(connection);
    if (this.#isLeaving && connection.isBusy) {
      for (const { response } of connection.requests()) {
        if (!this.longRunning.has(response)) this.#noteIfAborted(connection, response);
      }
    }
    this.inFlight -= connection.unansweredCount;
    for (const response of connection.responses) {
      if (!this.longRunning.delete(response)) continue;
      this.inFlight++;
      this.#noteLongRunningEnd();
    }
    if (connection.isUpgraded && this.longRunning.delete(connection)) this.#noteLongRunningEnd();
    connection.releaseAll();
  }

  /**
   * recognize looks for watched event streams among the requests in flight, so that they are counted as what they are; over many
   * turns of the event loop when there are many, so that none of them waits.
   */
  async recognize(connections: Iterable<Connection>): Promise<void> {
    this.list(connections);
    let looked = 0;
    for (const { responses } of connections) {
      for (const response of responses) this.#onHead(response);
      if (++looked % recognizedPerTurn === 0) await new Promise((resolve) => startImmediate(resolve));
    }
  }

  /** isLongRunning tells whether a request is known to be long-running. */
  isLongRunning(response: Response): boolean {
    return this.longRunning.has(response) || this.#isWatchedStream(response);
  }

  /** markLongRunning says of a request in flight that it is long-running (P-033). */
  markLongRunning(request: object): void {
    const connection = connectionOf(socketOf(request));
    this.#list(connection);
    const response = connection?.responseTo(request);
    if (connection !== undefined && response !== undefined) this.#beginLongRunning(connection, response);
  }

  /** abortSignal returns the AbortSignal of a request; one whose turn in the drain has come is aborted already (P-028). */
  abortSignal(request: object): AbortSignal {
    const connection = connectionOf(socketOf(request));
    this.#list(connection);
    const signal = abortSignalOf(request);
    const key = connection?.responseTo(request) ?? connection;
    if (key !== undefined && this.longRunning.isTold(key)) abortRequest(request, 'the server is shutting down');
    return signal;
  }

  /** cut aborts the signals of all requests that are left, which end with their connections and not by themselves. */
  cut(connections: Iterable<Connection>): void {
    this.#isCut = true;
    for (const connection of connections) {
      for (const { request } of connection.unfinished()) abortRequest(request, 'the shutdown has no time left');
    }
  }

  #noteIfAborted(connection: Connection, response: Response): void {
    if (!this.#isCut && isAborted(connection, response)) this.aborted++;
  }

  #noteLongRunningEnd(): void {
    if (this.#isLeaving && !this.#isCut) this.longRunningEnded++;
  }

  #beginLongRunning(connection: Connection, response: Response): void {
    if (this.longRunning.has(response)) return;
    this.inFlight--;
    this.longRunning.add(response, new LongRunningRequest(connection, response.req, response));
  }

  #prepareToLeave(connection: Connection, response: Response): void {
    connection.closeAfter(response, this.#now);
    onHead(response, this.#onHead);
  }
}
