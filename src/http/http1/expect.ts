// `Expect: 100-continue` during a shutdown: Node would say 100 before anybody could refuse the request (P-024).
import type { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Server } from '../server.ts';
import { ignoreResets } from '../responses/socket-errors.ts';

/**
 * withholdContinue makes a server ask the seam first: Node says 100 by itself only where nobody listens for
 * `checkContinue`, and a listener, which the program could see, is not needed for that.
 */
export function withholdContinue(server: Server): void {
  const emitter: EventEmitter = server;
  const listenerCount = emitter.listenerCount.bind(emitter);
  emitter.listenerCount = (event, listener) =>
    event === 'checkContinue' && listener === undefined ? 1 : listenerCount(event, listener);
}

/** continued returns the event to go on with: where the program does not decide who gets a 100, it is said here. */
export function continued(server: Server, event: string | symbol, [, response]: readonly unknown[]): string | symbol {
  if (event !== 'checkContinue' || server.listeners(event).length > 0) return event;
  const answer = response as ServerResponse;
  ignoreResets(answer.req.socket);
  answer.writeContinue();
  return 'request';
}
