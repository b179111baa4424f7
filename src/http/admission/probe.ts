// Sends the answer to a probe over HTTP.
import type { Answer, HttpRequest, HttpResponse } from '../../message.ts';
import { sendWhole } from '../responses/send-whole.ts';

/** answerProbe sends the response to a probe as soon as all checks have ended. */
export function answerProbe(request: HttpRequest, response: HttpResponse, answer: Answer | Promise<Answer>): void {
  request.resume();
  if (answer instanceof Promise)
    void answer.then((settled) => {
      sendWhole(response, settled);
    });
  else sendWhole(response, answer);
}
