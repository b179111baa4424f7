// Makes lameduck answer probes that a test sends with `app.inject()`. A request of `app.inject()` uses no socket, so no
// server emits an event for it (P-031).
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Traffic } from '../http/traffic.ts';

type Inject = (this: FastifyInstance, options?: unknown, callback?: unknown) => unknown;
type Dispatch = (this: unknown, request: IncomingMessage, response: ServerResponse) => void;
type Callback = (error: unknown, response?: unknown) => void;

// Injection is the object that `app.inject()` returns. A later call of `dispatch` sends the request.
interface Injection {
  dispatch: Dispatch;
  end(callback: Callback): void;
}

/**
 * answerInjectedProbes makes `app.inject('/readyz')` return the same response as a probe over a socket. Neither hooks
 * nor routes are called. A Fastify hook could also answer probes, but would cost time in every request.
 */
export function answerInjectedProbes(app: FastifyInstance, traffic: Pick<Traffic, 'onRequest'>): void {
  // The code below calls this function with the right `this`, so the method can be stored in a variable.
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
        // As Fastify does, answer an injected request only after the application is ready.
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
  // While the application is closing, `app.inject()` returns a promise that rejects.
  (injection as Promise<unknown>).then(
    (response) => process.nextTick(callback, undefined, response),
    (error: unknown) => process.nextTick(callback, error),
  );
}
