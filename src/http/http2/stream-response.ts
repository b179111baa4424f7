// A stream of HTTP/2 in the shape of a request and its response.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { given, type Request, type Response } from '../../message.ts';
import { sendsFile } from '../node-internals.ts';

// Codes of RFC 9113, section 7; node:http2 is not loaded for a program that does not use it.
const noError = 0;
const internalError = 2;

// UNAVAILABLE, after which a client of gRPC calls another server. Without a status, the client reports an internal error.
const grpcTrailers = { 'grpc-status': '14', 'grpc-message': 'the server is shutting down' };

// The states in which nghttp2 has forgotten a stream (1) or has closed it (7).
const statesOfTheOver: readonly unknown[] = [1, 7];

// Headers of a connection, which HTTP/2 has no place for (RFC 9113, 8.2.2).
const ofConnection = new Set(['connection', 'keep-alive', 'transfer-encoding']);

/** StreamRequest is the request that opened a stream. */
export class StreamRequest implements Request {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  readonly socket: Socket;
  readonly httpVersion = '2.0';
  /** The request object that the compatibility API has made for the program, if the program uses that API. */
  [given]: object | undefined;

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, socket: Socket) {
    this.stream = stream;
    this.headers = headers;
    this.socket = socket;
  }

  get method(): string {
    return String(this.headers[':method']);
  }

  get url(): string {
    return String(this.headers[':path'] ?? '');
  }

  get complete(): boolean {
    return this.stream.readableEnded;
  }

  // Node closes a stream after its response even if its request body is unread. If the body were read, Node would wait for it.
  resume(): void {
    return undefined;
  }
}

function ignore(): void {
  return undefined;
}

/** StreamResponse is the response on a stream. The program, node:http2's compatibility API or lameduck writes it. */
export class StreamResponse implements Response {
  readonly stream: ServerHttp2Stream;
  readonly req: StreamRequest;
  /** The response object that the compatibility API has made for the program, if the program uses that API. */
  compatible: object | undefined;
  /** Whether lameduck has broken off the response. */
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
    // Node ends the response to a HEAD before its headers are sent.
    return (this.stream.headersSent && this.stream.writableEnded) || this.stream.closed;
  }

  get writableFinished(): boolean {
    // If the client cancels the stream, with any code, Node ends the response as if it were complete.
    if (this.#isBroken || this.stream.aborted || !this.stream.headersSent) return false;
    if (sendsFile(this.stream)) return this.isOut && this.stream.rstCode === 0;
    return this.stream.writableFinished || this.isClosedAhead;
  }

  get destroyed(): boolean {
    return this.stream.destroyed;
  }

  /** Whether Node has closed the stream before it has written the last bytes of the response. */
  get isClosedAhead(): boolean {
    const { closed, writableEnded, writableFinished, aborted, rstCode } = this.stream;
    return closed && writableEnded && !writableFinished && !aborted && rstCode === 0;
  }

  /** Whether the end of the response, with its file and trailers, has been sent, or the stream has closed before that. */
  get isOut(): boolean {
    return this.stream.state.localClose === 1 || (this.stream.closed && this.stream.writableFinished);
  }

  /** The headers that were sent, one line each. */
  get head(): string {
    const lines = Object.entries(this.#sentHeaders).map(([name, value]) => `${name}: ${String(value)}`);
    return lines.join('\n');
  }

  get #sentHeaders(): OutgoingHttpHeaders {
    return this.stream.headersSent ? this.stream.sentHeaders : {};
  }

  // The compatibility API keeps its headers itself, so there are none to list here.
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
    // The response to a HEAD ends with its headers.
    if (this.stream.writableEnded || this.stream.destroyed) return this;
    if (/^application\/grpc(\+|;|$)/.test(String(this.#sentHeaders['content-type']))) this.#sendGrpcStatus();
    this.stream.end(body);
    return this;
  }

  // Replaces the trailers, whether the program, the compatibility API or Node sends them.
  #sendGrpcStatus(): void {
    const { stream } = this;
    const send = stream.sendTrailers.bind(stream);
    stream.sendTrailers = () => {
      stream.sendTrailers = () => undefined;
      send(grpcTrailers);
    };
  }

  /**
   * destroy breaks the response off with INTERNAL_ERROR. Node's client and undici take a response that ends with CANCEL for
   * a whole one. After REFUSED_STREAM, a client would send again a request that has been executed.
   */
  destroy(): this {
    const { stream } = this;
    this.#isBroken = !this.isOut;
    // Node emits this code as an error, too.
    this.ignoreErrors();
    const code = this.#isBroken ? internalError : noError;
    if (stream.writableEnded) stream.close(code);
    else {
      // Node's close() calls end() first, and the client would receive the part as a whole response.
      stream.end = () => stream;
      stream.close(code);
      Reflect.deleteProperty(stream, 'end');
    }
    return this;
  }

  /** endIfGivenUp destroys a closed stream whose response has not been sent completely. Otherwise Node would wait for the rest. */
  endIfGivenUp(): void {
    const { stream } = this;
    if (!stream.closed || stream.destroyed || stream.writableFinished) return;
    if (!statesOfTheOver.includes(stream.state.state)) return;
    this.#isBroken = true;
    stream.destroy();
  }

  /**
   * stopReading closes the stream when the whole response has been sent, so that the client stops its body (RFC 9113, 8.1). A
   * second call destroys the stream. Otherwise Node would wait for a handler that does not read the body.
   */
  stopReading(): void {
    const { stream } = this;
    if (stream.closed) {
      if (this.isOut) stream.destroy();
      // For Node, a file has been sent when its first byte is sent. Closing the stream then would break the file off.
    } else if (!sendsFile(stream) || this.isOut) stream.close();
  }

  /**
   * ignoreErrors is called for a stream that lameduck answers or holds. Errors that the peer causes would otherwise end the
   * process, because no listener handles them. The errors stay ignored when the handler gets the stream.
   */
  ignoreErrors(): void {
    this.stream.off('error', ignore).on('error', ignore);
  }

  once(_event: 'close', listener: () => void): this {
    this.stream.once('close', listener);
    return this;
  }
}
