// One health check: running it inside its limit, and deciding whether it passed.
import { wait, type Clock } from '../clock.ts';
import { LameduckError, messageOf } from '../errors.ts';
import { formatDuration } from '../settings/duration.ts';

/** CheckFunction fails by throwing, rejecting, taking too long or returning false; everything else passes (P-083). */
export type CheckFunction = () => unknown;

/** Check is a function with the name under which it is reported. */
export interface Check {
  readonly name: string;
  readonly run: CheckFunction;
}

/** CheckResult is the outcome of one run: undefined is a pass, an error is why it failed. */
export type CheckResult = Error | undefined;

/** runCheck answers at once when the check does, and otherwise within `limit` milliseconds (P-081). It never rejects. */
export function runCheck(check: Check, clock: Clock, limit: number): CheckResult | Promise<CheckResult> {
  let answer: unknown;
  try {
    answer = check.run();
  } catch (error) {
    return checkFailed(check, error);
  }
  if (!isThenable(answer)) return resultOf(check, answer);

  const isOver = new AbortController();
  const run = Promise.resolve(answer).then(
    (value) => resultOf(check, value),
    (error: unknown) => checkFailed(check, error),
  );
  const timeout = wait(clock, limit, isOver.signal).then(() =>
    isOver.signal.aborted ? undefined : checkFailed(check, `no answer within ${formatDuration(limit)}`),
  );
  return Promise.race([run, timeout]).finally(() => {
    isOver.abort();
  });
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

function resultOf(check: Check, value: unknown): CheckResult {
  return value === false ? checkFailed(check, 'it returned false') : undefined;
}

function checkFailed(check: Check, cause: unknown): Error {
  return new LameduckError('LAMEDUCK_ERR_CHECK_FAILED', `check "${check.name}" failed: ${messageOf(cause)}`, { cause });
}
