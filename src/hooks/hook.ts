// One hook: what it is called with, and running it inside its limit.
import { wait, type Clock } from '../clock.ts';
import { LameduckError, messageOf } from '../errors.ts';
import type { HookFailure, HookKind } from '../observer.ts';
import { formatDuration, type Duration } from '../settings/duration.ts';

/** HookContext is what a hook is called with (P-098). */
export interface HookContext {
  /** Why the shutdown began; undefined for a post-start hook. */
  readonly reason: string | undefined;
  /** How long the hook may take, in milliseconds; Infinity is no limit. */
  readonly limit: number;
  /**
   * Aborted when the hook's time is up, with the error that it has failed with. That of a post-start hook is aborted when
   * the server is told to stop, also after the hook itself has ended: work that it began ends with it.
   */
  readonly signal: AbortSignal;
}

/** HookFunction may be asynchronous; what it returns is not used. */
export type HookFunction = (context: HookContext) => unknown;

/** HookOptions is what may be said of a hook when it is registered. */
export interface HookOptions {
  /** The hook's own limit, at least 1ms. The default is the setting of its kind; a post-start hook has none. */
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

/** HookLimits is how long a hook may take, and who can end that early. */
export interface HookLimits {
  readonly clock: Clock;
  /** In milliseconds; Infinity is no limit. */
  readonly limit: number;
  /** Tells the hook to stop; what it does from then on is no failure. */
  readonly stop?: AbortSignal;
  /** Ends the hook's time before its limit: a hook still running then has timed out. */
  readonly cut?: AbortSignal;
}

/**
 * runHook calls a hook and waits until it ends, fails or its limit has passed, whichever is first (P-095, P-098). One that
 * ends at its limit or later has timed out, also when it blocked the process until then. It never rejects: a failure is
 * returned.
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
  // No timer goes off in a process that is blocked. Where no time is left, what the hook does at once is done.
  const longest = limit === 0 ? hook.timeout : limit;
  const work = durationOf(clock, () => run({ reason, limit, signal })).then(
    (took) => (took < longest || stop.aborted ? undefined : timeOut(longest)),
    (error: unknown) => (stop.aborted ? undefined : hookFailed(hook, error)),
  );
  if (limit === Infinity) return work;
  const since = clock.now();
  // A hook whose time is up before it begins is called all the same, and what it does at once is done.
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

// A hook that is done when it returns is not charged with what another one does until its turn comes again.
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
