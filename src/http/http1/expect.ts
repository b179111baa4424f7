// `Expect: 100-continue` during a shutdown: by default, Node sends the 100 before lameduck can refuse the request (P-024).
import type { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Server } from '../server.ts';
import { ignoreResets } from '../responses/socket-errors.ts';

/**
 * withholdContinue keeps Node from sending a 100 on its own, which it does if `checkContinue` has no listener. A listener of
 * lameduck's would be visible to the program, so the server only reports that there is one.
 */
export function withholdContinue(server: Server): void {
  const emitter: EventEmitter = server;
  const listenerCount = emitter.listenerCount.bind(emitter);
  emitter.listenerCount = (event, listener) =>
    event === 'checkContinue' && listener === undefined ? 1 : listenerCount(event, listener);
}

/** continued returns the event to emit. If the program does not listen for `checkContinue`, continued sends the 100. */
export function continued(server: Server, event: string | symbol, [, response]: readonly unknown[]): string | symbol {
  if (event !== 'checkContinue' || server.listeners(event).length > 0) return event;
  const answer = response as ServerResponse;
  ignoreResets(answer.req.socket);
  answer.writeContinue();
  return 'request';
}
