// One request inside its time.
import { timedOut, withTimeout, type Clock } from '../clock.ts';
import type { Answer } from './answer.ts';
import type { LeaseApi } from './api-client.ts';
import type { Request } from './state.ts';

/**
 * Sends a request and resolves with its answer, or with a failure at its timeout. An answer that arrives after the
 * timeout is ignored, and its connection is not used again. The promise never rejects.
 */
export async function ask(api: LeaseApi, request: Request, clock: Clock): Promise<Answer> {
  const timesUp = new AbortController();
  const answer = await withTimeout(clock, api.send(request, timesUp.signal), request.timeout);
  if (answer !== timedOut) return answer;
  timesUp.abort();
  const problem = { kind: 'unreachable', message: `${request.method}: no answer in time` } as const;
  return { reply: { kind: 'failed', isRejected: false }, problem };
}
