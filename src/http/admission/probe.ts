// The answer to a probe, over HTTP.
import type { Answer, Request, Response } from '../../message.ts';
import { sendWhole } from '../responses/send-whole.ts';

/** answerProbe sends the answer as soon as it is known. */
export function answerProbe(request: Request, response: Response, answer: Answer | Promise<Answer>): void {
  request.resume();
  if (answer instanceof Promise)
    void answer.then((settled) => {
      sendWhole(response, settled);
    });
  else sendWhole(response, answer);
}
