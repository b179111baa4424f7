// The record of one connection: its state, its requests in flight, and the time at which the last byte from the client
// arrived.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import {
  closeAnnounced,
  http,
  next,
  spokenIn,
  type ConnectionEvent,
  type ConnectionState,
  type Spoken,
} from './connection-state.ts';
import type { Exchange, HttpExchange } from './exchange.ts';
import type { Session } from './http2/session.ts';
import {
  isHandedOver,
  isHttp1,
  isInBody,
  isInMessage,
  isNewestRequest,
  responseOn,
  tcpSocketOf,
} from '../node-internals.ts';
import { sendFin } from './responses/fin.ts';
import { keyOf, type HttpResponse } from '../message.ts';
import type { Upgraded } from './upgraded/socket.ts';

// How long, in milliseconds, a client may continue to send a request body after the server has sent the response and a
// FIN. After that, the drain no longer waits for the body.
const longestUploadAfterFin = 5_000;

const record = Symbol('lameduck.connection');

interface Tracked {
  [record]?: Connection;
}

/**
 * connectionOf returns lameduck's record of the connection to which a socket belongs, or undefined if there is none.
 */
export function connectionOf(socket: object | null | undefined): Connection | undefined {
  return (socket as Tracked | null | undefined)?.[record];
}

/**
 * Connection is lameduck's record of one connection, from its accept until its socket has closed. It lists each counted
 * request. Before a shutdown, lameduck counts few requests. It only notes the arrival time of most requests, and can
 * find them later: Node's socket has a reference to the response.
 */
export class Connection {
  #socket!: Socket;
  #state: ConnectionState;
  #isLate!: boolean;
  readonly #exchanges: HttpExchange[] = [];
  #closeAt = Infinity;
  #closeBy = Infinity;
  /**
   * #notedAt is the arrival time of the last request that `note` recorded. `exchanges` does not contain this request
   * yet. If the request arrived before the lifecycle was created, #notedAt is the time at which the lifecycle was
   * created.
   */
  #notedAt: number;
  #quietSince!: number;
  #bytesRead!: number;
  /** #tcpBytesRead is like #bytesRead, but over TLS it counts the encrypted bytes. */
  #tcpBytesRead!: number;
  /** #allSentAt is the time at which lameduck first saw that the server had no more bytes to send to the peer. */
  #allSentAt: number | undefined;

  constructor(socket: Socket, spoken: Spoken, now: number, isLate: boolean) {
    this.#state = spoken;
    this.#notedAt = now;
    this.#take(socket, now, isLate);
  }

  get socket(): Socket {
    return this.#socket;
  }

  get state(): ConnectionState {
    return this.#state;
  }

  get spoken(): Spoken {
    return spokenIn(this.#state);
  }

  /** `session` is the HTTP/2 session of the connection. It is undefined if the connection does not use HTTP/2. */
  get session(): Session | undefined {
    const { spoken } = this;
    return spoken.is === 'session' ? spoken.session : undefined;
  }

  /** `upgraded` is the upgraded socket, or undefined if the connection still uses HTTP. */
  get upgraded(): Upgraded | undefined {
    const { spoken } = this;
    return spoken.is === 'upgraded' ? spoken.upgraded : undefined;
  }

  /**
   * isClosing is true if the server has already told the client that the connection ends, with `Connection: close`, a
   * FIN or the last GOAWAY. It is also true if lameduck has chosen the response that will tell the client.
   */
  get isClosing(): boolean {
    return this.#state.is === 'closing';
  }

  /**
   * isLate is true if the connection was accepted after NotAcceptingNewRequest. lameduck answers each request on such a
   * connection with 429.
   */
  get isLate(): boolean {
    return this.#isLate;
  }

  /**
   * closeAt is a random time in the shutdown delay. Responses after this time tell the client to close this connection.
   * Before the shutdown, closeAt is Infinity.
   */
  get closeAt(): number {
    return this.#closeAt;
  }

  /** closeBy is the latest `closeAt` that any connection can have. Before the shutdown, closeBy is Infinity. */
  get closeBy(): number {
    return this.#closeBy;
  }

  /**
   * quietSince is the time at which the current silence on the connection began. Since then, no byte of a request has
   * arrived.
   */
  get quietSince(): number {
    return this.#quietSince;
  }

  /**
   * `exchanges` are the requests in flight that lameduck has counted, in order of arrival. A request that `note` has
   * only recorded is not in this list until `addNoted` adds it.
   */
  get exchanges(): readonly HttpExchange[] {
    return this.#exchanges;
  }

  /**
   * isGone tells whether the socket is destroyed or was sent to another process, even if no event has reported this.
   */
  get isGone(): boolean {
    return this.#socket.destroyed || isHandedOver(this.#socket);
  }

  get isBusy(): boolean {
    return this.#exchanges.length > 0;
  }

  /** unansweredCount is the number of the program's requests, long-running or not, that have no complete response. */
  get unansweredCount(): number {
    let count = 0;
    for (const { state } of this.#exchanges) if (state.is !== 'ours') count++;
    return count;
  }

  /**
   * endsBySilence tells whether the drain closes this kind of connection with a FIN when no bytes have arrived for a
   * while. An HTTP/2 session gets a GOAWAY instead, and an upgraded socket ends like a long-running request.
   */
  get endsBySilence(): boolean {
    return this.#state.is === 'http' || this.#state.is === 'handshake';
  }

  /**
   * `enter()` applies an event, such as `close announced`, to the state of the connection. It returns true if this has
   * changed the state.
   */
  enter(event: ConnectionEvent): boolean {
    const before = this.#state;
    this.#state = next(before, event);
    return this.#state !== before;
  }

  /**
   * `secure()` puts the TLS socket in place of the TCP socket into the record of this connection. It is called at the
   * end of the TLS handshake, at the time `now`. The connection then counts as accepted at that time (P-049).
   */
  secure(socket: Socket, now: number, isLate: boolean): void {
    if (this.enter(http)) this.#take(socket, now, isLate);
  }

  #take(socket: Socket & Tracked, now: number, isLate: boolean): void {
    socket[record] = this;
    this.#socket = socket;
    this.#isLate = isLate;
    this.beginSilence(now);
  }

  // On a TLS server, the program may pass a socket without TLS to the HTTP parser, as the package httpolyglot does. No
  // TLS handshake follows then.
  #recognizePlain(): void {
    if (this.#state.is === 'handshake' && isHttp1(this.#socket)) this.enter(http);
  }

  /**
   * `note()` records only the arrival time of a request and does not count the request. It returns false if the request
   * is pipelined: the caller must then count the request at once. For any other request, Node's socket refers to the
   * response, so lameduck can count the request later. Counting each request at its arrival would need a listener for
   * the end of each response. Such a listener costs more time than anything else that lameduck does.
   */
  note(response: HttpResponse, now: number): boolean {
    if (responseOn(this.#socket) !== response) return false;
    this.#notedAt = now;
    return true;
  }

  /**
   * `noted` contains the response and the arrival time of the request that `note` last recorded. It is undefined if
   * `note` has recorded no request, if the response has ended, or if `exchanges` already contains the request.
   */
  get noted(): { readonly response: ServerResponse; readonly arrivedAt: number } | undefined {
    const response = responseOn(this.#socket);
    if (response === undefined || response.destroyed) return undefined;
    if (this.exchangeOf(response) !== undefined) return undefined;
    return { response, arrivedAt: this.#notedAt };
  }

  /**
   * addNoted puts the HTTP/1.1 request that `note` recorded into the first place of `exchanges`, because all other
   * requests in `exchanges` arrived later.
   */
  addNoted(exchange: HttpExchange): void {
    this.#recognizePlain();
    this.#exchanges.unshift(exchange);
  }

  /** `add()` puts a newly arrived request into `exchanges`. */
  add(exchange: HttpExchange): void {
    this.#recognizePlain();
    this.#exchanges.push(exchange);
    this.session?.noteOpened(exchange.arrivedAt);
  }

  /** `remove()` removes a request from `exchanges` after its response has ended. */
  remove(exchange: HttpExchange): void {
    // Without pipelining, `exchanges` has only one entry. Remove it with `pop`, which takes a tenth of the time of
    // `shift` or `splice`. `pop` also leaves the memory of the list allocated for the next request.
    if (this.#exchanges.length === 1) this.#exchanges.pop();
    else this.#exchanges.splice(this.#exchanges.indexOf(exchange), 1);
    this.session?.noteReleased(exchange);
  }

  /**
   * removeAll is called when the connection has closed. It removes all exchanges from the list `exchanges`, and returns
   * them.
   */
  removeAll(): readonly HttpExchange[] {
    return this.#exchanges.splice(0);
  }

  /**
   * exchangeOf returns the exchange of a response: lameduck's record of the response and its request. It returns
   * undefined if the response has ended.
   */
  exchangeOf(response: object): HttpExchange | undefined {
    for (const exchange of this.#exchanges) if (exchange.response === response) return exchange;
    return undefined;
  }

  /**
   * exchangeFor returns the exchange of a request: lameduck's record of the request and its response. It returns
   * undefined if the response has ended.
   */
  exchangeFor(request: object): HttpExchange | undefined {
    return this.#exchanges.find((exchange) => keyOf(exchange.request) === keyOf(request));
  }

  /** isLast tells whether no newer request has arrived on the connection of the given request. */
  isLast(exchange: HttpExchange): boolean {
    // A pipelined request that arrived before the lifecycle was created is not in `exchanges`. So also check Node's
    // parser, which refers to the newest request of a connection.
    return this.#exchanges[this.#exchanges.length - 1] === exchange && isNewestRequest(this.#socket, exchange.request);
  }

  /**
   * `unfinished()` lists the requests that the program has not answered, or whose response the client has not received.
   */
  unfinished(): Exchange[] {
    const unfinished: Exchange[] = this.#exchanges.filter(({ state, isOut }) => state.is !== 'ours' && !isOut);
    const { session, upgraded } = this;
    if (session !== undefined) unfinished.push(...session.unsent);
    if (upgraded !== undefined && upgraded.state.is !== 'released') unfinished.push(upgraded);
    return unfinished;
  }

  /**
   * setCloseTimes sets the two times from which on this connection is closed. It is called when the shutdown begins, or
   * when the server accepts the connection during the shutdown. Responses after the random time `at` tell the client to
   * close the connection. The random time of each connection is at most `by`.
   */
  setCloseTimes(at: number, by: number): void {
    this.#closeAt = at;
    this.#closeBy = by;
  }

  /**
   * beginSilence restarts the time of silence on the connection: `quietSince` becomes `now`, even if bytes have just
   * arrived.
   */
  beginSilence(now: number): void {
    this.#quietSince = now;
    this.#bytesRead = this.#socket.bytesRead;
    this.#tcpBytesRead = tcpSocketOf(this.#socket).bytesRead;
  }

  /**
   * `hear()` sets `quietSince` to the current time if bytes of a request have arrived since the last call of `hear()`.
   * The drain calls `hear()` repeatedly. Over TLS, a part of a TLS record counts too. An empty line before an HTTP/1.1
   * request line does not count, because a server ignores it (RFC 9112 section 2.2).
   */
  hear(now: number): void {
    const { bytesRead } = this.#socket;
    const { bytesRead: tcpBytesRead } = tcpSocketOf(this.#socket);
    if (tcpBytesRead === this.#tcpBytesRead) return;
    // Over TLS, Node decrypts a record only when the whole record has arrived. Until then, `bytesRead` does not change.
    const isInRecord = bytesRead === this.#bytesRead;
    this.#bytesRead = bytesRead;
    this.#tcpBytesRead = tcpBytesRead;
    if (isInRecord || isInMessage(this.#socket) !== false) this.#quietSince = now;
  }

  /**
   * announceClose is called when the server has sent a response with `Connection: close`. The server does not execute
   * later requests on this connection.
   */
  announceClose(): void {
    this.enter(closeAnnounced);
    // After the last response, Node calls `destroySoon` of the socket. If the client has sent bytes that the server has
    // not read, the destroyed socket sends a reset. The client may then lose the response. So let `destroySoon` send
    // only a FIN.
    this.#socket.destroySoon = () => {
      sendFin(this.#socket);
    };
  }

  /**
   * If an HTTP/2 session or an upgraded socket must end, `look()` does the next step that is due, such as sending a
   * GOAWAY. The drain calls `look()` repeatedly. `isDraining` is false during the shutdown delay.
   */
  look(now: number, isDraining: boolean): void {
    this.#recognizePlain();
    this.session?.look(now, isDraining);
    this.upgraded?.look();
    // Usually, a listener of Node sends the FIN after the last response. If the program has removed this listener,
    // lameduck sends the FIN itself.
    if (this.isClosing && this.spoken.is === 'http' && !this.isBusy && !this.#socket.writableEnded)
      sendFin(this.#socket);
  }

  /** `end()` ends the connection after all pending bytes: with a FIN, a GOAWAY, or the close frame of a WebSocket. */
  end(): void {
    const { spoken } = this;
    const isFirst = this.enter(closeAnnounced);
    switch (spoken.is) {
      case 'handshake':
        this.#socket.destroy();
        break;
      case 'http':
        sendFin(this.#socket);
        break;
      case 'session':
        spoken.session.close();
        break;
      case 'upgraded':
        if (isFirst) spoken.upgraded.close();
        else spoken.upgraded.hurry();
        break;
      default:
        spoken satisfies never;
    }
  }

  /** `destroy()` closes the connection at once, even if requests are unanswered. */
  destroy(): void {
    const [first] = this.#exchanges;
    if (this.session !== undefined) this.session.destroy();
    else {
      try {
        if (first?.response.headersSent === true) first.breakOff();
      } finally {
        this.#socket.destroy();
      }
    }
  }

  /**
   * isStale tells whether the peer has not reacted for `patience` milliseconds since the server has sent all responses
   * and the FIN. A peer that still sends a body is not stale, because it may read the response only after the body.
   */
  isStale(now: number, patience: number): boolean {
    const { upgraded } = this;
    if (!(upgraded?.isAllSent ?? this.#socket.writableFinished)) return false;
    this.#allSentAt ??= now;
    const mayGoOn = upgraded?.mayGoOn ?? (isInBody(this.#socket) && now - this.#allSentAt < longestUploadAfterFin);
    return now - (mayGoOn ? Math.max(this.#allSentAt, this.#quietSince) : this.#allSentAt) >= patience;
  }

  /**
   * restartPeerWait restarts the time limit that `isStale` checks for the peer. When this limit has passed, the drain
   * no longer waits for the peer. restartPeerWait is called while the peer has not acknowledged all bytes and no
   * request is in flight on the connection.
   */
  restartPeerWait(): void {
    this.#allSentAt = undefined;
  }
}
