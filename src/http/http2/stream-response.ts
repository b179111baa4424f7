// Gives an HTTP/2 stream the methods of an HTTP/1.1 request and response, so that the same code answers requests of
// both protocols.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { given, type HttpRequest, type HttpResponse } from '../../message.ts';
import { hasEnded, isClosedHere, sendsFile } from '../../node-internals.ts';

// Error codes of RFC 9113, section 7. node:http2 exports them too, but loading node:http2 would take time.
const noError = 0;
const internalError = 2;

// The gRPC status UNAVAILABLE, after which a client sends its call to another server. Without a status, the client
// reports an internal error.
const grpcTrailers = { 'grpc-status': '14', 'grpc-message': 'the server is shutting down' };

// The names of the HTTP/1.1 headers about the connection. HTTP/2 does not allow these headers (RFC 9113, 8.2.2).
const ofConnection = new Set(['connection', 'keep-alive', 'transfer-encoding']);

export function methodOf(headers: IncomingHttpHeaders): string {
  return String(headers[':method'] ?? '');
}

/** urlOf returns the path of an HTTP/2 request with its query, or an empty text for a CONNECT. */
export function urlOf(headers: IncomingHttpHeaders): string {
  return String(headers[':path'] ?? '');
}

/** StreamRequest is the request that opened an HTTP/2 stream. */
export class StreamRequest implements HttpRequest {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  readonly socket: Socket;
  readonly httpVersion = '2.0';
  /** The key `given` has the request object of node:http2's compatibility API, if the program uses that API. */
  [given]: object | undefined;

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, socket: Socket) {
    this.stream = stream;
    this.headers = headers;
    this.socket = socket;
  }

  get method(): string {
    return methodOf(this.headers);
  }

  get url(): string {
    return urlOf(this.headers);
  }

  get complete(): boolean {
    return this.stream.readableEnded;
  }

  // For HTTP/2, `resume()` does nothing. Node closes a stream after its response even if the request body is unread. If
  // lameduck began to read the body, Node would wait for its end.
  resume(): void {
    return undefined;
  }
}

function ignore(): void {
  return undefined;
}

/**
 * StreamResponse is the response on an HTTP/2 stream. The program, node:http2's compatibility API or lameduck may write
 * it.
 */
export class StreamResponse implements HttpResponse {
  readonly stream: ServerHttp2Stream;
  readonly req: StreamRequest;
  /** #isBroken is true if lameduck has truncated the response on this HTTP/2 stream. */
  #isBroken = false;

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, socket: Socket) {
    this.stream = stream;
    this.req = new StreamRequest(stream, headers, socket);
  }

  get statusCode(): number {
    return Number(this.#sentHeaders[':status'] ?? 0);
  }

  get headersSent(): boolean {
    return this.stream.headersSent;
  }

  get writableEnded(): boolean {
    // For a HEAD request, Node ends the response before it sends the headers.
    return (this.stream.headersSent && this.stream.writableEnded) || this.stream.closed;
  }

  get writableFinished(): boolean {
    // If a client cancels a stream, Node says that the response is complete, whatever the error code is. For lameduck,
    // the response is incomplete.
    if (this.#isBroken || this.stream.aborted || !this.stream.headersSent) return false;
    if (sendsFile(this.stream)) return this.isOut && this.stream.rstCode === 0;
    return this.stream.writableFinished || this.isClosedAhead;
  }

  get destroyed(): boolean {
    return this.stream.destroyed;
  }

  /**
   * isClosedAhead is true if Node has closed the stream too early: the last bytes of the response have not been written
   * yet.
   */
  get isClosedAhead(): boolean {
    const { closed, writableEnded, writableFinished, aborted, rstCode } = this.stream;
    return closed && writableEnded && !writableFinished && !aborted && rstCode === 0;
  }

  /**
   * isOut is true if the server will send no more bytes on this HTTP/2 stream. Either the server has sent the complete
   * response, including a file and trailers, or the stream closed before the response was complete.
   */
  get isOut(): boolean {
    return isClosedHere(this.stream) || (this.stream.closed && this.stream.writableFinished);
  }

  /** `head` contains the response headers that have been sent, one per line. */
  get head(): string {
    const lines = Object.entries(this.#sentHeaders).map(([name, value]) => `${name}: ${String(value)}`);
    return lines.join('\n');
  }

  get #sentHeaders(): OutgoingHttpHeaders {
    return this.stream.headersSent ? this.stream.sentHeaders : {};
  }

  // Returns no header names. Headers that the program has set are in the response object of node:http2's compatibility
  // API, not in this StreamResponse.
  getHeaderNames(): string[] {
    return [];
  }

  removeHeader(): void {
    return undefined;
  }

  writeHead(status: number, headers: OutgoingHttpHeaders): this {
    if (this.stream.destroyed || this.stream.closed) return this;
    const sent: OutgoingHttpHeaders = { ':status': status };
    for (const [name, value] of Object.entries(headers)) {
      if (!ofConnection.has(name.toLowerCase())) sent[name.toLowerCase()] = value;
    }
    this.stream.respond(sent);
    return this;
  }

  write(chunk: string): boolean {
    return this.stream.write(chunk);
  }

  end(body?: string): this {
    // Do not write a body after the end of the stream. The response to a HEAD request, for example, has ended with its
    // headers.
    if (this.stream.writableEnded || this.stream.destroyed) return this;
    if (/^application\/grpc(\+|;|$)/.test(String(this.#sentHeaders['content-type']))) this.#sendGrpcStatus();
    this.stream.end(body);
    return this;
  }

  // Replaces the trailers of the response with the gRPC status, whichever code would have sent the trailers: the
  // program, the compatibility API or Node.
  #sendGrpcStatus(): void {
    const { stream } = this;
    const send = stream.sendTrailers.bind(stream);
    stream.sendTrailers = () => {
      stream.sendTrailers = () => undefined;
      send(grpcTrailers);
    };
  }

  /**
   * `destroy()` truncates the response: it resets the stream with the code INTERNAL_ERROR. Other codes would mislead
   * the client. Node's client and undici treat a response that ends with CANCEL as complete. After REFUSED_STREAM, a
   * client would repeat the request, although the program may have executed it.
   */
  destroy(): this {
    const { stream } = this;
    this.#isBroken = !this.isOut;
    // Node also emits INTERNAL_ERROR as an `error` event of the stream. Without a listener, this event would end the
    // process.
    this.ignoreErrors();
    const code = this.#isBroken ? internalError : noError;
    if (stream.writableEnded) stream.close(code);
    else {
      // Node's `close()` of a stream first calls the stream's `end()`, which would make the truncated response look
      // complete. So replace the stream's `end()` while `close()` runs.
      stream.end = () => stream;
      stream.close(code);
      Reflect.deleteProperty(stream, 'end');
    }
    return this;
  }

  /**
   * endIfGivenUp destroys a stream that Node has closed before the response was sent completely. Without this, Node
   * would wait for the rest of the response.
   */
  endIfGivenUp(): void {
    const { stream } = this;
    if (!stream.closed || stream.destroyed || stream.writableFinished) return;
    if (!hasEnded(stream)) return;
    this.#isBroken = true;
    stream.destroy();
  }

  /**
   * The first call of stopReading closes the stream when the complete response has been sent. The client then stops
   * sending its body (RFC 9113, 8.1). A second call destroys the stream, because Node would otherwise wait for a
   * handler that does not read the body.
   */
  stopReading(): void {
    const { stream } = this;
    if (stream.closed) {
      if (this.isOut) stream.destroy();
      // When a response is a file, Node reports it as sent when its first byte is sent. If the stream were closed then,
      // the file would be truncated.
    } else if (!sendsFile(stream) || this.isOut) stream.close();
  }

  /**
   * ignoreErrors adds an error listener to the stream of a request that lameduck answers or delays. Without a listener,
   * an error that the peer causes would end the process. The listener stays on the stream even if lameduck later passes
   * the request to the handler.
   */
  ignoreErrors(): void {
    this.stream.off('error', ignore).on('error', ignore);
  }

  once(_event: 'close', listener: () => void): this {
    this.stream.once('close', listener);
    return this;
  }
}
