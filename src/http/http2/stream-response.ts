// Gives an HTTP/2 stream the methods of an HTTP/1.1 request and response, so that the same code answers both.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { given, type HttpRequest, type HttpResponse } from '../../message.ts';
import { hasEnded, isClosedHere, sendsFile } from '../../node-internals.ts';

// Error codes of RFC 9113, section 7. node:http2 exports them too, but loading node:http2 would take time.
const noError = 0;
const internalError = 2;

// The gRPC status UNAVAILABLE, after which a client calls another server. Without a status, the client reports an
// internal error.
const grpcTrailers = { 'grpc-status': '14', 'grpc-message': 'the server is shutting down' };

// The headers about a connection, which HTTP/2 does not allow (RFC 9113, 8.2.2).
const ofConnection = new Set(['connection', 'keep-alive', 'transfer-encoding']);

/** StreamRequest is the request that opened an HTTP/2 stream. */
export class StreamRequest implements HttpRequest {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  readonly socket: Socket;
  readonly httpVersion = '2.0';
  /** The request object of node:http2's compatibility API, if the program uses that API. */
  [given]: object | undefined;

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, socket: Socket) {
    this.stream = stream;
    this.headers = headers;
    this.socket = socket;
  }

  get method(): string {
    return String(this.headers[':method'] ?? '');
  }

  get url(): string {
    return String(this.headers[':path'] ?? '');
  }

  get complete(): boolean {
    return this.stream.readableEnded;
  }

  // Does nothing: Node closes a stream after its response even if the request body is unread. If lameduck read the
  // body, Node would wait for its end.
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
  /** #isBroken is true if lameduck has truncated the response. */
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
    // Node treats a stream that the client has cancelled, with any code, as a complete response.
    if (this.#isBroken || this.stream.aborted || !this.stream.headersSent) return false;
    if (sendsFile(this.stream)) return this.isOut && this.stream.rstCode === 0;
    return this.stream.writableFinished || this.isClosedAhead;
  }

  get destroyed(): boolean {
    return this.stream.destroyed;
  }

  /** isClosedAhead is true if Node has closed the stream before it has written the last bytes of the response. */
  get isClosedAhead(): boolean {
    const { closed, writableEnded, writableFinished, aborted, rstCode } = this.stream;
    return closed && writableEnded && !writableFinished && !aborted && rstCode === 0;
  }

  /**
   * isOut tells whether the complete response has been sent, with its file and trailers. It is also true if the stream
   * closed before that.
   */
  get isOut(): boolean {
    return isClosedHere(this.stream) || (this.stream.closed && this.stream.writableFinished);
  }

  /** `head` contains the sent headers, one per line. */
  get head(): string {
    const lines = Object.entries(this.#sentHeaders).map(([name, value]) => `${name}: ${String(value)}`);
    return lines.join('\n');
  }

  get #sentHeaders(): OutgoingHttpHeaders {
    return this.stream.headersSent ? this.stream.sentHeaders : {};
  }

  // node:http2's compatibility API stores the headers that a program sets in its own response object. This object has
  // no headers to list.
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
    // The response to a HEAD request has no body, so it ends with its headers.
    if (this.stream.writableEnded || this.stream.destroyed) return this;
    if (/^application\/grpc(\+|;|$)/.test(String(this.#sentHeaders['content-type']))) this.#sendGrpcStatus();
    this.stream.end(body);
    return this;
  }

  // Sends the gRPC status in place of the response's trailers, whether the program, the compatibility API or Node sends
  // them.
  #sendGrpcStatus(): void {
    const { stream } = this;
    const send = stream.sendTrailers.bind(stream);
    stream.sendTrailers = () => {
      stream.sendTrailers = () => undefined;
      send(grpcTrailers);
    };
  }

  /**
   * `destroy()` truncates the response with INTERNAL_ERROR. Node's client and undici treat a response that ends with
   * CANCEL as complete. After REFUSED_STREAM, a client would repeat the request, although it may be a request that has
   * been executed.
   */
  destroy(): this {
    const { stream } = this;
    this.#isBroken = !this.isOut;
    // Node also emits INTERNAL_ERROR as an `error` event.
    this.ignoreErrors();
    const code = this.#isBroken ? internalError : noError;
    if (stream.writableEnded) stream.close(code);
    else {
      // Node's close() calls end() first, which would make the truncated response look complete.
      stream.end = () => stream;
      stream.close(code);
      Reflect.deleteProperty(stream, 'end');
    }
    return this;
  }

  /**
   * endIfGivenUp destroys a closed stream whose response was not sent completely. Otherwise Node would wait for the
   * rest.
   */
  endIfGivenUp(): void {
    const { stream } = this;
    if (!stream.closed || stream.destroyed || stream.writableFinished) return;
    if (!hasEnded(stream)) return;
    this.#isBroken = true;
    stream.destroy();
  }

  /**
   * stopReading closes the stream when the complete response has been sent, so that the client stops sending its body
   * (RFC 9113, 8.1). A second call destroys the stream. Otherwise Node would wait for a handler that does not read the
   * body.
   */
  stopReading(): void {
    const { stream } = this;
    if (stream.closed) {
      if (this.isOut) stream.destroy();
      // Node reports a file as sent when its first byte is sent. Closing the stream then would truncate the file.
    } else if (!sendsFile(stream) || this.isOut) stream.close();
  }

  /**
   * ignoreErrors is called for a stream that lameduck answers or holds. It ignores errors that the peer causes. Without
   * a listener, such an error would end the process. The errors are still ignored when the handler gets the stream.
   */
  ignoreErrors(): void {
    this.stream.off('error', ignore).on('error', ignore);
  }

  once(_event: 'close', listener: () => void): this {
    this.stream.once('close', listener);
    return this;
  }
}
