// Ends a long-running request over HTTP: an event stream, a watch or a long poll.
import { hasLength, isEventStream } from '../responses/head.ts';
import type { Ending, HttpExchange } from '../exchange.ts';
import { abortRequest, hasAbortSignal } from '../in-flight/request-signal.ts';
import { answerInPlaceOfHandler, endInPlaceOfHandler } from '../responses/in-place-of-handler.ts';
import { comeBackSoon } from '../responses/rejection.ts';
import { sayGoingAway, webSocketOn } from '../upgraded/websocket.ts';
import { EventStream } from './event-stream.ts';

/** ResponseEnding contains the steps by which the drain ends the HTTP response to one long-running request. */
export class ResponseEnding implements Ending {
  readonly #exchange: HttpExchange;
  #stream: EventStream | undefined;
  /**
   * #isGoingAway is true while lameduck waits for the peer's close frame on a WebSocket over HTTP/2. lameduck has sent
   * its own close frame before.
   */
  #isGoingAway = false;

  constructor(exchange: HttpExchange) {
    this.#exchange = exchange;
  }

  /**
   * `watch()` starts to inspect the bytes that the handler writes to an event stream. lameduck calls `watch()` during a
   * shutdown, after the headers of the response have been sent.
   */
  watch(): void {
    if (this.#stream === undefined && isEventStream(this.#exchange)) this.#stream = new EventStream(this.#exchange);
  }

  /**
   * `begin()` begins to end a long-running request. If the handler uses the AbortSignal of the request, `begin()`
   * aborts the signal (P-028). Otherwise `begin()` ends the request itself, if a clean end is possible. An event stream
   * ends with its last chunk, and a WebSocket with close code 1001 (P-039).
   */
  begin(retry: number | undefined): void {
    const stream = this.#stream;
    if (stream === undefined) {
      this.#tellHandler();
      return;
    }
    if (this.#exchange.response.writableEnded) return;
    stream.betweenEvents(() => {
      if (retry !== undefined && this.#takesHint) stream.hint(retry);
      this.#tellHandler();
    });
  }

  /**
   * `end()` ends a long-running request that is still open at the end of the grace period. If the handler has sent no
   * headers, lameduck responds (P-035). The drain may call `end()` again. If the response has ended by then but the
   * client still sends the request body, `end()` stops reading the body.
   */
  end(): void {
    const exchange = this.#exchange;
    const { request, response } = exchange;
    abortRequest(request, 'the server is shutting down');
    if (response.writableEnded) exchange.stopReading();
    else if (!response.headersSent) answerInPlaceOfHandler(exchange, comeBackSoon);
    else if (this.#isGoingAway) response.destroy();
    else if (this.#goAway()) this.#isGoingAway = true;
    else if (!hasLength(exchange)) endInPlaceOfHandler(exchange);
  }

  // Closes the WebSocket on an HTTP/2 stream (RFC 8441) with code 1001. Returns false if the stream has no WebSocket.
  // The package `ws` stores the WebSocket object on the stream. Over HTTP/1.1, it stores this object on the socket.
  #goAway(): boolean {
    const webSocket = webSocketOn(this.#exchange.writable);
    return webSocket !== undefined && sayGoingAway(webSocket);
  }

  get #takesHint(): boolean {
    const { request, response } = this.#exchange;
    return !response.writableEnded && !hasLength(this.#exchange) && request.method !== 'HEAD';
  }

  #tellHandler(): void {
    const { request, response } = this.#exchange;
    if (hasAbortSignal(request)) abortRequest(request, 'the server is shutting down');
    else if (response.headersSent && !response.writableEnded) this.end();
  }
}
