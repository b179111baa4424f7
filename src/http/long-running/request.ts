// One long-running request: an event stream, a watch, a long poll, an upgraded socket; and how it is brought to its end.
import type { Connection } from '../connection.ts';
import { EventStream } from './event-stream.ts';
import { hasLength, isEventStream } from '../responses/head.ts';
import { answerInstead, endInstead } from '../responses/instead.ts';
import type { Request, Response } from '../../message.ts';
import { comeBackSoon } from '../responses/rejection.ts';
import { abortRequest, hasAbortSignal } from '../in-flight/request-signal.ts';
import { StreamResponse } from '../http2/stream-response.ts';
import { Upgraded } from '../upgraded/socket.ts';
import { sayGoingAway, webSocketOn } from '../upgraded/websocket.ts';

/** LongRunningRequest is told to end when its turn comes, and ended when its time is up. */
export class LongRunningRequest {
  readonly connection: Connection;
  readonly #request: Request;
  /** Undefined once the request has left HTTP. */
  readonly #response: Response | undefined;
  #stream: EventStream | undefined;
  /** Whether a WebSocket over HTTP/2 has been closed, which waits for its peer's close frame. */
  #isGoingAway = false;

  constructor(connection: Connection, request: Request, response?: Response) {
    this.connection = connection;
    this.#request = request;
    this.#response = response;
  }

  /** watch begins to look at what an event stream sends; called once a shutdown has begun and the headers are out. */
  watch(): void {
    if (this.#response === undefined || this.#stream !== undefined || !isEventStream(this.#response)) return;
    this.#stream = new EventStream(this.#response);
  }

  /**
   * tell lets the handler end the request by its AbortSignal, where it has asked for one (P-028), and otherwise ends what
   * can be ended cleanly: a stream with its last chunk, a WebSocket with 1001 (P-039), another upgraded socket with a FIN
   * (P-040). `retry` is for the client of an event stream, in milliseconds.
   */
  tell(retry: number | undefined): void {
    if (this.#stream === undefined) {
      this.#tellHandler();
      return;
    }
    const stream = this.#stream;
    if (this.#response?.writableEnded === true) return;
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
    abortRequest(this.#request, 'the server is shutting down');
    const response = this.#response;
    if (response === undefined) this.connection.end();
    else if (response.writableEnded) {
      if (response instanceof StreamResponse) response.stopReading();
    } else if (!response.headersSent) answerInstead(response, comeBackSoon);
    else if (this.#isGoingAway) response.destroy();
    else if (this.#goAway()) this.#isGoingAway = true;
    else if (!hasLength(response)) endInstead(response);
  }

  // The WebSocket is on the stream that it speaks over (RFC 8441), as it is on a socket.
  #goAway(): boolean {
    const webSocket = this.#response instanceof StreamResponse ? webSocketOn(this.#response.stream) : undefined;
    return webSocket !== undefined && sayGoingAway(webSocket);
  }

  get #takesHint(): boolean {
    const response = this.#response;
    return response !== undefined && !response.writableEnded && !hasLength(response) && this.#request.method !== 'HEAD';
  }

  #tellHandler(): void {
    if (hasAbortSignal(this.#request)) abortRequest(this.#request, 'the server is shutting down');
    else if (this.connection instanceof Upgraded) this.connection.endWhenAnswered();
    else if (this.#response?.headersSent !== false && this.#response?.writableEnded !== true) this.end();
  }
}
