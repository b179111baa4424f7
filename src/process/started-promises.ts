// Follows the work that a function of the program starts without returning its promise, as in `() => void stop()`.
import v8 from 'node:v8';

/** Followed is the work of one call. */
export interface Followed {
  /** `stop()` ends the time in which new promises are followed. */
  readonly stop: () => void;
  /** `forget()` does the same, and forgets the promises that were followed so far. */
  readonly forget: () => void;
}

/**
 * followPromises calls `begin`, and follows all promises that are created until `stop()` is called. When all of them have
 * settled, it calls the function that `begin` has returned.
 *
 * `promise.then()` would mark a rejection as handled, and would so hide an error of the program. Therefore
 * followPromises observes the promises with V8's promise hooks, which Bun lacks.
 */
export function followPromises(begin: () => () => void): Followed {
  const { promiseHooks } = v8 as Partial<typeof v8>;
  if (promiseHooks === undefined) return { stop: () => undefined, forget: () => undefined };
  const end = begin();
  const pending = new Set<Promise<unknown>>();
  let isOpen = true;
  const stopInit = promiseHooks.onInit((promise) => pending.add(promise)) as () => void;
  const endIfSettled = (): void => {
    if (isOpen || pending.size > 0) return;
    stopSettled();
    end();
  };
  const stopSettled = promiseHooks.onSettled((promise) => {
    if (pending.delete(promise)) endIfSettled();
  }) as () => void;
  const stop = (): void => {
    if (!isOpen) return;
    isOpen = false;
    stopInit();
    endIfSettled();
  };
  return {
    stop,
    forget: () => {
      pending.clear();
      stop();
    },
  };
}
