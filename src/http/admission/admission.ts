// Decides what happens to an arriving request: one ordered list of decisions for all protocols.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { Clock } from '../../clock.ts';
import type { Answer } from '../../message.ts';
import { connectionOf, type Connection } from '../connection.ts';
import { told } from '../connection-state.ts';
import type { HttpExchange } from '../exchange.ts';
import { Http2Exchange } from '../http2/exchange.ts';
import type { Session } from '../http2/session.ts';
import { Hold } from '../in-flight/hold.ts';
import type { Requests } from '../in-flight/requests.ts';
import { refuseUpgrade } from '../responses/rejection.ts';
import { ignoreResets } from '../responses/socket-errors.ts';
import type { Proceed } from '../seam.ts';
import { createOverload, type Overload, type OverloadLimits } from './overload.ts';
import { answerProbe } from './probe.ts';

/** AdmissionOptions is what decides of requests that arrive. */
export interface AdmissionOptions {
  readonly clock: Clock;
  /** Answers a request for an endpoint of lameduck. The drain neither waits for it nor rejects it (P-078). */
  readonly answer: (url: string, method: string) => Answer | Promise<Answer> | undefined;
  readonly limits: OverloadLimits;
}

/** Records makes the record of a connection that is older than the seam, and is found only by its first request (P-053). */
export interface Records {
  /** Returns undefined for a request that was injected in the process (P-031). */
  adopt(socket: unknown): Connection | undefined;
  onSession(session: ServerHttp2Session): Session;
}

/** Admission decides of each request, in this order: dropped, answered as a probe, held, refused, rejected, passed on. */
export class Admission {
  /** Holds requests, but no probes, while the listener closes: a client that waits for its answer opens no connection. */
  readonly hold = new Hold();
  /** Undefined when there is no limit, so that nothing is paid for it. */
  readonly overload: Overload | undefined;
  readonly #options: AdmissionOptions;
  readonly #requests: Requests;
  readonly #records: Records;
  #refusesUpgrades = false;

  constructor(options: AdmissionOptions, requests: Requests, records: Records) {
    this.overload = createOverload(options.clock, options.limits, requests);
    this.#options = options;
    this.#requests = requests;
    this.#records = records;
  }

  /** refuseUpgrades makes every later upgrade be refused (P-041). */
  refuseUpgrades(): void {
    this.#refusesUpgrades = true;
  }

  /** onRequest decides of a request of HTTP/1.1; it returns true unless the program gets the request now. */
  onRequest(request: IncomingMessage, response: ServerResponse, event: string, proceed: Proceed): boolean {
    const connection = connectionOf(request.socket) ?? this.#records.adopt(request.socket);
    // A program may emit a request again, as another event, and perhaps after the client has left.
    if (connection?.exchangeOf(response) !== undefined) return false;
    if (connection?.isLeaving === true) {
      request.resume();
      return true;
    }
    const answer = this.#options.answer(request.url ?? '', request.method ?? '');
    if (connection === undefined || connection.socket.destroyed) {
      if (answer !== undefined) answerProbe(request, response, answer);
      return answer !== undefined;
    }
    const exchange = this.#requests.admit(connection, response, answer !== undefined);
    // Before the shutdown, and without a limit, nothing is decided of a request that is no probe.
    if (exchange === undefined) return false;
    const decision = this.#decide(exchange, answer, undefined);
    // Only now is a closure made for the request: most requests are not held.
    if (decision === 'held') this.#holdBack(exchange, undefined, () => proceed(event, request, response));
    return decision !== 'passed on';
  }

  /** onStream decides of a request of HTTP/2; it returns true unless the program gets the stream now. */
  onStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, proceed: () => void): boolean {
    const session = stream.session as ServerHttp2Session | undefined;
    // The client has cancelled the stream already. It cannot be answered, and many handlers would throw.
    if (session === undefined) {
      // The stream may still emit an error, which has no other listener.
      stream.on('error', () => undefined);
      return true;
    }
    const { connection, hold } = connectionOf(session.socket)?.session ?? this.#records.onSession(session);
    const exchange = new Http2Exchange(connection, stream, headers, this.#options.clock.now());
    const answer = this.#options.answer(exchange.request.url, exchange.request.method);
    if (answer !== undefined) exchange.response.ignoreErrors();
    this.#requests.enrol(exchange, answer !== undefined);
    if (exchange.request.method === 'CONNECT') this.#requests.markLongRunning(stream);
    if (Math.random() < this.#options.limits.goawayChance) connection.end();
    const decision = this.#decide(exchange, answer, hold);
    if (decision === 'held') this.#holdBack(exchange, hold, proceed);
    return decision !== 'passed on';
  }

  /** onUpgrade decides of an upgrade; it returns true unless the program gets the socket. */
  onUpgrade(connection: Connection): boolean {
    const { socket, isLeaving } = connection;
    if (!isLeaving && !this.#refusesUpgrades) return false;
    ignoreResets(socket);
    socket.resume();
    if (!isLeaving) this.#refuseUpgrade(connection);
    return true;
  }

  #decide(
    exchange: HttpExchange,
    answer: Answer | Promise<Answer> | undefined,
    own: Hold | undefined,
  ): 'answered' | 'held' | 'passed on' {
    if (answer !== undefined) {
      answerProbe(exchange.request, exchange.response, answer);
      return 'answered';
    }
    if (this.hold.isOn || own?.isOn === true || exchange.connection.isLate) return 'held';
    return this.#isRejected(exchange) ? 'answered' : 'passed on';
  }

  // Every request that is not rejected goes to the program next.
  #isRejected(exchange: HttpExchange): boolean {
    this.#requests.watch(exchange);
    const isRejected = this.overload?.rejects(exchange) === true;
    if (isRejected) this.#requests.setApart(exchange);
    else this.#requests.noteReceived(exchange);
    return isRejected;
  }

  #holdBack(exchange: HttpExchange, own: Hold | undefined, proceed: () => void): void {
    const { isLate } = exchange.connection;
    const isAwaited = exchange.hold();
    const goOn = (): void => {
      // If the client has left in the meantime, its request is not executed.
      if (!isAwaited()) return;
      if (isLate) this.#requests.refuse(exchange);
      else if (!this.#isRejected(exchange)) proceed();
    };
    // Wait until the session has sent its GOAWAY, and then until the listener has closed.
    if (own === undefined) this.hold.pass(goOn);
    else {
      own.pass(() => {
        this.hold.pass(goOn);
      });
    }
  }

  // Refuses after earlier pipelined responses have been sent.
  #refuseUpgrade(connection: Connection): void {
    const { socket, exchanges, isLate } = connection;
    connection.enter(told);
    const refuse = (): void => {
      this.#requests.inFlight.refused++;
      refuseUpgrade(socket, isLate);
      connection.end();
    };
    const before = exchanges[exchanges.length - 1];
    if (before === undefined) refuse();
    else before.response.once('close', refuse);
  }
}
