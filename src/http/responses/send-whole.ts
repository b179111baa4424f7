// Sending an answer that is known as a whole.
import type { Answer, Response } from '../../message.ts';
import { ignoreResets } from './socket-errors.ts';

/** sendWhole sends an answer with its length, and ends it. */
export function sendWhole(response: Response, { status, headers, body }: Answer): void {
  ignoreResets(response.req.socket);
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}
