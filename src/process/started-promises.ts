// Follows the work that a signal listener starts without returning its promise, as in `() => void stop()`.
import v8 from 'node:v8';

/**
 * callAndFollow calls `call` and returns what `call` returns. It calls `begin` first, and the function that `begin`
 * returns when all promises that `call` has created are settled. If `call` returns a promise, callAndFollow calls that
 * function at once, because its caller awaits the promise.
 *
 * `promise.then()` would mark the promise's rejection as handled, and would so hide an error of the program. Therefore
 * callAndFollow observes the promises with V8's promise hooks, which Bun lacks.
 */
export function callAndFollow(call: () => unknown, begin: () => () => void): unknown {
  const { promiseHooks } = v8 as Partial<typeof v8>;
  if (promiseHooks === undefined) return call();
  const end = begin();
  const pending = new Set<Promise<unknown>>();
  const stopInit = promiseHooks.onInit((promise) => pending.add(promise)) as () => void;
  const endIfSettled = (): void => {
    if (pending.size > 0) return;
    stopSettled();
    end();
  };
  let isCalling = true;
  const stopSettled = promiseHooks.onSettled((promise) => {
    if (pending.delete(promise) && !isCalling) endIfSettled();
  }) as () => void;
  try {
    const outcome = call();
    if (isThenable(outcome)) pending.clear();
    return outcome;
  } finally {
    isCalling = false;
    stopInit();
    endIfSettled();
  }
}

function isThenable(value: unknown): boolean {
  return typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function';
}
