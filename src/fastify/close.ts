// Runs Fastify's own `close` after the last request and after every other destroy hook. Any earlier, it would answer clients and
// probes with 503, and some versions destroy requests in flight (P-115).
import type { FastifyInstance } from 'fastify';
import type { Lameduck } from '../handle.ts';

type Close = (this: FastifyInstance, callback?: unknown) => unknown;
type Callback = (...args: unknown[]) => unknown;

/**
 * replaceClose makes `app.close()` begin or join the shutdown. `app.close()` ends when Fastify's own close has ended. That one is
 * the destroy hook `fastify`: it is registered first, and so called last (P-102).
 */
export function replaceClose(app: FastifyInstance, handle: Lameduck): void {
  // Called below with its `this`.
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
    // Fastify reports the error itself.
    if (Boolean(callback) && !isCallback) return close.call(this, callback);
    // Fastify's close may still run after the hook's limit.
    const whenClosed = handle.shutdown('app.close()').then(closeFastify);
    if (!isCallback) return whenClosed;
    // Fastify chooses the arguments of a callback by its number of parameters.
    const args = callback.length < 3 ? [done] : [this, done];
    void whenClosed.then(
      () => (callback as Callback)(undefined, ...args),
      (error: unknown) => (callback as Callback)(error, ...args),
    );
    return this;
  };
  app.close = replacement as FastifyInstance['close'];
}

// The promise of a call with a callback is not used.
function done(): void {}
