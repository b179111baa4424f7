// One hook: the argument of its function, and how it runs within its limit.
import { wait, type Clock } from '../clock.ts';
import { LameduckError, messageOf } from '../errors.ts';
import type { HookFailure, HookKind } from '../observer.ts';
import { formatDuration, type Duration } from '../settings/duration.ts';

/** HookContext is the argument of a hook's function. */
export interface HookContext {
  /** The reason of the shutdown, such as `SIGTERM`; undefined for a post-start hook. */
  readonly reason: string | undefined;
  /** How long the hook may take, in milliseconds; Infinity is no limit. */
  readonly limit: number;
  /**
   * Aborted when the hook's limit has passed; `reason` is the error. The signal of a post-start hook is also aborted when the
   * shutdown begins, even if the hook has ended. Background work of the hook can use the signal to stop.
   */
  readonly signal: AbortSignal;
}

/** HookFunction may be asynchronous. Its result is ignored. */
export type HookFunction = (context: HookContext) => unknown;

/** HookOptions are the options of a hook. */
export interface HookOptions {
  /** The hook's own limit, at least 1ms. The default is the setting of its kind; a post-start hook has no limit. */
  readonly timeout?: Duration;
}

/** Hook is a registered hook. */
export interface Hook {
  readonly kind: HookKind;
  readonly name: string;
  readonly run: HookFunction;
  /** In milliseconds; Infinity is no limit. */
  readonly timeout: number;
}

/** HookLimits is how long a hook may take, and what can end that time early. */
export interface HookLimits {
  readonly clock: Clock;
  /** In milliseconds; Infinity is no limit. */
  readonly limit: number;
  /** Aborts the hook. An error of the hook after that is not a failure. */
  readonly stop?: AbortSignal;
  /** Ends the hook's time before its limit. A hook that still runs has then timed out. */
  readonly cut?: AbortSignal;
}

/**
 * runHook calls a hook and waits until it ends, fails or reaches its limit, whichever is first (P-095, P-098). A hook that
 * ends at its limit or later has timed out, even if it blocked the event loop until then. The promise never rejects: it
 * resolves with the failure.
 */
export async function runHook(hook: Hook, limits: HookLimits, reason?: string): Promise<HookFailure | undefined> {
  const { clock, limit, stop = never, cut = never } = limits;
  const { run } = hook;
  const timesUp = new AbortController();
  const isOver = new AbortController();
  const signal = AbortSignal.any([timesUp.signal, stop]);
  let timedOut: HookFailure | undefined;
  const timeOut = (after: number, isCut = false): HookFailure => {
    timedOut ??= hookTimedOut(hook, after, isCut);
    timesUp.abort(timedOut.error);
    return timedOut;
  };
  // A blocked event loop delays the timer, so compare the clock too. A hook without time is still called once.
  const longest = limit === 0 ? hook.timeout : limit;
  const work = durationOf(clock, () => run({ reason, limit, signal })).then(
    (took) => (took < longest || stop.aborted ? undefined : timeOut(longest)),
    (error: unknown) => (stop.aborted ? undefined : hookFailed(hook, error)),
  );
  if (limit === Infinity) return work;
  const since = clock.now();
  // A hook whose time is up before it starts is still called, so that its synchronous part runs.
  const ends = cut.aborted ? [isOver.signal, stop] : [isOver.signal, stop, cut];
  const timeout = wait(clock, cut.aborted ? 0 : limit, AbortSignal.any(ends)).then(() => {
    if (isOver.signal.aborted || stop.aborted) return undefined;
    return timeOut(cut.aborted ? clock.now() - since : limit, cut.aborted);
  });
  const failure = await Promise.race([work, timeout]);
  isOver.abort();
  return failure;
}

const never: AbortSignal = new AbortController().signal;

// A synchronous hook has ended when it returns. Time that another hook takes after that does not count.
async function durationOf(clock: Clock, run: () => unknown): Promise<number> {
  await Promise.resolve();
  const since = clock.now();
  const outcome = run();
  if (Object(outcome) === outcome) await outcome;
  return clock.now() - since;
}

function hookFailed({ kind, name }: Hook, cause: unknown): HookFailure {
  return {
    kind,
    name,
    error: new LameduckError('LAMEDUCK_ERR_HOOK_FAILED', `${kind} hook "${name}" failed: ${messageOf(cause)}`, {
      cause,
    }),
  };
}

function hookTimedOut({ kind, name }: Hook, after: number, isCut: boolean): HookFailure {
  const why = isCut ? ', when the shutdown had no more time for it' : '';
  return {
    kind,
    name,
    error: new LameduckError(
      'LAMEDUCK_ERR_HOOK_TIMED_OUT',
      `${kind} hook "${name}" had not ended after ${formatDuration(after)}${why}`,
    ),
  };
}
