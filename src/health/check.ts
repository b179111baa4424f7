// One health check: running it inside its limit, once for all who ask meanwhile, and deciding whether it passed.
import { wait, type Clock } from '../clock.ts';
import { LameduckError, messageOf } from '../errors.ts';
import { formatDuration } from '../settings/duration.ts';
import { isThenable } from '../thenable.ts';

/** CheckContext is what a check is called with. */
export interface CheckContext {
  /** Aborted when the limit of the check has passed, so that what it waits for can be given up. */
  readonly signal: AbortSignal;
}

/** CheckFunction fails by throwing, rejecting, taking too long or returning false; everything else passes (P-083). */
export type CheckFunction = (context: CheckContext) => unknown;

/** CheckOptions is what may be said of a check when it is added. */
export interface CheckOptions {
  /** A name under which a probe can exclude this check together with others. */
  readonly group?: string;
}

/** CheckResult is the outcome of one run: undefined is a pass, an error is why it failed. */
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
   * run answers at once when the check does, and otherwise within its limit (P-081). Whoever asks while a run is under way
   * gets its result (P-082). It never rejects.
   */
  run(): CheckResult | Promise<CheckResult> {
    if (this.#running !== undefined) return this.#running;
    const result = this.#begin();
    if (!(result instanceof Promise)) return result;
    // Over before anybody is told, so that a probe behind the answer to another finds a run of its own.
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
    const isOver = new AbortController();
    const run = new Promise((resolve) => {
      resolve(answer);
    }).then(
      (value) => this.#resultOf(value),
      (error: unknown) => this.#failed(error),
    );
    const timeout = wait(clock, checkTimeout, isOver.signal).then(() => {
      if (isOver.signal.aborted) return undefined;
      const failure = this.#failed(`no answer within ${formatDuration(checkTimeout)}`);
      timesUp.abort(failure);
      return failure;
    });
    return Promise.race([run, timeout]).finally(() => {
      isOver.abort();
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

// Each change of a check is a line of the log, which a server's whole answer or a page of HTML must not fill.
const longestReason = 1_000;

function bounded(reason: string): string {
  if (reason.length <= longestReason) return reason;
  const cut = `${String(longestReason)} of ${String(reason.length)} characters`;
  return `${reason.slice(0, longestReason)}… (${cut})`;
}
