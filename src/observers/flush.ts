// Flushing a program's own logger, and knowing when that is done.
import type { Logger } from './logger.ts';

/**
 * flushOf returns the function that flushes a logger, or undefined for one that cannot be flushed. It is done when the
 * logger calls back, if its `flush` takes a callback as pino's does; otherwise when it returns, or its promise resolves.
 */
export function flushOf(logger: Logger): (() => unknown) | undefined {
  const { flush } = logger as { readonly flush?: unknown };
  if (typeof flush !== 'function') return undefined;
  if (flush.length === 0) return () => logger.flush?.();
  return () =>
    new Promise<void>((resolve, reject) => {
      const onDone = (error?: unknown): void => {
        if (error === undefined || error === null) resolve();
        else reject(new Error('flush failed', { cause: error }));
      };
      const outcome: unknown = logger.flush?.(onDone);
      // The parameter may be something else than a callback, which is never called then.
      if (isThenable(outcome)) resolve(outcome as PromiseLike<void>);
    });
}

function isThenable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
