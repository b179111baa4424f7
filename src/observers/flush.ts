// Flushing a program's own logger, and knowing when that is done.
import { isThenable } from '../thenable.ts';
import type { Logger } from './logger.ts';

/**
 * flushOf returns the function that flushes a logger, or undefined for one that cannot be flushed. It is done when the
 * logger's `flush` returns, or its promise resolves; with one that has called back before, as pino's does, when it calls
 * back.
 */
export function flushOf(logger: Logger): (() => unknown) | undefined {
  const { flush } = logger as { readonly flush?: unknown };
  if (typeof flush !== 'function') return undefined;
  if (flush.length === 0) return () => logger.flush?.();
  // What the parameter is shows only when it is called: with any other than a callback nothing would ever be done.
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
