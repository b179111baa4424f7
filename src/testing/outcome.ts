// Calls the function `work` that a test passes to `runShutdown`, and waits until `work` has ended. Then decides whether
// `runShutdown` resolves or rejects, and with which value.
import { systemClock, timedOut, withTimeout } from '../clock.ts';
import { LameduckError, messageOf, quoted } from '../errors.ts';
import type { ShutdownRecord } from '../observer.ts';
import { formatDuration } from '../settings/duration.ts';

/** Outcome is the result of `work`, or the error that it threw. */
export type Outcome<Result> = { readonly result: Result } | { readonly error: unknown };

/**
 * `settle()` calls `work` and waits until it ends. It resolves with the value that `work` returned or with the error
 * that `work` threw. It never rejects.
 */
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

/** isDoneWithin tells whether a promise resolves within a limit in milliseconds. The promise must never reject. */
export async function isDoneWithin(milliseconds: number, promise: Promise<unknown>): Promise<boolean> {
  return (await withTimeout(systemClock, promise, milliseconds)) !== timedOut;
}

/**
 * resultOf returns the result of `work`, or throws the error of `work`. If the shutdown has cut a request, resultOf
 * throws LAMEDUCK_ERR_WORK_FAILED instead. The error of the HTTP client in `work` would not name the cause.
 */
export function resultOf<Result>(outcome: Outcome<Result>, { unfinished }: Pick<ShutdownRecord, 'unfinished'>): Result {
  if ('result' in outcome) return outcome.result;
  const { error } = outcome;
  if (unfinished.length > 0) {
    const why = error instanceof Error ? messageOf(error) : quoted(error);
    throw workFailed(`the function \`work\` failed (${why}) after the shutdown had cut ${listed(unfinished)}`, error);
  }
  if (!isRefusal(error))
    throw error instanceof Error ? error : workFailed(`the function \`work\` threw ${quoted(error)}`, error);
  throw workFailed(
    `a request of \`work\` was refused, because the server had already stopped listening (${messageOf(error)}): send all requests at the same time,` +
      ' or set `during` to the path of the last request, so that the shutdown begins with the last request',
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

/** workFailed creates the error that says why `work` failed. */
export function workFailed(why: string, cause?: unknown): LameduckError {
  return new LameduckError('LAMEDUCK_ERR_WORK_FAILED', `runShutdown(): ${why}`, { cause });
}

// Tells whether an error says that the connection was refused. It also checks nested errors: HTTP clients wrap the
// error of the socket, and a client that has tried several addresses throws an AggregateError.
function isRefusal(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > 5) return false;
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: unknown };
  if (code === 'ECONNREFUSED' || isRefusal(cause, depth + 1)) return true;
  return Array.isArray(errors) && errors.some((one) => isRefusal(one, depth + 1));
}
