// An HTTP/2 request, which is one stream, with its response. This code also records whether the client or this process
// has ended the stream.
import type { EventEmitter } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { given, type HttpResponse } from '../../message.ts';
import { compatibleOf } from '../../node-internals.ts';
import { patchEmit } from '../../patch-emit.ts';
import type { Connection } from '../connection.ts';
import { atOnce, noted, type HttpExchange, type OwnHold, type State } from '../exchange.ts';
import { isDestroyedHere, isOfPeer } from '../responses/aborted.ts';
import { answerRetryAfter } from '../responses/rejection.ts';
import { StreamResponse, type StreamRequest } from './stream-response.ts';

type Event = [name: string | symbol, ...args: unknown[]];

/**
 * Http2Exchange is an HTTP/2 request with its response. An HTTP/2 response cannot tell the client to close the
 * connection, so the session sends a GOAWAY instead.
 */
export class Http2Exchange implements HttpExchange {
  state: State = noted;
  readonly response: StreamResponse;
  readonly arrivedAt: number;
  readonly connection: Connection;
  cancelTimeout: (() => void) | undefined;
  /** `#compatible` is the response object of node:http2's compatibility API, if the program uses that API. */
  #compatible: object | undefined;
  #onHead: ((exchange: HttpExchange) => void) | undefined;
  /**
   * #isEndedHere tells whether this process, and not the client, ended the stream. It is always false before a
   * shutdown.
   */
  #isEndedHere = false;
  /**
   * #uploadsSince is when lameduck first saw that the client still sends the request body after the complete response.
   */
  #uploadsSince: number | undefined;

  constructor(connection: Connection, stream: ServerHttp2Stream, headers: IncomingHttpHeaders, arrivedAt: number) {
    this.connection = connection;
    this.response = new StreamResponse(stream, headers, connection.socket);
    this.arrivedAt = arrivedAt;
  }

  /**
   * `received()` returns the exchange (request and response) of a stream that the program has already received.
   * `headers` is undefined if the client opened the stream before the lifecycle began. Node keeps the headers of such a
   * request only if the program uses node:http2's compatibility API.
   */
  static received(
    connection: Connection,
    stream: ServerHttp2Stream,
    arrivedAt: number,
    headers?: IncomingHttpHeaders,
  ): Http2Exchange {
    const { request, response } = compatibleOf(stream);
    const exchange = new Http2Exchange(connection, stream, headers ?? request?.headers ?? {}, arrivedAt);
    if (request !== undefined && response !== undefined) exchange.noteCompatible(request, response);
    return exchange;
  }

  get request(): StreamRequest {
    return this.response.req;
  }

  get stream(): ServerHttp2Stream {
    return this.response.stream;
  }

  get head(): string {
    return this.response.head;
  }

  get isWhole(): boolean {
    return this.response.writableFinished;
  }

  // Tells whether the response has ended. The body of the request may still be arriving.
  get hasEnded(): boolean {
    return this.response.destroyed;
  }

  get isOut(): boolean {
    return this.response.isOut;
  }

  get isAborted(): boolean {
    const { socket } = this.connection;
    if (socket.destroyed) return isDestroyedHere(socket, this.response);
    return this.#isEndedHere && !this.response.writableFinished;
  }

  get writable(): ServerHttp2Stream {
    return this.stream;
  }

  /**
   * noteCompatible records the request and response objects that node:http2's compatibility API has created for the
   * stream.
   */
  noteCompatible(request: object, response: object): void {
    this.#compatible = response;
    this.request[given] = request;
  }

  onEnd(callback: (this: HttpResponse) => void): void {
    this.stream.on('close', () => {
      callback.call(this.response);
    });
  }

  onHead(callback: (exchange: HttpExchange) => void): void {
    const isPatched = this.#onHead !== undefined;
    this.#onHead = callback;
    const { stream } = this;
    if (isPatched || stream.headersSent) return;
    const respond = stream.respond.bind(stream);
    stream.respond = (...args) => {
      respond(...args);
      this.#onHead?.(this);
    };
  }

  /**
   * From `beginShutdown()` on, lameduck records whether this process itself ends the stream. After the end of the
   * stream, lameduck can no longer find out whether the client has reset the stream.
   */
  beginShutdown(): void {
    const { stream } = this;
    for (const name of ['close', 'destroy'] as const) {
      const end = stream[name].bind(stream) as (...args: unknown[]) => void;
      // Records that this process has called `close()` or `destroy()` of the stream. A call for a closed stream is not
      // recorded: if the client resets a stream, Node first closes the stream and then destroys it.
      const noting = (...args: unknown[]): unknown => {
        if (!stream.closed && !isOfPeer(args[0])) this.#isEndedHere = true;
        return end(...args);
      };
      Object.assign(stream, { [name]: noting });
    }
  }

  get isHeld(): boolean {
    return this.connection.session?.isHolding === true;
  }

  get ownHold(): OwnHold {
    return this.connection.session?.ownHold ?? atOnce;
  }

  // Defers the events `end` and `trailers` of a delayed request until the request continues. Otherwise, the handler
  // could miss these events. Node emits `end` of an empty body even if no handler reads the stream, and emits
  // `trailers` only once. As for HTTP/1.1, the timeout that the program has set with `server.setTimeout()` is off during
  // the delay. The first delayed stream of a session switches it off and on again.
  hold(): () => boolean {
    this.response.ignoreErrors();
    const { stream } = this;
    const session = stream.session as (ServerHttp2Session & { readonly timeout?: number }) | undefined;
    const { timeout = 0 } = session ?? {};
    if (timeout > 0) session?.setTimeout(0);
    const deferred: Event[] = [];
    const restore = patchEmit(stream, (original) => (...event) => {
      if (event[0] !== 'end' && event[0] !== 'trailers') return original().apply(stream, event);
      deferred.push(event);
      return false;
    });
    return () => {
      restore();
      if (timeout > 0) session?.setTimeout(timeout);
      // lameduck has deferred these events of the request. Emit them in a later tick than the current one. In the
      // current tick, the caller calls the handler, which adds its listeners for these events.
      for (const event of deferred) process.nextTick(() => stream.emit(...(event as Parameters<typeof stream.emit>)));
      return !this.connection.socket.destroyed && !stream.closed;
    };
  }

  refuse(): void {
    this.connection.session?.endBefore(() => {
      // If the client disconnected before the server sent the GOAWAY, do not send the 429.
      if (!this.hasEnded) answerRetryAfter(this.request, this.response);
    });
  }

  breakOff(): void {
    this.response.destroy();
  }

  takeOver(): readonly EventEmitter[] {
    this.response.ignoreErrors();
    return this.#compatible === undefined ? [this.stream] : [this.stream, this.#compatible as EventEmitter];
  }

  stopReading(): boolean {
    this.response.stopReading();
    return this.stream.destroyed;
  }

  /**
   * If the client still sends the request body `longest` milliseconds after the complete response, endUpload stops
   * reading the body.
   */
  endUpload(now: number, longest: number): void {
    this.response.endIfGivenUp();
    if (this.request.complete || !this.isOut) return;
    this.#uploadsSince ??= now;
    // After the complete response, lameduck waits for `longest` milliseconds for the rest of the request body. If the
    // HTTP/2 stream has closed, lameduck waits twice as long, so that the handler can read the bytes that have arrived.
    if (now - this.#uploadsSince >= (this.stream.closed ? 2 : 1) * longest) this.response.stopReading();
  }
}
