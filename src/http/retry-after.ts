// The answer to a request that came too late: the apiserver's 429.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

const body = 'The server is shutting down, please try again later.\n';

const headers = {
  'Content-Type': 'text/plain; charset=utf-8',
  'Content-Length': Buffer.byteLength(body),
  'Retry-After': '5',
  'X-Content-Type-Options': 'nosniff',
  Connection: 'close',
};

/** refuseUpgrade says the same to a client that wants to leave HTTP, while it is still HTTP (P-041). */
export function refuseUpgrade(socket: Duplex): void {
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}\r\n`);
  socket.end(`HTTP/1.1 429 Too Many Requests\r\n${head.join('')}\r\n${body}`);
}

/** answerRetryAfter tells the client to come back later, on another connection (A-122, P-019). */
export function answerRetryAfter(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  response.writeHead(429, headers);
  response.end(body);
}
