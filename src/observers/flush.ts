// Flushes the program's own logger, and waits until the flush is done.
import { isThenable } from '../thenable.ts';
import type { Logger } from './logger.ts';

/**
 * flushOf returns a function that flushes the logger, or undefined if the logger has no `flush`. If `flush` has called its
 * callback before, as pino's does, the flush is done when it calls the callback. Otherwise the flush is done when its
 * promise resolves, or when `flush` returns if there is no promise.
 */
export function flushOf(logger: Logger): (() => unknown) | undefined {
  const { flush } = logger as { readonly flush?: unknown };
  if (typeof flush !== 'function') return undefined;
  if (flush.length === 0) return () => logger.flush?.();
  // The parameter of `flush` may be something else than a callback. Wait for the callback only if it has been called once.
  let hasCalledBack = false;
  return () =>
    new Promise((resolve, reject) => {
      const onDone = (error?: unknown): void => {
        hasCalledBack = true;
        if (error === undefined || error === null) resolve(undefined);
        else reject(new Error('flush failed', { cause: error }));
      };
      const outcome: unknown = logger.flush?.(onDone);
      if (isThenable(outcome)) resolve(outcome);
      else if (!hasCalledBack) resolve(undefined);
    });
}
