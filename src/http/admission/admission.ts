// Decides what happens to an arriving request. HTTP/1.1 and HTTP/2 requests are checked in the same order.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { Clock } from '../../clock.ts';
import type { Answer } from '../../message.ts';
import { connectionOf, type Connection } from '../connection.ts';
import { closeAnnounced } from '../connection-state.ts';
import type { HttpExchange } from '../exchange.ts';
import { Http2Exchange } from '../http2/exchange.ts';
import { methodOf, urlOf } from '../http2/stream-response.ts';
import { sessionOf, type Session } from '../http2/session.ts';
import { Hold } from '../in-flight/hold.ts';
import type { Requests } from '../in-flight/requests.ts';
import { isEmittedByProgram } from '../../node-internals.ts';
import { refuseUpgrade } from '../responses/rejection.ts';
import { ignoreResets } from '../responses/socket-errors.ts';
import type { Proceed } from '../server-events.ts';
import { Backlog } from './backlog.ts';
import { createOverload, type Overload, type OverloadLimits } from './overload-limits.ts';
import { answerProbe } from './probe.ts';

export interface AdmissionOptions {
  readonly clock: Clock;
  /**
   * `answer()` returns the response to a request for an endpoint of lameduck, such as /readyz. For any other request,
   * it returns undefined, because the program responds. The drain waits only for requests of the program, and rejects
   * those that arrive late (P-078).
   */
  readonly answer: (url: string, method: string) => Answer | Promise<Answer> | undefined;
  readonly limits: OverloadLimits;
  /** refusesUpgrades tells whether to refuse every upgrade, because NotAcceptingNewRequest has fired (P-041). */
  readonly refusesUpgrades: () => boolean;
}

/**
 * Records creates lameduck's record of a connection. It is used at the first request on a connection that has no
 * record. The server accepted such a connection before lameduck replaced `emit` of the server (P-053).
 */
export interface Records {
  /**
   * `adopt()` returns the record of the connection to which a socket belongs. If a test has injected the request in the
   * process, the socket is not real, and adopt returns undefined (P-031).
   */
  adopt(socket: unknown): Connection | undefined;
  /**
   * onSession returns lameduck's record of an HTTP/2 session. `arriving` is the first stream that lameduck has seen in
   * this session.
   */
  onSession(session: ServerHttp2Session, arriving: ServerHttp2Stream): Session;
}

type Decision = 'answered' | 'held' | 'passed on';

/**
 * Admission decides what happens to each request. It checks these cases in order:
 *
 * - drop the request
 * - answer a probe
 * - delay the request
 * - refuse the request because of the shutdown
 * - reject the request because of an overload limit
 *
 * If no case applies, the program gets the request. Only the first case depends on the protocol. `onRequest` and
 * `onStream` check it, and then call `#decide`.
 */
export class Admission {
  /**
   * When a listening socket closes, the kernel may reset new connections. So `hold` delays all requests except probes
   * while the socket closes: a client that waits for a response opens no new connection.
   */
  readonly hold = new Hold();
  /**
   * `#overload` applies the overload limits to each request. It is undefined if no limit is set, so that requests cost
   * no additional time.
   */
  readonly #overload: Overload | undefined;
  /** `#backlog` is undefined if `maxRequestsInflight` is not set. */
  readonly #backlog: Backlog | undefined;
  readonly #options: AdmissionOptions;
  readonly #requests: Requests;
  readonly #records: Records;

  constructor(options: AdmissionOptions, requests: Requests, records: Records) {
    this.#overload = createOverload(options.clock, options.limits, requests);
    const { maxRequestsInflight: limit } = options.limits;
    this.#backlog = limit > 0 ? new Backlog(options.clock, limit, requests.inFlight) : undefined;
    this.#options = options;
    this.#requests = requests;
    this.#records = records;
  }

  /**
   * onRequest decides what happens to an HTTP/1.1 request. It returns true if lameduck answers or delays the request.
   * It returns false if the program must get the request now.
   */
  onRequest(request: IncomingMessage, response: ServerResponse, event: string, proceed: Proceed): boolean {
    const connection = connectionOf(request.socket) ?? this.#records.adopt(request.socket);
    // The program may emit an event for the same request twice. For example, its `checkContinue` listener may emit
    // `request`. lameduck passes the second event to the program, even if the client has disconnected in the meantime.
    if (connection?.exchangeOf(response) !== undefined) return false;
    // The client's request counts until its handler has ended. So a request that this handler emits needs no count.
    const isOfClient = connection !== undefined && !isEmittedByProgram(request, response);
    if (isOfClient && connection.isClosing) {
      request.resume();
      return true;
    }
    const answer = this.#options.answer(request.url ?? '', request.method ?? '');
    if (!isOfClient || connection.socket.destroyed) {
      if (answer !== undefined) answerProbe(request, response, answer);
      return answer !== undefined;
    }
    const exchange = this.#requests.admit(connection, request, response, answer !== undefined);
    // If `admit()` returns undefined, the program gets the request at once. In this case, no shutdown has begun, no
    // overload limit is set, and the request is not a probe.
    if (exchange === undefined) return false;
    const decision = this.#decide(exchange, answer);
    // Most requests are not delayed. So create the callback that later continues a request only if the request is
    // delayed.
    if (decision === 'held') this.#holdBack(exchange, () => proceed(event, request, response));
    return decision !== 'passed on';
  }

  /**
   * onStream decides what happens to an HTTP/2 request. It returns true if lameduck answers or delays the request. It
   * returns false if the program must get the stream now.
   */
  onStream(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    flags: number,
    rawHeaders: readonly string[],
    proceed: Proceed,
  ): boolean {
    const session = stream.session as ServerHttp2Session | undefined;
    // The client has already cancelled the stream. No response is possible, and many handlers would throw, so the
    // program does not get the stream.
    if (session === undefined) {
      // The cancelled HTTP/2 stream may still emit `error`. Without a listener for this event, the error would end the
      // process.
      stream.on('error', () => undefined);
      return true;
    }
    const owner = sessionOf(session) ?? this.#records.onSession(session, stream);
    const answer = this.#options.answer(urlOf(headers), methodOf(headers));
    owner.endByChance();
    const now = this.#options.clock.now();
    // Before a shutdown, most requests get no exchange, as for HTTP/1.1.
    if (answer === undefined && !this.#requests.enrolsOnArrival && owner.note(stream, headers, now)) return false;
    const exchange = new Http2Exchange(owner.connection, stream, headers, now);
    if (answer !== undefined) exchange.response.ignoreErrors();
    this.#requests.enrolStream(exchange, answer !== undefined);
    const decision = this.#decide(exchange, answer);
    if (decision === 'held') this.#holdBack(exchange, () => proceed('stream', stream, headers, flags, rawHeaders));
    return decision !== 'passed on';
  }

  /**
   * onUpgrade returns true if lameduck has refused an upgrade request. If it returns false, the caller must pass the
   * socket to the program.
   */
  onUpgrade(connection: Connection): boolean {
    const { socket, isClosing } = connection;
    if (!isClosing && !this.#options.refusesUpgrades()) return false;
    ignoreResets(socket);
    socket.resume();
    if (!isClosing) this.#refuseUpgrade(connection);
    return true;
  }

  // Answers the request if it is a probe. Otherwise delays it, refuses it because of the shutdown, rejects it because
  // of an overload limit, or passes it to the program. The first case that applies decides.
  #decide(exchange: HttpExchange, answer: Answer | Promise<Answer> | undefined): Decision {
    if (answer !== undefined) {
      answerProbe(exchange.request, exchange.response, answer);
      return 'answered';
    }
    if (this.hold.isOn || exchange.isHeld || this.#backlog?.isOn === true) return 'held';
    return this.#decideUnheld(exchange);
  }

  // Refuses the request because of the shutdown, rejects it because of an overload limit, or passes it to the program.
  // For a delayed request, this method is called when the delay has ended.
  #decideUnheld(exchange: HttpExchange): Decision {
    if (exchange.connection.isLate) {
      this.#requests.refuse(exchange);
      return 'answered';
    }
    this.#requests.inFlight.resume(exchange);
    this.#requests.watch(exchange);
    if (this.#overload?.rejects(exchange) === true) {
      this.#requests.setApart(exchange);
      return 'answered';
    }
    this.#requests.noteReceived(exchange);
    return 'passed on';
  }

  #holdBack(exchange: HttpExchange, proceed: () => void): void {
    const isAwaited = exchange.hold();
    this.#requests.inFlight.delay(exchange);
    const goOn = (): void => {
      // If the client disconnected during the delay, do not pass its request to the program.
      if (isAwaited() && this.#decideUnheld(exchange) === 'passed on') proceed();
    };
    // Continue the request only after both of its delays: the delay of its connection, and the delay until the server's
    // listening socket has closed.
    exchange.ownHold.pass(() => {
      const { isLate, session } = exchange.connection;
      // The delay of one packet adds no requests to those that would execute at the same time without the delay. So after
      // this delay alone, an HTTP/1.1 request is compared with the limit at once. lameduck refuses a late request.
      const isLong = session !== undefined || this.hold.isOn || this.#backlog?.isOn === true;
      const backlog = isLong && !isLate ? this.#backlog : undefined;
      this.hold.pass(backlog === undefined ? goOn : () => backlog.add(exchange, goOn));
    });
  }

  // Refuses an upgrade request after the responses to all earlier requests on its connection have been sent.
  #refuseUpgrade(connection: Connection): void {
    const { socket, exchanges, isLate } = connection;
    connection.enter(closeAnnounced);
    const refuse = (): void => {
      this.#requests.inFlight.noteRefused();
      refuseUpgrade(socket, isLate);
      connection.end();
    };
    const before = exchanges[exchanges.length - 1];
    if (before === undefined) refuse();
    else before.response.once('close', refuse);
  }
}
