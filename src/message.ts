// The types of a request, of its response, and of an answer that lameduck itself sends. The types are the same for
// HTTP/1.1 and HTTP/2.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';

/**
 * `given` is the property key under which lameduck finds the request object of node:http2's compatibility API on an
 * HTTP/2 stream.
 */
export const given = Symbol('lameduck.given');

/** HttpRequest contains the properties that node:http's IncomingMessage and a stream of node:http2 have in common. */
export interface HttpRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly httpVersion: string;
  readonly complete: boolean;
  readonly socket: Socket;
  readonly [given]?: object | undefined;
  resume(): unknown;
}

/**
 * RequestIdentifiers are the request headers by which a request can be found in the logs of other services:
 * `traceparent` and `x-request-id`.
 */
export interface RequestIdentifiers {
  readonly traceparent?: string;
  readonly 'x-request-id'?: string;
}

// The maximum number of characters of `traceparent` or `x-request-id` in a log line. The client chooses the value, so
// it may be long.
const longestIdentifier = 128;

/**
 * identifiersOf returns the headers `traceparent` and `x-request-id` of a request. It omits a header that the client
 * has not sent.
 */
export function identifiersOf({ headers }: HttpRequest): RequestIdentifiers {
  const { traceparent, 'x-request-id': requestId } = headers as Partial<Record<string, unknown>>;
  return {
    ...(typeof traceparent === 'string' && { traceparent: traceparent.slice(0, longestIdentifier) }),
    ...(typeof requestId === 'string' && { 'x-request-id': requestId.slice(0, longestIdentifier) }),
  };
}

interface Face {
  readonly stream?: Face;
  readonly session?: { readonly socket: Socket };
  readonly socket?: Socket;
}

/** socketOf returns the socket of a request or stream. It returns undefined after the socket has closed. */
export function socketOf(request: object): Socket | undefined {
  const face: Face = request;
  return (face.stream ?? face).session?.socket ?? face.socket;
}

/**
 * keyOf returns the object by which lameduck identifies a request. In node:http2, this is the stream, because several
 * objects belong to one request.
 */
export function keyOf(request: object): object {
  return (request as Face).stream ?? request;
}

/**
 * HttpResponse declares the members that both ServerResponse of node:http and lameduck's StreamResponse for node:http2
 * have.
 */
export interface HttpResponse {
  readonly req: HttpRequest;
  readonly statusCode: number;
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
  readonly writableFinished: boolean;
  readonly destroyed: boolean;
  getHeaderNames(): string[];
  removeHeader(name: string): void;
  writeHead(status: number, headers: OutgoingHttpHeaders): unknown;
  write(chunk: string): boolean;
  end(body?: string): unknown;
  destroy(): unknown;
  once(event: 'close', listener: () => void): unknown;
}

/**
 * sentStatus returns the status code that a response has sent. It returns undefined if the response has sent nothing,
 * even if a handler has already set a code.
 */
export function sentStatus(response: HttpResponse): number | undefined {
  const { statusCode } = response as { statusCode: unknown };
  // While a pipelined response waits for earlier responses on its connection, none of its bytes has been sent. This is
  // so even if the handler has already ended the response.
  const isSent =
    response.headersSent && (response.writableFinished || (response as { socket?: unknown }).socket !== null);
  const isStatus = isSent && typeof statusCode === 'number' && statusCode >= 100 && statusCode <= 999;
  return isStatus ? Math.trunc(statusCode) : undefined;
}

/** Answer is a complete response that lameduck itself sends. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}
