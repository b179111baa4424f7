// Runs the original `close` of Fastify after the last request and after every other destroy hook. If it ran earlier,
// Fastify would answer clients and probes with 503. Some versions of Fastify would also destroy requests in flight
// (P-115).
import type { FastifyInstance } from 'fastify';
import type { Lameduck } from '../handle.ts';

type Close = (this: FastifyInstance, callback?: unknown) => unknown;
type Callback = (...args: unknown[]) => unknown;

/**
 * replaceClose makes `app.close()` begin the shutdown, or join a shutdown in progress. `app.close()` resolves when
 * Fastify's own close has ended. The destroy hook `fastify` calls Fastify's own close. Destroy hooks run in reverse
 * order of registration, so `fastify`, which is registered first, runs last (P-102).
 */
export function replaceClose(app: FastifyInstance, handle: Lameduck): void {
  // `close` is called with `app` as its `this`.
  // eslint-disable-next-line @typescript-eslint/unbound-method
  const close = app.close as Close;
  let closed: Promise<unknown> | undefined;
  const closeFastify = (): Promise<unknown> => {
    closed ??= close.call(app) as Promise<unknown>;
    return closed;
  };
  handle.addDestroyHook('fastify', closeFastify);

  const replacement: Close = function (callback) {
    const isCallback = typeof callback === 'function';
    // If the caller passed something else than a function as the callback, let Fastify report the mistake.
    if (Boolean(callback) && !isCallback) return close.call(this, callback);
    // If the destroy hook `fastify` has timed out, Fastify's original `close` may still be running. `app.close()`
    // therefore waits until the original `close` has ended.
    const whenClosed = handle.shutdown('app.close()').then(closeFastify);
    if (!isCallback) return whenClosed;
    // Like Fastify, choose the arguments of the callback by the number of its parameters.
    const args = callback.length < 3 ? [done] : [this, done];
    void whenClosed.then(
      () => (callback as Callback)(undefined, ...args),
      (error: unknown) => (callback as Callback)(error, ...args),
    );
    return this;
  };
  app.close = replacement as FastifyInstance['close'];
}

// Fastify passes a function `done` to the callback of `app.close()`, so lameduck passes one too. `done` does nothing,
// because the shutdown does not wait for its call.
function done(): void {}
