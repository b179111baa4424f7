// Handles `Expect: 100-continue` during a shutdown. By default, Node sends the response 100 before lameduck can refuse
// the request (P-024).
import type { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Server } from '../server.ts';
import { ignoreResets } from '../responses/socket-errors.ts';

/**
 * withholdContinue prevents Node from sending a 100 on its own, which Node does if the event `checkContinue` has no
 * listener. lameduck adds no listener, because the program would see that listener. Instead,
 * `server.listenerCount('checkContinue')` returns 1.
 */
export function withholdContinue(server: Server): void {
  const emitter: EventEmitter = server;
  const listenerCount = emitter.listenerCount.bind(emitter);
  emitter.listenerCount = (event, listener) =>
    event === 'checkContinue' && listener === undefined ? 1 : listenerCount(event, listener);
}

/**
 * For a request with the header `Expect`, `continued()` returns the name of the event that the caller must emit. If the
 * program does not listen for `checkContinue`, `continued()` sends the response `100 Continue` and returns the name
 * `request`.
 */
export function continued(server: Server, event: string | symbol, [, response]: readonly unknown[]): string | symbol {
  if (event !== 'checkContinue' || server.listeners(event).length > 0) return event;
  const answer = response as ServerResponse;
  ignoreResets(answer.req.socket);
  answer.writeContinue();
  return 'request';
}
