// Sends a response that lameduck itself has created.
import type { Answer, HttpResponse } from '../../message.ts';
import { ignoreResets } from './socket-errors.ts';

/** sendWhole sends status, headers and body of an answer, with its `Content-Length`, and ends the response. */
export function sendWhole(response: HttpResponse, { status, headers, body }: Answer): void {
  ignoreResets(response.req.socket);
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}
