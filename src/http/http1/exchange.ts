// A request of HTTP/1.1 and its response.
import type { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Request, Response } from '../../message.ts';
import type { Connection } from '../connection.ts';
import { noted, type HttpExchange, type State } from '../exchange.ts';
import { isDestroyedHere } from '../in-flight/aborted.ts';
import { sentHead, tcpSocketOf } from '../node-internals.ts';
import { hasLength, isChunked } from '../responses/head.ts';
import { answerRetryAfter } from '../responses/rejection.ts';
import { closing, type WriteHead } from './close-header.ts';

/** Http1Exchange makes the last response on a connection say `Connection: close` when its client has to leave. */
export class Http1Exchange implements HttpExchange {
  state: State = noted;
  readonly response: ServerResponse;
  readonly arrivedAt: number;
  readonly connection: Connection;
  cancelTimeout: (() => void) | undefined;
  #onHead: ((exchange: HttpExchange) => void) | undefined;
  /** The clock, from the beginning of the shutdown on. */
  #now: (() => number) | undefined;
  #isPatched = false;

  constructor(connection: Connection, response: ServerResponse, arrivedAt: number) {
    this.connection = connection;
    this.response = response;
    this.arrivedAt = arrivedAt;
  }

  get request(): Request {
    return this.response.req;
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

  onEnd(callback: (this: Response) => void): void {
    this.response.on('close', callback);
  }

  onHead(callback: (exchange: HttpExchange) => void): void {
    this.#onHead = callback;
    this.#patch();
  }

  beginLeaving(now: () => number): void {
    this.#now = now;
    this.#patch();
  }

  // Node emits no event of a held HTTP/1.1 request before its handler listens, so nothing has to be deferred.
  hold(): () => boolean {
    return () => !this.connection.socket.destroyed;
  }

  refuse(): void {
    answerRetryAfter(this.request, this.response);
  }

  /**
   * breakOff ends the connection without the last chunk or before the whole `Content-Length`, which clients notice. If the end
   * of the connection delimits the response, breakOff sends a reset. A FIN is not enough then, even over TLS: for Node's
   * client, a FIN without a TLS alert ends the response.
   */
  breakOff(): void {
    const isWholeByFin = !hasLength(this) && !isChunked(this);
    if (isWholeByFin) tcpSocketOf(this.response.req.socket).resetAndDestroy();
    else this.response.destroy();
  }

  takeOver(): readonly EventEmitter[] {
    return [this.response];
  }

  // Node reads the rest of the body, and the drain bounds that.
  stopReading(): boolean {
    return true;
  }

  // However the handler sends its headers, Node calls `writeHead` for them.
  #patch(): void {
    const { response } = this;
    if (this.#isPatched || response.headersSent) return;
    this.#isPatched = true;
    const writeHead = response.writeHead.bind(response) as WriteHead;
    const patched: WriteHead = (...args) => {
      const isToClose = this.#isToClose();
      writeHead(...(isToClose ? closing(response, args) : args));
      if (isToClose) this.connection.announceClose();
      this.#onHead?.(this);
      return response;
    };
    response.writeHead = patched as ServerResponse['writeHead'];
  }

  // Whether the drawn moment has come and nothing is sent after this response: neither another one (P-001, P-010), nor the
  // answer to an upgrade (P-041).
  #isToClose(): boolean {
    const { connection } = this;
    if (this.#now === undefined || connection.state.is !== 'http' || !connection.isLast(this)) return false;
    return this.#now() >= connection.leaveAt;
  }
}
