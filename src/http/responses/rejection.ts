// The responses to requests that lameduck rejects. Each response has a different `Retry-After` or body, so that clients
// can distinguish the reasons.
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Answer, HttpRequest, HttpResponse } from '../../message.ts';
import { sendWhole } from './send-whole.ts';

const plain = { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' };

/**
 * tooManyRequests is the response to a request that exceeds `maxRequestsInflight`. Its `Retry-After` is one second,
 * because the server may be below this limit again after one second.
 */
export const tooManyRequests: Answer = {
  status: 429,
  headers: { ...plain, 'Retry-After': '1' },
  body: 'There are too many requests in flight, please try again later.\n',
};

/** timedOut is the response to a request whose handler has sent nothing within `requestTimeout`. */
export const timedOut: Answer = { status: 504, headers: plain, body: 'The request was not completed in time.\n' };

/**
 * comeBackSoon is the response to a long-running request that the drain ends before the handler has sent anything
 * (P-035).
 */
export const comeBackSoon: Answer = {
  status: 503,
  headers: { ...plain, 'Retry-After': '1' },
  body: 'The server is shutting down, please retry.\n',
};

const shuttingDown: Answer = {
  status: 429,
  headers: { ...plain, 'Retry-After': '5', Connection: 'close' },
  body: 'The server is shutting down, please try again later.\n',
};

/** answerRetryAfter sends a 429 with `Retry-After` and `Connection: close` (A-122, P-019). */
export function answerRetryAfter(request: HttpRequest, response: HttpResponse): void {
  request.resume();
  sendWhole(response, shuttingDown);
}

/**
 * refuseUpgrade answers an upgrade request with an HTTP error (P-041). If the connection was accepted after
 * NotAcceptingNewRequest, the status is 429, as for every request on such a connection. If the connection is older, the
 * status is 503, with a short `Retry-After`. The code that calls refuseUpgrade must then end the socket.
 */
export function refuseUpgrade(socket: Duplex, isLate: boolean): void {
  const { status, headers, body } = isLate ? shuttingDown : comeBackSoon;
  const all = { ...headers, Connection: 'close', 'Content-Length': Buffer.byteLength(body) };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${String(value)}\r\n`);
  socket.write(`HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}\r\n${head.join('')}\r\n${body}`);
}
