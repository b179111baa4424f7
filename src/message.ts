// A request, its response and an answer as far as lameduck knows them, over whatever protocol they go.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';

/** given is the key of the request that the program was given in place of a stream, by node:http2's compatibility API. */
export const given = Symbol('lameduck.given');

/** Request is what node:http's IncomingMessage and a stream of node:http2 have in common here. */
export interface Request {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly httpVersion: string;
  readonly complete: boolean;
  readonly socket: Socket;
  readonly [given]?: object | undefined;
  resume(): unknown;
}

interface Face {
  readonly stream?: Face;
  readonly session?: { readonly socket: Socket };
  readonly socket?: Socket;
}

/** socketOf returns the socket of a request, also of one that is given as a stream; undefined when it is gone. */
export function socketOf(request: object): Socket | undefined {
  const face: Face = request;
  return (face.stream ?? face).session?.socket ?? face.socket;
}

/** keyOf returns the one object by which a request is known, however many faces HTTP/2 gives it. */
export function keyOf(request: object): object {
  return (request as Face).stream ?? request;
}

/** Response is what node:http's ServerResponse and a stream of node:http2 have in common here. */
export interface Response {
  readonly req: Request;
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

/** Answer is a whole answer that lameduck gives itself, for whatever carries it. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}
