// The answer to a request that came too late: the apiserver's 429.
import type { IncomingMessage, ServerResponse } from 'node:http';

const body = 'The server is shutting down, please try again later.\n';

const headers = {
  'Content-Type': 'text/plain; charset=utf-8',
  'Content-Length': Buffer.byteLength(body),
  'Retry-After': '5',
  'X-Content-Type-Options': 'nosniff',
  Connection: 'close',
};

/** answerRetryAfter tells the client to come back later, on another connection (A-122, P-019). */
export function answerRetryAfter(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  response.writeHead(429, headers);
  response.end(body);
}
