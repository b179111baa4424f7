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

// States of a stream that is over, as nghttp2 counts them: it has forgotten it, or knows it as closed.
const statesOfTheOver: readonly unknown[] = [1, 7];

// Headers of a connection, which HTTP/2 has no place for (RFC 9113, 8.2.2).
const ofConnection = new Set(['connection', 'keep-alive', 'transfer-encoding']);

/** StreamRequest is the request that opened a stream. */
export class StreamRequest implements Request {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  readonly socket: Socket;
  readonly httpVersion = '2.0';
  /** What the program was given instead by the compatibility API, if it uses that. */
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

  // Node closes a stream whose answer is out though its request is not read; one that is read it waits for.
  resume(): void {
    return undefined;
  }
}

function ignore(): void {
  return undefined;
}

/** StreamResponse is the answer on a stream, whoever writes it: the program, node:http2's compatibility API, or lameduck. */
export class StreamResponse implements Response {
  readonly stream: ServerHttp2Stream;
  readonly req: StreamRequest;
  /** What the program was given by the compatibility API, if it uses that. */
  compatible: object | undefined;
  /** Whether lameduck has ended the answer in its middle. */
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
    // The answer to a HEAD Node has ended before there is any.
    return (this.stream.headersSent && this.stream.writableEnded) || this.stream.closed;
  }

  get writableFinished(): boolean {
    // What its client gives up, by whatever code, Node ends itself, as if it were whole.
    if (this.#isBroken || this.stream.aborted || !this.stream.headersSent) return false;
    if (sendsFile(this.stream)) return this.isOut && this.stream.rstCode === 0;
    return this.stream.writableFinished || this.isClosedAhead;
  }

  get destroyed(): boolean {
    return this.stream.destroyed;
  }

  /** Whether Node has closed the stream while the last bytes of its answer are in one write, which it makes only then. */
  get isClosedAhead(): boolean {
    const { closed, writableEnded, writableFinished, aborted, rstCode } = this.stream;
    return closed && writableEnded && !writableFinished && !aborted && rstCode === 0;
  }

  /** Whether the end of the answer, behind its file and its trailers, has been sent, or there is nobody to send it to. */
  get isOut(): boolean {
    return this.stream.state.localClose === 1 || (this.stream.closed && this.stream.writableFinished);
  }

  /** The headers that were sent, a line each. */
  get head(): string {
    const lines = Object.entries(this.#sentHeaders).map(([name, value]) => `${name}: ${String(value)}`);
    return lines.join('\n');
  }

  get #sentHeaders(): OutgoingHttpHeaders {
    return this.stream.headersSent ? this.stream.sentHeaders : {};
  }

  // Headers that the compatibility API keeps for itself are sent by it alone.
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
    // The answer to a HEAD has ended with its headers.
    if (this.stream.writableEnded || this.stream.destroyed) return this;
    if (/^application\/grpc(\+|;|$)/.test(String(this.#sentHeaders['content-type']))) this.#sendGrpcStatus();
    this.stream.end(body);
    return this;
  }

  // Whoever would send the trailers: the program, the compatibility API or Node.
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

  /** endIfGivenUp ends a stream that is over with a part of its answer unsent, for which Node would wait all the same. */
  endIfGivenUp(): void {
    const { stream } = this;
    if (!stream.closed || stream.destroyed || stream.writableFinished) return;
    if (!statesOfTheOver.includes(stream.state.state)) return;
    this.#isBroken = true;
    stream.destroy();
  }

  /**
   * stopReading asks the client of a whole answer, as soon as that is out, to send no more (RFC 9113, 8.1). Called again, it
   * ends the stream of a handler that does not read what has come, for which Node would wait.
   */
  stopReading(): void {
    const { stream } = this;
    if (stream.closed) {
      if (this.isOut) stream.destroy();
      // Node takes a file for sent when it begins, and would break it off.
    } else if (!sendsFile(stream) || this.isOut) stream.close();
  }

  /**
   * ignoreErrors is for a stream that lameduck answers or keeps waiting: its errors are of its peer's making, and would
   * end the process where nobody listens for them. It stays so when the handler gets the stream.
   */
  ignoreErrors(): void {
    this.stream.off('error', ignore).on('error', ignore);
  }

  once(_event: 'close', listener: () => void): this {
    this.stream.once('close', listener);
    return this;
  }
}
