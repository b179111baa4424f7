// One health check. Each run of the check has a time limit. Probes that arrive during a run share the result of that
// run.
import { timedOut, withTimeout, type Clock } from '../clock.ts';
import { LameduckError, messageOf } from '../errors.ts';
import { formatDuration } from '../settings/duration.ts';
import { isThenable } from '../thenable.ts';

/** CheckContext is the argument of a check's function. */
export interface CheckContext {
  /**
   * `signal` is aborted when the limit of the check has passed. Pass it to `fetch` or to a database query, so that the
   * request or query ends too.
   */
  readonly signal: AbortSignal;
}

/**
 * CheckFunction is the function of a health check. The check fails if the function throws, rejects, exceeds its limit
 * or returns `false`. Any other result passes.
 */
export type CheckFunction = (context: CheckContext) => unknown;

/** CheckOptions puts a health check into a group, which a probe can exclude. */
export interface CheckOptions {
  /**
   * `group` is the name of the check's group. `?exclude=<group>` excludes all checks of the group from a probe. By
   * default, a check has no group.
   */
  readonly group?: string;
}

/** CheckResult is the result of one run of a health check: undefined if the check passed, otherwise the error. */
export type CheckResult = Error | undefined;

/**
 * CheckLimits contains the clock and the limit of a check. `checkTimeout` is how long one run may take, in
 * milliseconds.
 */
export interface CheckLimits {
  readonly clock: Clock;
  readonly checkTimeout: number;
}

/** Check is a health check with its name and, if it has one, its group. */
export class Check {
  readonly name: string;
  readonly group: string | undefined;
  readonly #function: CheckFunction;
  readonly #limits: CheckLimits;
  #running: Promise<CheckResult> | undefined;

  constructor(name: string, run: CheckFunction, limits: CheckLimits, { group }: CheckOptions = {}) {
    this.name = name;
    this.group = group;
    this.#function = run;
    this.#limits = limits;
  }

  /**
   * `run()` runs the check. For a synchronous check, it returns the result. For an asynchronous check, it returns a
   * promise that resolves within `checkTimeout` (P-081) and never rejects. A call during a run gets the result of that
   * run (P-082).
   */
  run(): CheckResult | Promise<CheckResult> {
    if (this.#running !== undefined) return this.#running;
    const result = this.#begin();
    if (!(result instanceof Promise)) return result;
    // When the check has ended, clear `#running` before the callers get the result. A probe that arrives later then
    // runs the check again.
    this.#running = result.then((settled) => {
      this.#running = undefined;
      return settled;
    });
    return this.#running;
  }

  #begin(): CheckResult | Promise<CheckResult> {
    const timesUp = new AbortController();
    let answer: unknown;
    try {
      answer = this.#function({ signal: timesUp.signal });
      if (!isThenable(answer)) return this.#resultOf(answer);
    } catch (error) {
      return this.#failed(error);
    }
    const { clock, checkTimeout } = this.#limits;
    const run = new Promise((resolve) => {
      resolve(answer);
    }).then(
      (value) => this.#resultOf(value),
      (error: unknown) => this.#failed(error),
    );
    return withTimeout(clock, run, checkTimeout).then((result) => {
      if (result !== timedOut) return result;
      const failure = this.#failed(`no answer within ${formatDuration(checkTimeout)}`);
      timesUp.abort(failure);
      return failure;
    });
  }

  #resultOf(value: unknown): CheckResult {
    return value === false ? this.#failed('the check returned false') : undefined;
  }

  #failed(cause: unknown): Error {
    const message = `check "${this.name}" failed: ${bounded(messageOf(cause))}`;
    return new LameduckError('LAMEDUCK_ERR_CHECK_FAILED', message, { cause });
  }
}

// The maximum number of characters in a log line for the reason why a check failed. An error message can be a whole
// page of HTML.
const longestReason = 1_000;

function bounded(reason: string): string {
  if (reason.length <= longestReason) return reason;
  const cut = `the first ${String(longestReason)} of ${String(reason.length)} characters`;
  return `${reason.slice(0, longestReason)}… (${cut})`;
}
