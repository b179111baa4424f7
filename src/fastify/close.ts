// Fastify's own `close`, put behind the last request and every other destroy hook: called any earlier it answers clients
// and probes with 503, and some versions of it destroy what is in flight (P-115).
import type { FastifyInstance } from 'fastify';
import type { Lameduck } from '../handle.ts';

type Close = (this: FastifyInstance, callback?: unknown) => unknown;
type Callback = (...args: unknown[]) => unknown;

/**
 * replaceClose lets `app.close()` begin the shutdown, or join it, and end when Fastify's own close has ended. That is the
 * destroy hook `fastify`: the first that is registered, and so the last that is called (P-102).
 */
export function replaceClose(app: FastifyInstance, handle: Lameduck): void {
  // Called below on the instance that it is asked of.
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
    // Fastify says itself what is wrong with it.
    if (Boolean(callback) && !isCallback) return close.call(this, callback);
    // What the hook had no time for may still go on.
    const whenClosed = handle.shutdown('app.close()').then(closeFastify);
    if (!isCallback) return whenClosed;
    // What Fastify gives a callback depends on what it asks for.
    const args = callback.length < 3 ? [done] : [this, done];
    void whenClosed.then(
      () => (callback as Callback)(undefined, ...args),
      (error: unknown) => (callback as Callback)(error, ...args),
    );
    return this;
  };
  app.close = replacement as FastifyInstance['close'];
}

// Nobody waits for a callback.
function done(): void {}
