// Sends a response that lameduck itself has created.
import type { Answer, HttpResponse } from '../../message.ts';
import { ignoreResets } from './socket-errors.ts';

/**
 * sendWhole sends the status, the headers and the body of `answer`, adds a `Content-Length`, and ends the response. The
 * response to a HEAD request has no body. If the program has set `rejectNonStandardBodyWrites`, Node throws an error for
 * a body in such a response.
 */
export function sendWhole(response: HttpResponse, { status, headers, body }: Answer): void {
  ignoreResets(response.req.socket);
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) });
  response.end(response.req.method === 'HEAD' ? undefined : body);
}
