// What became of the work that a test does on a server that is shutting down, and waiting for it no longer than allowed.
import { systemClock, wait } from '../clock.ts';
import { LameduckError, messageOf, quoted } from '../errors.ts';
import type { ShutdownRecord } from '../observer.ts';
import { formatDuration } from '../settings/duration.ts';

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
 * unless nobody could read from that what has happened, as from a request that fails because the shutdown cut it.
 */
export function resultOf<Result>(outcome: Outcome<Result>, { unfinished }: Pick<ShutdownRecord, 'unfinished'>): Result {
  if ('result' in outcome) return outcome.result;
  const { error } = outcome;
  if (unfinished.length > 0) {
    const why = error instanceof Error ? messageOf(error) : quoted(error);
    throw workFailed(`it failed (${why}), when the shutdown had cut ${listed(unfinished)}`, error);
  }
  if (!isRefusal(error)) throw error instanceof Error ? error : workFailed(`it threw ${quoted(error)}`, error);
  throw workFailed(
    `a connection was refused, because the listener had closed (${messageOf(error)}): send all requests at once,` +
      ' or name in `during` the path of the last request, with which the shutdown begins',
    error,
  );
}

const longestList = 10;

function listed(unfinished: ShutdownRecord['unfinished']): string {
  const shown = unfinished
    .slice(0, longestList)
    .map(({ method, route, ageMs }) => `${method} ${quoted(route)} after ${formatDuration(ageMs)}`);
  if (unfinished.length > longestList) shown.push(`and ${String(unfinished.length - longestList)} more`);
  const requests = unfinished.length === 1 ? 'a request' : `${String(unfinished.length)} requests`;
  return `${requests}: ${shown.join(', ')}`;
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
