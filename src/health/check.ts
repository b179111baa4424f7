// One health check: it runs within its limit, once for all probes that arrive meanwhile.
import { timedOut, withTimeout, type Clock } from '../clock.ts';
import { LameduckError, messageOf } from '../errors.ts';
import { formatDuration } from '../settings/duration.ts';
import { isThenable } from '../thenable.ts';

/** CheckContext is the argument of a check. */
export interface CheckContext {
  /** Aborted when the limit of the check has passed. Pass it to `fetch` or a query, so that they end too. */
  readonly signal: AbortSignal;
}

/** CheckFunction fails if it throws, rejects, takes too long or returns `false`. Every other result passes. */
export type CheckFunction = (context: CheckContext) => unknown;

/** CheckOptions are the options of a check. */
export interface CheckOptions {
  /** The name of a group: `?exclude=<group>` excludes all its checks from a probe. */
  readonly group?: string;
}

/** CheckResult is the outcome of one run: undefined if the check passed, else the error. */
export type CheckResult = Error | undefined;

/** CheckLimits is how long a check may take, in milliseconds of a clock. */
export interface CheckLimits {
  readonly clock: Clock;
  readonly checkTimeout: number;
}

/** Check is a function with the name, and perhaps the group, under which it is reported. */
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
   * run returns the result at once if the check is synchronous, else within its limit (P-081). Calls during a run share its
   * result (P-082). The promise never rejects.
   */
  run(): CheckResult | Promise<CheckResult> {
    if (this.#running !== undefined) return this.#running;
    const result = this.#begin();
    if (!(result instanceof Promise)) return result;
    // The run is over before its result is used, so that a later probe starts a run of its own.
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
    return value === false ? this.#failed('it returned false') : undefined;
  }

  #failed(cause: unknown): Error {
    const message = `check "${this.name}" failed: ${bounded(messageOf(cause))}`;
    return new LameduckError('LAMEDUCK_ERR_CHECK_FAILED', message, { cause });
  }
}

// Longest reason in a log line, in characters. An error message can be a whole page of HTML.
const longestReason = 1_000;

function bounded(reason: string): string {
  if (reason.length <= longestReason) return reason;
  const cut = `${String(longestReason)} of ${String(reason.length)} characters`;
  return `${reason.slice(0, longestReason)}… (${cut})`;
}
