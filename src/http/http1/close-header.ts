// Decides which HTTP/1.1 responses get the header `Connection: close`, and adds the header. Handlers may pass their
// headers as an object or as a list. The responses of responses/rejection.ts always have the header.
import type { OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Answer } from '../../message.ts';
import type { HttpExchange } from '../exchange.ts';

/**
 * GivenHeaders is what `writeHead` accepts: an object, a flat list of names and values, or (undocumented) a list of
 * pairs.
 */
type GivenHeaders = OutgoingHttpHeaders | readonly (OutgoingHttpHeader | readonly OutgoingHttpHeader[])[] | undefined;

/** WriteHead is the type of `writeHead`. It allows every order of arguments that Node allows. */
export type WriteHead = (
  ...args: [status: number, headers?: GivenHeaders] | [status: number, reason?: string, headers?: GivenHeaders]
) => ServerResponse;

/**
 * isToClose tells whether a response must have the header `Connection: close` because of a shutdown. All of these
 * conditions must hold:
 *
 * - The random time `closeAt` of the connection has passed.
 * - No later request has arrived on the connection (P-001, P-010).
 * - No response to an upgrade request will follow on the connection (P-041).
 */
export function isToClose(exchange: HttpExchange, now: number): boolean {
  const { connection } = exchange;
  return connection.state.is === 'http' && connection.isLast(exchange) && now >= connection.closeAt;
}

/**
 * closingAnswer adds `Connection: close` to a response that lameduck sends in place of a handler that still runs. The
 * handler may later write to the socket, so the client must not use the connection for another request.
 */
export function closingAnswer(exchange: HttpExchange, answer: Answer): Answer {
  if (!exchange.connection.isLast(exchange)) return answer;
  return { ...answer, headers: { ...answer.headers, Connection: 'close' } };
}

/**
 * writeClosing calls `writeHead` with the handler's headers. It replaces every header about the connection with
 * `Connection: close` (P-016). If the program has replaced `writeHead` and drops `Connection: close`, Node adds this
 * header, because `shouldKeepAlive` of the response is false.
 */
export function writeClosing(response: ServerResponse, writeHead: WriteHead, args: Parameters<WriteHead>): void {
  response.shouldKeepAlive = false;
  const [status, reason, headers] = args;
  if (typeof reason === 'string') writeHead(status, reason, closingHeaders(response, headers));
  else writeHead(status, closingHeaders(response, headers ?? reason));
}

/**
 * saysClose tells whether the response headers in `head` contain `Connection: close`, after which the connection ends.
 */
export function saysClose(head: string): boolean {
  return /^connection: *close\r$/im.test(head);
}

/**
 * closingHeaders replaces all headers about the connection with `Connection: close`. Setting Node's `shouldKeepAlive`
 * is not enough, because an explicit `Connection: keep-alive` of the handler overrides it (P-120).
 */
function closingHeaders(response: ServerResponse, given: GivenHeaders): OutgoingHttpHeaders | OutgoingHttpHeader[] {
  response.removeHeader('Keep-Alive');
  // A flat header list contains names and values in turn. A value may be an array. A name is never an array.
  if (Array.isArray(given)) {
    return closingList((Array.isArray(given[0]) ? given.flat() : given) as OutgoingHttpHeader[]);
  }
  const headers: OutgoingHttpHeaders = { Connection: 'close' };
  for (const [name, value] of Object.entries((given ?? {}) as OutgoingHttpHeaders)) {
    if (!isOfConnection(name)) headers[name] = value;
  }
  return headers;
}

function closingList(given: readonly OutgoingHttpHeader[]): OutgoingHttpHeader[] {
  const headers: OutgoingHttpHeader[] = [];
  for (let index = 0; index < given.length; index += 2) {
    if (!isOfConnection(String(given[index]))) headers.push(...given.slice(index, index + 2));
  }
  headers.push('Connection', 'close');
  return headers;
}

function isOfConnection(name: string): boolean {
  const lower = name.toLowerCase();
  return lower === 'connection' || lower === 'keep-alive';
}
