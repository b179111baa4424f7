// The answer to a probe, over HTTP.
import type { Answer } from '../health/endpoint.ts';
import type { Request, Response } from '../message.ts';

/** answerProbe sends the answer as soon as it is known. */
export function answerProbe(request: Request, response: Response, answer: Answer | Promise<Answer>): void {
  request.resume();
  if (answer instanceof Promise)
    void answer.then((settled) => {
      send(response, settled);
    });
  else send(response, answer);
}

function send(response: Response, { status, headers, body }: Answer): void {
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}
