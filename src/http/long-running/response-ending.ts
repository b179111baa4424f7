// How a long-running request over HTTP is brought to its end: an event stream, a watch, a long poll.
import { hasLength, isEventStream } from '../responses/head.ts';
import type { Ending, HttpExchange } from '../exchange.ts';
import { abortRequest, hasAbortSignal } from '../in-flight/request-signal.ts';
import { answerInstead, endInstead } from '../responses/instead.ts';
import { comeBackSoon } from '../responses/rejection.ts';
import { sayGoingAway, webSocketOn } from '../upgraded/websocket.ts';
import { EventStream } from './event-stream.ts';

/** ResponseEnding ends the response of a long-running request. */
export class ResponseEnding implements Ending {
  readonly #exchange: HttpExchange;
  #stream: EventStream | undefined;
  /** Whether a WebSocket over HTTP/2 has been closed, which waits for its peer's close frame. */
  #isGoingAway = false;

  constructor(exchange: HttpExchange) {
    this.#exchange = exchange;
  }

  /** watch begins to look at what an event stream sends; called once a shutdown has begun and the headers are out. */
  watch(): void {
    if (this.#stream === undefined && isEventStream(this.#exchange)) this.#stream = new EventStream(this.#exchange);
  }

  /**
   * tell lets the handler end the request by its AbortSignal, where it has asked for one (P-028), and otherwise ends what
   * can be ended cleanly: a stream with its last chunk, a WebSocket with 1001 (P-039).
   */
  tell(retry: number | undefined): void {
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
   * end ends what is still open when the time is up. A handler that has said nothing yet is answered for (P-035). Called
   * again, it has no more patience with a client that goes on sending where its answer has ended.
   */
  end(): void {
    const exchange = this.#exchange;
    const { request, response } = exchange;
    abortRequest(request, 'the server is shutting down');
    if (response.writableEnded) exchange.stopReading();
    else if (!response.headersSent) answerInstead(exchange, comeBackSoon);
    else if (this.#isGoingAway) response.destroy();
    else if (this.#goAway()) this.#isGoingAway = true;
    else if (!hasLength(exchange)) endInstead(exchange);
  }

  // A WebSocket over HTTP/2 (RFC 8441) is on its stream, as one over HTTP/1.1 is on its socket.
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
