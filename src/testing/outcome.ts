// What became of the work that a test does on a server that is shutting down, and waiting for it no longer than allowed.
import { systemClock, wait } from '../clock.ts';
import { LameduckError, messageOf, quoted } from '../errors.ts';

/** Outcome is what a work returned or what it threw. */
export type Outcome<Result> = { readonly result: Result } | { readonly error: unknown };

/** settle does a work and resolves with what became of it. It never rejects. */
export async function settle<Result>(
  work: (origin: string) => Result,
  origin: string,
): Promise<Outcome<Awaited<Result>>> {
  try {
    return { result: await work(origin) };
  } catch (error) {
    return { error };
  }
}

/** isDoneWithin tells whether a promise that never rejects is resolved within so many milliseconds. */
export async function isDoneWithin(milliseconds: number, promise: Promise<unknown>): Promise<boolean> {
  const isOver = new AbortController();
  const isDone = await Promise.race([
    promise.then(() => true),
    wait(systemClock, milliseconds, isOver.signal).then(() => false),
  ]);
  isOver.abort();
  return isDone;
}

/**
 * resultOf returns what a work returned, and throws what it threw: the error itself, since a test shows what it expected,
 * unless nobody could read from that what has happened.
 */
export function resultOf<Result>(outcome: Outcome<Result>): Result {
  if ('result' in outcome) return outcome.result;
  const { error } = outcome;
  if (!isRefusal(error)) throw error instanceof Error ? error : workFailed(`it threw ${quoted(error)}`, error);
  throw workFailed(
    `a connection was refused, since the listener had closed (${messageOf(error)}): allowed is to ask for everything at` +
      ' once, or to name in `during` the path of the last request, with which the shutdown begins',
    error,
  );
}

/** workFailed is the error of a work that is to blame itself. */
export function workFailed(why: string, cause?: unknown): LameduckError {
  return new LameduckError('LAMEDUCK_ERR_WORK_FAILED', `the work of runShutdown(): ${why}`, { cause });
}

// Clients wrap it, and one that has tried several addresses has several.
function isRefusal(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > 5) return false;
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: unknown };
  if (code === 'ECONNREFUSED' || isRefusal(cause, depth + 1)) return true;
  return Array.isArray(errors) && errors.some((one) => isRefusal(one, depth + 1));
}
