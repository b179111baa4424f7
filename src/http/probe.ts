// The answer to a probe, over HTTP.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer } from '../health/endpoint.ts';

/** answerProbe sends the answer as soon as it is known. */
export function answerProbe(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer | Promise<Answer>,
): void {
  request.resume();
  if (answer instanceof Promise)
    void answer.then((settled) => {
      send(response, settled);
    });
  else send(response, answer);
}

function send(response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}
