// A request of HTTP/1.1 and its response.
import { AsyncResource } from 'node:async_hooks';
import type { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { HttpRequest, HttpResponse } from '../../message.ts';
import type { Connection } from '../connection.ts';
import { closeAnnounced } from '../connection-state.ts';
import { noted, type HttpExchange, type OwnHold, type State } from '../exchange.ts';
import { isDestroyedHere } from '../responses/aborted.ts';
import { sentHead, tcpSocketOf } from '../../node-internals.ts';
import { hasLength, isChunked } from '../responses/head.ts';
import { answerRetryAfter } from '../responses/rejection.ts';
import { isToClose, saysClose, writeClosing, type WriteHead } from './close-header.ts';

// Delays a request until Node has parsed the whole packet in which the request arrived. lameduck then knows all
// requests that the client has pipelined in this packet. So only the last response says `Connection: close`, even if
// the handler of an earlier request responds at once (P-009).
const onePacket: OwnHold = {
  pass: (goOn) => {
    process.nextTick(AsyncResource.bind(goOn));
  },
};

/**
 * Http1Exchange is an HTTP/1.1 request with its response. If the server is about to end the connection, Http1Exchange
 * adds `Connection: close` to the last response of that connection.
 */
export class Http1Exchange implements HttpExchange {
  state: State = noted;
  // `response.req` is not read later, because the program may replace it.
  readonly request: HttpRequest;
  readonly response: ServerResponse;
  readonly arrivedAt: number;
  readonly connection: Connection;
  cancelTimeout: (() => void) | undefined;
  #onHead: ((exchange: HttpExchange) => void) | undefined;
  /**
   * `#now` is a function that returns the current time. It is set when the shutdown begins, so that a response can
   * compare the time with `closeAt`. Before the shutdown, `#now` is undefined.
   */
  #now: (() => number) | undefined;
  #isPatched = false;
  /**
   * #place is set on some pipelined requests after the close time of the connection. `windowEnd`: this was the newest
   * request when the server sent the headers of an earlier response. `last`: the program gets no later request of the
   * connection.
   */
  #place: 'windowEnd' | 'last' | undefined;

  constructor(connection: Connection, request: HttpRequest, response: ServerResponse, arrivedAt: number) {
    this.connection = connection;
    this.request = request;
    this.response = response;
    this.arrivedAt = arrivedAt;
  }

  get head(): string {
    return sentHead(this.response) ?? '';
  }

  get isWhole(): boolean {
    return this.response.writableFinished;
  }

  get hasEnded(): boolean {
    return this.response.destroyed || this.response.writableFinished;
  }

  get isOut(): boolean {
    return this.response.writableFinished;
  }

  get isAborted(): boolean {
    return isDestroyedHere(this.connection.socket, this.response);
  }

  get writable(): ServerResponse {
    return this.response;
  }

  onEnd(callback: (this: HttpResponse) => void): void {
    this.response.on('close', callback);
  }

  onHead(callback: (exchange: HttpExchange) => void): void {
    this.#onHead = callback;
    this.#patch();
  }

  beginShutdown(now: () => number): void {
    this.#now = now;
    this.#patch();
  }

  get isHeld(): boolean {
    const { isLate, closeAt } = this.connection;
    return isLate || this.arrivedAt >= closeAt;
  }

  get ownHold(): OwnHold {
    return onePacket;
  }

  // While the request is delayed, the program cannot answer it. So the timeout that the program has set with
  // `server.setTimeout()` is off during the delay, and starts again at its end. Unlike for HTTP/2, no event has to be
  // deferred: Node emits the events of a request only after the handler has added its listeners.
  hold(): () => boolean {
    const { socket } = this.connection;
    const { timeout = 0 } = socket;
    if (timeout > 0) socket.setTimeout(0);
    return () => {
      if (timeout > 0) socket.setTimeout(timeout);
      return !socket.destroyed;
    };
  }

  refuse(): void {
    answerRetryAfter(this.request, this.response);
  }

  /**
   * breakOff ends the connection without the last chunk, or before `Content-Length` bytes, so that the client detects a
   * truncated response. If the response has neither chunks nor a length, the end of the connection marks the end of the
   * response. For such a response, breakOff sends a reset. A FIN would not suffice, even over TLS: Node's client takes
   * a FIN without a TLS alert for the end of the response.
   */
  breakOff(): void {
    const isWholeByFin = !hasLength(this) && !isChunked(this);
    if (isWholeByFin) tcpSocketOf(this.connection.socket).resetAndDestroy();
    else this.response.destroy();
  }

  takeOver(): readonly EventEmitter[] {
    return [this.response];
  }

  // On HTTP/1.1, stopReading does nothing. Node itself reads the rest of the request body after the response, and the
  // drain limits how long this takes.
  stopReading(): boolean {
    return true;
  }

  // Replaces `writeHead` of the response. Node calls `writeHead` whenever a handler sends headers, explicitly or
  // implicitly.
  #patch(): void {
    const { response } = this;
    if (this.#isPatched || response.headersSent) return;
    this.#isPatched = true;
    const writeHead = response.writeHead.bind(response) as WriteHead;
    const patched: WriteHead = (...args) => {
      const isLast = this.#now !== undefined && this.#isToClose(this.#now());
      if (isLast) writeClosing(response, writeHead, args);
      else writeHead(...args);
      // The program's own `writeHead` may have removed `Connection: close` from the response. The client then sends
      // further requests on the connection.
      if (isLast && saysClose(this.head)) this.connection.announceClose();
      this.#onHead?.(this);
      return response;
    };
    // Use Reflect.set, which does not throw if the program has sealed the response. Such a response has no `Connection:
    // close`, and the drain ends its connection with a FIN.
    Reflect.set(response, 'writeHead', patched);
    // `writeHeader` is another name of `writeHead`, which Node has deprecated (DEP0063) and removed in version 26.
    if ('writeHeader' in response) Reflect.set(response, 'writeHeader', patched);
  }

  #isToClose(now: number): boolean {
    if (this.#place === 'last' || isToClose(this, now)) return true;
    if (this.connection.state.is === 'http' && now >= this.connection.closeAt) this.#limitPipelining();
    return false;
  }

  // Called when a response cannot say `Connection: close`, because a later request has arrived. Usually, the response to
  // the newest request then says it. But a client may send a new pipelined request after each response, so that a later
  // request has always arrived. If this response is the response to a `windowEnd` request, the newest request becomes
  // the last request of the connection. The program gets no request that arrives after it (P-010).
  #limitPipelining(): void {
    const { connection } = this;
    const newest = connection.exchanges.at(-1);
    if (!(newest instanceof Http1Exchange) || !connection.isLast(newest) || newest.head !== '') return;
    if (this.#place === undefined) newest.#place = 'windowEnd';
    else {
      newest.#place = 'last';
      connection.enter(closeAnnounced);
    }
  }
}
