// The record of one socket: its counted requests, when bytes last arrived, and how it ends during a shutdown.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Exchange, HttpExchange } from './exchange.ts';
import { Http1Exchange } from './http1/exchange.ts';
import { askWhetherGone } from './http1/half-open.ts';
import { isHandedOver, isInBody, isInMessage } from './node-internals.ts';
import { ignoreResets } from './responses/socket-errors.ts';
import type { Response } from '../message.ts';

// How long the body of an answered request is still read, in milliseconds.
const longestUpload = 5_000;

const record = Symbol('lameduck.connection');

interface Tracked {
  [record]?: Connection;
  /** Node's own note of the response that a socket sends, or waits for; as old as node:http. */
  readonly _httpMessage?: ServerResponse | null;
}

/** connectionOf returns the record of a socket, or undefined when it has none. */
export function connectionOf(socket: object | null | undefined): Connection | undefined {
  return (socket as Tracked | null | undefined)?.[record];
}

/** Leaving is when connections ask their clients to leave, from ShutdownInitiated on. */
export interface Leaving {
  readonly since: number;
  /** Each moment is drawn from this many milliseconds after `since`; 0 is at once. */
  readonly window: number;
}

/** Connection is made at accept. It has the counted requests; one that is only noted allocates nothing. */
export class Connection {
  readonly socket: Socket;
  /** The counted requests that are not released yet, in the order of their arrival; see `list`. */
  readonly exchanges: HttpExchange[] = [];
  /** What the connection has become by an upgrade. */
  readonly upgraded: Exchange | undefined;
  /** The drawn moment: from then on a response asks the client to leave. Infinity before the shutdown. */
  leaveAt = Infinity;
  /** Accepted after NotAcceptingNewRequest with retry-after: its requests are answered with 429. */
  isLate = false;
  /** A TCP connection whose TLS handshake is not complete: no response on it has to be delivered before a FIN. */
  isHandshake = false;
  /** Upgraded to another protocol, or a CONNECT tunnel: HTTP is over on this socket. */
  isUpgraded = false;
  readonly protocol: 'http1' | 'http2' = 'http1';
  /** The client has been told, by `Connection: close` or a FIN, to send nothing more; what comes is not executed. */
  isOver = false;
  /** When the last request arrived that was only noted. */
  #notedAt = 0;
  /** When a peer that has ended its side was last asked whether it is gone. */
  askedAt = -Infinity;
  /** Since when no bytes of a request have arrived. */
  quietSince: number;
  #bytesRead: number;
  #endedAt: number | undefined;

  constructor(socket: Socket & Tracked, now: number) {
    this.socket = socket;
    socket[record] = this;
    this.quietSince = now;
    this.#bytesRead = socket.bytesRead;
  }

  /** Whether the socket has been destroyed or sent to another process. A program can remove the listeners that report it. */
  get isGone(): boolean {
    return this.socket.destroyed || isHandedOver(this.socket);
  }

  get isBusy(): boolean {
    return this.exchanges.length > 0;
  }

  /** How many of the program's requests have no complete answer yet, long-running or not. */
  get unansweredCount(): number {
    let count = 0;
    for (const { state } of this.exchanges) if (state.is !== 'ours') count++;
    return count;
  }

  /**
   * note lets a request go on without being counted if Node has noted its response on the socket, as it does with each that
   * has no other before it. To count a request and to listen for its end costs it more than all the rest.
   */
  note(response: Response, now: number): boolean {
    if ((this.socket as Tracked)._httpMessage !== response) return false;
    this.#notedAt = now;
    return true;
  }

  /** list returns the request that was only noted, as the first of the connection; undefined if there is none. */
  list(): HttpExchange | undefined {
    const { _httpMessage: response } = this.socket as Tracked;
    if (response === undefined || response === null || response.destroyed) return undefined;
    if (this.exchangeOf(response) !== undefined) return undefined;
    const exchange = new Http1Exchange(this, response, this.#notedAt);
    this.exchanges.unshift(exchange);
    return exchange;
  }

  /** add is called for a request that has arrived. */
  add(exchange: HttpExchange, _now: number): void {
    this.exchanges.push(exchange);
  }

  /** remove is called for a request that is released. */
  remove(exchange: HttpExchange): void {
    // All but pipelined requests are alone, and `pop` costs a tenth of `shift` or `splice`: it keeps the room for the next.
    if (this.exchanges.length === 1) this.exchanges.pop();
    else this.exchanges.splice(this.exchanges.indexOf(exchange), 1);
  }

  /** inherit takes over the requests of another record: an upgrade may be pipelined after other requests. */
  inherit(before: Connection): void {
    for (const exchange of before.exchanges) {
      exchange.connection = this;
      this.exchanges.push(exchange);
    }
    before.exchanges.length = 0;
  }

  /** exchangeOf returns the exchange of a response that has not ended. */
  exchangeOf(response: object): HttpExchange | undefined {
    for (const exchange of this.exchanges) if (exchange.response === response) return exchange;
    return undefined;
  }

  /** exchangeFor returns the exchange of a request whose response has not ended. */
  exchangeFor(request: object): HttpExchange | undefined {
    return this.exchanges.find((exchange) => exchange.request === request);
  }

  /** isLast tells whether no other request has arrived after this one. */
  isLast(exchange: HttpExchange): boolean {
    return this.exchanges[this.exchanges.length - 1] === exchange;
  }

  /** unfinished lists what the program has not ended yet. */
  unfinished(): Exchange[] {
    return this.exchanges.filter(({ state, isOut }) => state.is !== 'ours' && !isOut);
  }

  /** draw draws the moment from which on the client is asked to leave, once. */
  draw({ since, window }: Leaving): void {
    this.leaveAt = since + Math.random() * window;
  }

  /** beginLeaving starts the silence of a connection that was there before the shutdown. */
  beginLeaving(now: number): void {
    this.quietSince = now;
    this.#bytesRead = this.socket.bytesRead;
  }

  /**
   * hear notes when the socket was last heard of; called again and again during the shutdown. Bytes that begin no message
   * count as silence: a server ignores line ends before a request line (RFC 9112 section 2.2). In every protocol but
   * HTTP/1.1, all bytes count.
   */
  hear(now: number): void {
    const { bytesRead } = this.socket;
    if (bytesRead === this.#bytesRead) return;
    this.#bytesRead = bytesRead;
    if (isInMessage(this.socket) !== false) this.quietSince = now;
  }

  /** announceClose is called when a response has said `Connection: close`: what arrives later is not executed. */
  announceClose(): void {
    this.isOver = true;
    // Node would destroy the socket after the response. If a byte is unread, the kernel would then send a reset.
    this.socket.destroySoon = () => {
      this.end();
    };
  }

  /**
   * look moves the connection on; it is called again and again during the shutdown. `isDraining` tells whether the delay is
   * over.
   */
  look(now: number, _isDraining: boolean): void {
    askWhetherGone(this, now);
  }

  /** Whether the connection ends by its silence, once it may. */
  get endsBySilence(): boolean {
    return !this.isUpgraded;
  }

  /** destroy ends the connection at once, whatever is still unanswered on it. */
  destroy(): void {
    const [first] = this.exchanges;
    if (first?.response.headersSent === true) first.breakOff();
    this.socket.destroy();
  }

  /** end sends a FIN after all bytes that are still to be sent, and goes on reading until the FIN of the peer (P-006). */
  end(): void {
    this.isOver = true;
    if (this.isHandshake) {
      this.socket.destroy();
      return;
    }
    // A reset in answer to the FIN is not an error (P-051).
    ignoreResets(this.socket);
    this.socket.end();
    this.socket.resume();
  }

  /**
   * isStale tells whether the peer has had our FIN, and with it the last byte of every response, for `patience`
   * milliseconds and is not going to answer it. One that still sends the body of what was answered is no such peer: it
   * might read the answer only then, and a reset would take it away.
   */
  isStale(now: number, patience: number): boolean {
    if (!this.socket.writableFinished) return false;
    this.#endedAt ??= now;
    const isUploading = isInBody(this.socket) && now - this.#endedAt < longestUpload;
    return now - (isUploading ? Math.max(this.#endedAt, this.quietSince) : this.#endedAt) >= patience;
  }

  /** leaveToPeer begins the patience anew for a peer that has not acknowledged everything; no request is left to wait for. */
  leaveToPeer(): void {
    this.#endedAt = undefined;
  }
}
