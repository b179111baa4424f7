// Runs one hook of the lifecycle, and applies the time limit of the hook.
import { wait, type Clock } from '../clock.ts';
import { LameduckError, messageOf } from '../errors.ts';
import type { HookFailure, HookKind } from '../observer.ts';
import { formatDuration, type Duration } from '../settings/duration.ts';

/** HookContext is the argument of a hook's function. */
export interface HookContext {
  /** `reason` is the reason of the shutdown, such as `SIGTERM`. It is undefined for a post-start hook. */
  readonly reason: string | undefined;
  /** `limit` is how long the hook may take, in milliseconds. Infinity means no limit. */
  readonly limit: number;
  /**
   * `signal` is aborted when the time limit of the hook has passed. The `reason` of `signal` is then the error with
   * which the hook fails. For a post-start hook, `signal` is also aborted when the listening socket closes during a
   * shutdown. This abort happens even if the hook has ended, so that background work of the hook can stop.
   */
  readonly signal: AbortSignal;
}

/**
 * HookFunction is the function of a hook. It may be asynchronous. lameduck ignores its result. If it throws or rejects,
 * the hook has failed.
 */
export type HookFunction = (context: HookContext) => unknown;

/** HookOptions sets how long one hook may take. */
export interface HookOptions {
  /**
   * `timeout` is how long the hook may take. The minimum is 1 ms. The default is the setting `preShutdownHookTimeout`
   * for a pre-shutdown hook, and `destroyHookTimeout` for a destroy hook. A post-start hook has no limit by default.
   */
  readonly timeout?: Duration;
}

/** Hook is a registered hook. */
export interface Hook {
  readonly kind: HookKind;
  readonly name: string;
  readonly run: HookFunction;
  /** `timeout` is how long the hook may take, in milliseconds. Infinity means no limit. */
  readonly timeout: number;
}

export interface HookLimits {
  readonly clock: Clock;
  /** `limit` is how long the hook may take, in milliseconds. Infinity means no limit. */
  readonly limit: number;
  /**
   * `stop` is an AbortSignal. It is aborted when the hook must stop. If the hook throws or rejects after that, this does
   * not count as a failure of the hook.
   */
  readonly stop?: AbortSignal;
  /**
   * `cut` is aborted when the common time of all hooks of the same kind ends, for example of all destroy hooks. A hook
   * that is still running at that time has timed out, even if its own `limit` has not passed.
   */
  readonly cut?: AbortSignal;
}

/**
 * runHook calls a hook and waits until the hook ends, fails or reaches its limit, whichever is first (P-095, P-098). If
 * a hook ends after its limit, it has timed out, even if it blocked the event loop until then. The promise never
 * rejects: it resolves with the failure.
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
  // A blocked event loop delays the timer of the hook's time limit. So also compare the duration of the hook with its
  // time limit. If `limit` is 0, no time is left for the hook, but the hook still runs. Its duration is then compared
  // with the hook's own `timeout`.
  const longest = limit === 0 ? hook.timeout : limit;
  const work = durationOf(clock, () => run({ reason, limit, signal })).then(
    (took) => (took < longest || stop.aborted ? undefined : timeOut(longest)),
    (error: unknown) => (stop.aborted ? undefined : hookFailed(hook, error)),
  );
  if (limit === Infinity) return work;
  const since = clock.now();
  // If the hooks of this kind have already been aborted when the turn of this hook comes, still call the hook. Its code
  // before the first `await` then runs.
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

// Measures the duration of one hook. The duration of a synchronous hook ends when the hook returns. The duration does
// not include later hooks that run in the same turn of the event loop.
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
  const why = isCut ? ', when the shutdown budget ended' : '';
  return {
    kind,
    name,
    error: new LameduckError(
      'LAMEDUCK_ERR_HOOK_TIMED_OUT',
      `${kind} hook "${name}" had not ended after ${formatDuration(after)}${why}`,
    ),
  };
}
