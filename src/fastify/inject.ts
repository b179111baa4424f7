// Requests that are injected in process: `app.inject()` passes neither a socket nor the seam (P-031).
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Traffic } from '../http/traffic.ts';

type Inject = (this: FastifyInstance, options?: unknown, callback?: unknown) => unknown;
type Dispatch = (this: unknown, request: IncomingMessage, response: ServerResponse) => void;
type Callback = (error: unknown, response?: unknown) => void;

// What `inject` returns before its request has been sent, and who will be handed the request.
interface Injection {
  dispatch: Dispatch;
  end(callback: Callback): void;
}

/**
 * answerInjectedProbes lets `app.inject('/readyz')` be answered as on a socket, ahead of every hook and route. A hook could
 * do it too, but every request would pay for it.
 */
export function answerInjectedProbes(app: FastifyInstance, traffic: Pick<Traffic, 'onRequest'>): void {
  // Called below on the instance that it is asked of.
  // eslint-disable-next-line @typescript-eslint/unbound-method
  const inject = app.inject as Inject;
  let isLoaded = false;
  const replacement: Inject = function (options, callback) {
    const injection = inject.call(this, options);
    if (isInjection(injection)) {
      const { dispatch } = injection;
      injection.dispatch = function (request, response) {
        const goOn = (error?: unknown): void => {
          isLoaded = true;
          const isOurs = !(error instanceof Error) && traffic.onRequest(request, response, 'request', () => false);
          if (!isOurs) dispatch.call(this, request, response);
        };
        // As any request, one for a probe makes sure that the application is there.
        if (isLoaded) goOn();
        else app.ready(goOn);
      };
    }
    if (typeof callback !== 'function') return injection;
    callBack(injection, callback as Callback);
    return undefined;
  };
  app.inject = replacement as FastifyInstance['inject'];
}

function isInjection(given: unknown): given is Injection {
  const { dispatch, end } = given as Partial<Injection>;
  return typeof dispatch === 'function' && typeof end === 'function';
}

function callBack(injection: unknown, callback: Callback): void {
  if (isInjection(injection)) {
    injection.end(callback);
    return;
  }
  // Refused, since the application is closing.
  (injection as Promise<unknown>).then(
    (response) => process.nextTick(callback, undefined, response),
    (error: unknown) => process.nextTick(callback, error),
  );
}
