// Flushes the program's own logger and waits until the flush is complete.
import { isThenable } from '../thenable.ts';
import type { Logger } from './logger.ts';

/**
 * flushOf returns a function that flushes the logger, or undefined if the logger has no `flush`. A flush is complete
 * when the promise of `flush` resolves, or when `flush` returns without a promise. There is one exception: some
 * loggers, such as pino, call the callback that is passed to `flush`. After a logger has once called such a callback,
 * each later flush is complete when its callback is called.
 */
export function flushOf(logger: Logger): (() => unknown) | undefined {
  const { flush } = logger as { readonly flush?: unknown };
  if (typeof flush !== 'function') return undefined;
  if (flush.length === 0) return () => logger.flush?.();
  // The `flush` of the program's logger may never call the callback that it receives. So wait for the callback only if
  // `flush` has called an earlier callback.
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
