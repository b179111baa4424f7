// The record of one connection: its state, its counted requests, and when bytes last arrived.
import type { Socket } from 'node:net';
import { next, spokenIn, told, type ConnectionEvent, type ConnectionState, type Spoken } from './connection-state.ts';
import type { Exchange, HttpExchange } from './exchange.ts';
import { Http1Exchange } from './http1/exchange.ts';
import type { Session } from './http2/session.ts';
import { isHandedOver, isInBody, isInMessage, responseOn } from './node-internals.ts';
import { sendFin } from './responses/fin.ts';
import { keyOf, type Response } from '../message.ts';
import type { Upgraded } from './upgraded/socket.ts';

// How long the body of an answered request is still read, in milliseconds.
const longestUpload = 5_000;

const record = Symbol('lameduck.connection');

interface Tracked {
  [record]?: Connection;
}

/** connectionOf returns the record of a socket, or undefined when it has none. */
export function connectionOf(socket: object | null | undefined): Connection | undefined {
  return (socket as Tracked | null | undefined)?.[record];
}

/**
 * Connection is created at accept and lasts until the socket has closed. It has the counted requests. A request that is only
 * noted allocates nothing. Only its own methods change it.
 */
export class Connection {
  #socket!: Socket;
  #state: ConnectionState;
  #isLate!: boolean;
  readonly #exchanges: HttpExchange[] = [];
  #leaveAt = Infinity;
  #leaveBy = Infinity;
  /** When the last request arrived that was only noted. */
  #notedAt = 0;
  #quietSince!: number;
  #bytesRead!: number;
  /** When the last byte for the peer was first seen to have been sent. */
  #saidAt: number | undefined;

  constructor(socket: Socket, spoken: Spoken, now: number, isLate: boolean) {
    this.#state = spoken;
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

  /** The session of a connection that speaks HTTP/2. */
  get session(): Session | undefined {
    const { spoken } = this;
    return spoken.is === 'session' ? spoken.session : undefined;
  }

  /** The upgraded socket, if the connection has left HTTP. */
  get upgraded(): Upgraded | undefined {
    const { spoken } = this;
    return spoken.is === 'upgraded' ? spoken.upgraded : undefined;
  }

  /** Whether the server has sent `Connection: close`, a FIN or a GOAWAY. */
  get isLeaving(): boolean {
    return this.#state.is === 'leaving';
  }

  /** Accepted after NotAcceptingNewRequest with retry-after: its requests are answered with 429. */
  get isLate(): boolean {
    return this.#isLate;
  }

  /** The drawn moment, after which a response tells the client to close the connection. Infinity before the shutdown. */
  get leaveAt(): number {
    return this.#leaveAt;
  }

  /** When the drawn moments of all connections have passed. */
  get leaveBy(): number {
    return this.#leaveBy;
  }

  /** Since when no bytes of a request have arrived. */
  get quietSince(): number {
    return this.#quietSince;
  }

  /** The counted requests that are not released yet, in the order of their arrival; see `list`. */
  get exchanges(): readonly HttpExchange[] {
    return this.#exchanges;
  }

  /** Whether the socket has been destroyed or sent to another process. A program can remove the listeners that report it. */
  get isGone(): boolean {
    return this.#socket.destroyed || isHandedOver(this.#socket);
  }

  get isBusy(): boolean {
    return this.#exchanges.length > 0;
  }

  /** How many of the program's requests have no complete answer yet, long-running or not. */
  get unansweredCount(): number {
    let count = 0;
    for (const { state } of this.#exchanges) if (state.is !== 'ours') count++;
    return count;
  }

  /** Whether silence ends the connection. A session ends by GOAWAY, and an upgraded connection ends when the drain ends it. */
  get endsBySilence(): boolean {
    return this.#state.is === 'http' || this.#state.is === 'handshake';
  }

  /** enter changes the state by an event, and tells whether it has changed. */
  enter(event: ConnectionEvent): boolean {
    const before = this.#state;
    this.#state = next(before, event);
    return this.#state !== before;
  }

  /** secure passes the record from the TCP socket to the TLS socket, which counts as a new connection (P-049). */
  secure(socket: Socket, now: number, isLate: boolean): void {
    if (this.enter({ is: 'secured' })) this.#take(socket, now, isLate);
  }

  #take(socket: Socket & Tracked, now: number, isLate: boolean): void {
    socket[record] = this;
    this.#socket = socket;
    this.#isLate = isLate;
    this.beginSilence(now);
  }

  /**
   * note returns true if the request need not be counted, because Node keeps its response on the socket. Node does so for each
   * request that is not pipelined after another. Counting a request and listening for its end would be the largest cost.
   */
  note(response: Response, now: number): boolean {
    if (responseOn(this.#socket) !== response) return false;
    this.#notedAt = now;
    return true;
  }

  /** list returns the request that was only noted, as the first of the connection; undefined if there is none. */
  list(): HttpExchange | undefined {
    const response = responseOn(this.#socket);
    if (response === undefined || response.destroyed) return undefined;
    if (this.exchangeOf(response) !== undefined) return undefined;
    const exchange = new Http1Exchange(this, response, this.#notedAt);
    this.#exchanges.unshift(exchange);
    return exchange;
  }

  /** add is called for a request that has arrived. */
  add(exchange: HttpExchange): void {
    this.#exchanges.push(exchange);
    this.session?.noteOpened(exchange.arrivedAt);
  }

  /** remove is called for a request that is released. */
  remove(exchange: HttpExchange): void {
    // All but pipelined requests are alone, and `pop` costs a tenth of `shift` or `splice`: it keeps the room for the next.
    if (this.#exchanges.length === 1) this.#exchanges.pop();
    else this.#exchanges.splice(this.#exchanges.indexOf(exchange), 1);
    this.session?.noteReleased(exchange);
  }

  /** removeAll removes the requests of a connection that has closed, and returns them. */
  removeAll(): readonly HttpExchange[] {
    return this.#exchanges.splice(0);
  }

  /** exchangeOf returns the exchange of a response that has not ended. */
  exchangeOf(response: object): HttpExchange | undefined {
    for (const exchange of this.#exchanges) if (exchange.response === response) return exchange;
    return undefined;
  }

  /** exchangeFor returns the exchange of a request whose response has not ended. */
  exchangeFor(request: object): HttpExchange | undefined {
    return this.#exchanges.find((exchange) => keyOf(exchange.request) === keyOf(request));
  }

  /** isLast tells whether no other request has arrived after this one. */
  isLast(exchange: HttpExchange): boolean {
    return this.#exchanges[this.#exchanges.length - 1] === exchange;
  }

  /** unfinished lists what the program has not ended yet, or its client has not received. */
  unfinished(): Exchange[] {
    const unfinished: Exchange[] = this.#exchanges.filter(({ state, isOut }) => state.is !== 'ours' && !isOut);
    const { session, upgraded } = this;
    if (session !== undefined) unfinished.push(...session.unsent);
    if (upgraded !== undefined && upgraded.state.is !== 'released') unfinished.push(upgraded);
    return unfinished;
  }

  /** leaveFrom sets the drawn moment, and when the moments of all connections have come. */
  leaveFrom(at: number, by: number): void {
    this.#leaveAt = at;
    this.#leaveBy = by;
  }

  /** beginSilence lets the silence of the connection begin now. */
  beginSilence(now: number): void {
    this.#quietSince = now;
    this.#bytesRead = this.#socket.bytesRead;
  }

  /**
   * hear notes when the socket was last heard of; called again and again during the shutdown. Bytes that begin no message
   * count as silence: a server ignores line ends before a request line (RFC 9112 section 2.2). In every protocol but
   * HTTP/1.1, all bytes count.
   */
  hear(now: number): void {
    const { bytesRead } = this.#socket;
    if (bytesRead === this.#bytesRead) return;
    this.#bytesRead = bytesRead;
    if (isInMessage(this.#socket) !== false) this.#quietSince = now;
  }

  /** announceClose is called when a response has said `Connection: close`: what arrives later is not executed. */
  announceClose(): void {
    this.enter(told);
    // Node would destroy the socket after the response. If a byte is unread, the kernel would then send a reset.
    this.#socket.destroySoon = () => {
      sendFin(this.#socket);
    };
  }

  /**
   * look moves the connection on; it is called again and again during the shutdown. `isDraining` tells whether the delay is
   * over.
   */
  look(now: number, isDraining: boolean): void {
    this.session?.look(now, isDraining);
    this.upgraded?.look();
  }

  /** end tells the client that the connection ends, after all bytes that are still to be sent. */
  end(): void {
    const { spoken } = this;
    const isFirst = this.enter(told);
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

  /** destroy ends the connection at once, whatever is still unanswered on it. */
  destroy(): void {
    const [first] = this.#exchanges;
    if (this.session !== undefined) this.session.destroy();
    else {
      if (first?.response.headersSent === true) first.breakOff();
      this.#socket.destroy();
    }
  }

  /**
   * isStale tells whether the peer has not reacted for `patience` milliseconds since all responses and the FIN were sent. A peer
   * that still sends a body is not stale. It may read the response only after the body, and a reset would discard the response.
   */
  isStale(now: number, patience: number): boolean {
    const { upgraded } = this;
    if (!(upgraded?.isSaid ?? this.#socket.writableFinished)) return false;
    this.#saidAt ??= now;
    const mayGoOn = upgraded?.mayGoOn ?? (isInBody(this.#socket) && now - this.#saidAt < longestUpload);
    return now - (mayGoOn ? Math.max(this.#saidAt, this.#quietSince) : this.#saidAt) >= patience;
  }

  /** leaveToPeer restarts the wait for a peer that has not acknowledged all bytes. No request is in flight any more. */
  leaveToPeer(): void {
    this.#saidAt = undefined;
  }
}
