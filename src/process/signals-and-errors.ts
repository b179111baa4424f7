// Decides how the process reacts to process signals, uncaught errors and other events that end it. No side effects: no
// I/O, no timers, no `node:` imports. process-end.ts performs the actions.
import { exitCodes } from '../exit-codes.ts';

// A second process signal within this many milliseconds after the first counts as a repetition of the first. npm,
// dumb-init and docker compose send the signal of a process group twice, and nodemon sends SIGINT after SIGTERM
// (P-057).
const sameWithin = 100;

/** Cause is a reason for which the process must shut down and exit. */
export type Cause =
  /** Cause `stop`: a process signal, the message `shutdown` of PM2, or the disconnect of a worker of `node:cluster`. */
  | { readonly kind: 'stop'; readonly reason: string }
  | { readonly kind: 'leadership lost'; readonly reason: string }
  | { readonly kind: 'uncaught error'; readonly error: unknown; readonly origin: NodeJS.UncaughtExceptionOrigin };

/** ProcessSignal is a process signal, or the message `shutdown` of the parent process. */
export interface ProcessSignal {
  /**
   * `event` is the name of the process signal, such as SIGTERM. For the message `shutdown` of the parent process, it is
   * `message`.
   */
  readonly event: string;
  /**
   * `args` are the arguments with which lameduck calls the program's own signal listeners. It is undefined if Node has
   * already called these listeners with the original `process.emit` instead of lameduck's.
   */
  readonly args: readonly unknown[] | undefined;
}

/**
 * Event is an input of `next()` that may lead to the exit of the process. Examples are a process signal, an uncaught
 * error and a timer that has fired. All times are in milliseconds of one clock.
 */
export type Event =
  /**
   * Event `signal`: a process signal has arrived. `listeners` says what happens to the program's own listeners for the
   * signal. With `hold`, lameduck delays them. With `call`, lameduck calls them. With `none`, the program has no
   * listeners.
   */
  | (ProcessSignal & { readonly kind: 'signal'; readonly listeners: 'none' | 'hold' | 'call'; readonly at: number })
  /** Event `signal settled`: Node has delivered every process signal that arrived while the event loop was blocked. */
  | { readonly kind: 'signal settled'; readonly at: number }
  | { readonly kind: 'loss'; readonly reason: string; readonly isAtOnce: boolean }
  /** Event `error`: an uncaught error has been thrown, and the program has no listener for uncaught errors. */
  | { readonly kind: 'error'; readonly error: unknown; readonly origin: NodeJS.UncaughtExceptionOrigin }
  /** Event `disconnect`: this worker of `node:cluster` is about to disconnect from its primary. */
  | { readonly kind: 'disconnect'; readonly disconnect: () => void }
  /**
   * Event `drained`: the shutdowns of all lifecycles have ended. `hasListeners` tells whether the program has its own
   * listeners for the process signal that began the shutdown. If several process signals have arrived, the first one is
   * meant.
   */
  | {
      readonly kind: 'drained';
      readonly exitCode: number;
      readonly isUnderRegister: boolean;
      readonly hasListeners: boolean;
    }
  /**
   * Event `budget over`: the end of the shutdown budget has been reached. The drain ended earlier, but the process is
   * still alive.
   */
  | { readonly kind: 'budget over' }
  /**
   * Event `backstop`: the timer of budget-backstop.ts has expired. The process is still alive shortly after the end of
   * the shutdown budget.
   */
  | { readonly kind: 'backstop' };

interface Ending {
  /** `cause` says why the shutdown began. */
  readonly cause: Cause;
  /** `signal` is the first process signal. A further signal before `sameUntil` counts as the same signal. */
  readonly signal?: ProcessSignal & { readonly sameUntil: number };
  readonly hasUncaughtError?: boolean;
  readonly hasLostLeadership?: boolean;
  /** `disconnect()` disconnects this worker of `node:cluster` from its primary. lameduck calls it after the drain. */
  readonly disconnect?: () => void;
  /** hasCalledListeners tells whether the program's own listeners for the process signal have been called. */
  readonly hasCalledListeners?: boolean;
}

/** State is the state of the process on the way to its exit. Its phase is `running`, `draining` or `drained`. */
export type State =
  | { readonly phase: 'running' }
  | ({ readonly phase: 'draining' } & Ending)
  /**
   * Phase `drained`: the shutdowns of all lifecycles have ended. From then on, a process under `lameduck/register`
   * reacts to signals and errors as it would without lameduck.
   */
  | ({ readonly phase: 'drained'; readonly isUnderRegister: boolean } & Ending);

/** Actions has one method for each action that process-end.ts can perform after an event. */
export interface Actions {
  /**
   * `begin()` begins the shutdown of every lifecycle. `next()` returns the action `begin` only once, for the first
   * event after which the process must exit.
   */
  begin(cause: Cause): void;
  /**
   * `join()` adds a further cause, such as an uncaught error, to the shutdowns in progress. `join()` does not shut down
   * a lifecycle a second time.
   */
  join(cause: Cause): void;
  /**
   * A process signal that arrived while the event loop was blocked is delivered late. settleSignal waits until Node has
   * delivered each such signal, and then passes the event `signal settled` to `next()`.
   */
  settleSignal(): void;
  logHeldListeners(signal: string): void;
  callListeners(): void;
  /**
   * callHeldListeners calls the program's signal listeners, which lameduck has delayed until the end of the drain.
   * `exitCode` is the highest exit code of the shutdowns of all lifecycles.
   */
  callHeldListeners(exitCode: number): void;
  /** endByItself waits until the event loop is empty, so that the process exits on its own. */
  endByItself(): void;
  /**
   * endWhenIdle makes the process exit when the program's own signal listeners have ended, even if the event loop is
   * not empty.
   */
  endWhenIdle(): void;
  forgetSignals(): void;
  /** `pass()` leaves the event to Node and to the program. */
  pass(): void;
  /** `exit()` exits the process with `code`. If `code` is undefined, it exits with `Exit.code`. */
  exit(code?: number, message?: string): void;
  /** forceExit exits the process even if the program has replaced `process.exit()`. */
  forceExit(code?: number): void;
}

export type Action = { [Name in keyof Actions]: readonly [Name, ...Parameters<Actions[Name]>] }[keyof Actions];

export type Step = readonly [State, ...Action[]];

type On<Kind extends Event['kind']> = Extract<Event, { kind: Kind }>;

/**
 * `next()` receives the state of the process and an event. It returns the new state, and the actions that the caller
 * must perform.
 */
export function next(state: State, event: Event): Step {
  switch (event.kind) {
    case 'signal':
      return onSignal(state, event);
    case 'signal settled':
      if (state.phase === 'running' || state.signal === undefined) return [state];
      return [{ ...state, signal: { ...state.signal, sameUntil: event.at + sameWithin } }];
    case 'loss': {
      const exit: Action = ['exit', exitCodes.leadershipLost, `${event.reason}: exiting at once`];
      return begin(
        state,
        { kind: 'leadership lost', reason: event.reason },
        { hasLostLeadership: true },
        event.isAtOnce ? [exit] : [],
      );
    }
    case 'error':
      return onError(state, event);
    case 'disconnect':
      if (state.phase === 'drained') return [state, ['pass']];
      if (state.phase === 'draining') return [{ ...state, disconnect: event.disconnect }];
      return begin(state, { kind: 'stop', reason: 'cluster disconnect' }, { disconnect: event.disconnect });
    case 'drained':
      return onDrained(state, event);
    case 'budget over': {
      const message = "the program's own cleanup took longer than the shutdown budget: exiting";
      const isCleaningUp = state.phase === 'drained' && state.hasCalledListeners === true;
      return isCleaningUp ? [state, ['exit', overdueCode(state), message]] : [state];
    }
    case 'backstop':
      if (state.phase === 'running') return [state];
      if (state.phase === 'drained' && state.hasCalledListeners !== true) return [state, ['forceExit']];
      return [state, ['forceExit', overdueCode(state)]];
    default:
      return event satisfies never;
  }
}

// Returns the exit code of a process that is still alive at the end of its shutdown budget. If several exit codes
// apply, it returns the highest, as the final log line does. The exit codes for lost leadership and for an uncaught
// error are higher than the exit code for the end of the budget.
function overdueCode({ hasUncaughtError, hasLostLeadership }: Ending): number {
  if (hasLostLeadership === true) return exitCodes.leadershipLost;
  return hasUncaughtError === true ? exitCodes.uncaughtError : exitCodes.budgetRanOut;
}

function begin(state: State, cause: Cause, change: Partial<Ending>, then: readonly Action[] = []): Step {
  if (state.phase !== 'running') return [{ ...state, ...change }, ['join', cause], ...then];
  return [{ phase: 'draining', cause, ...change }, ['begin', cause], ...then];
}

function onSignal(state: State, { event, args, listeners, at }: On<'signal'>): Step {
  const first = state.phase === 'running' ? undefined : state.signal;
  const isRepeated = first !== undefined && at < first.sameUntil;
  if (state.phase === 'drained' && state.isUnderRegister) return isRepeated ? [state] : [state, ['pass']];
  // When its cleanup is complete, a program such as NestJS sends the process signal to its own process (P-116).
  if (state.phase === 'drained' && state.hasCalledListeners === true)
    return [state, isRepeated ? ['endWhenIdle'] : ['exit']];
  const reason = event === 'message' ? 'shutdown message' : event;
  const message = `second process signal ${reason}: exiting at once`;
  if (first !== undefined) return isRepeated ? [state] : [state, ['exit', exitCodes.secondProcessSignal, message]];
  const change = { signal: { event, args, sameUntil: Infinity }, hasCalledListeners: listeners === 'call' };
  const then: Action[] = [['settleSignal']];
  if (listeners === 'hold') then.push(['logHeldListeners', reason]);
  if (listeners === 'call') then.push(['callListeners']);
  return begin(state, { kind: 'stop', reason }, change, then);
}

function onError(state: State, { error, origin }: On<'error'>): Step {
  if (state.phase === 'drained' && state.isUnderRegister) return [state, ['pass']];
  const isSecond = state.phase === 'draining' && state.hasUncaughtError === true;
  const when = isSecond ? 'second uncaught error' : 'uncaught error after the drain';
  const exit: Action = ['exit', exitCodes.uncaughtError, `${when}: exiting at once`];
  // The shutdown logs the error and writes it to the termination message. So even if lameduck exits the process at
  // once, begin a shutdown with this error, or add the error to the shutdown in progress.
  const cause: Cause = { kind: 'uncaught error', error, origin };
  return begin(state, cause, { hasUncaughtError: true }, isSecond || state.phase === 'drained' ? [exit] : []);
}

function onDrained(state: State, { exitCode, isUnderRegister, hasListeners }: On<'drained'>): Step {
  if (state.phase !== 'draining') return [state];
  const callsHeld = hasListeners && state.hasCalledListeners !== true;
  const hasCalledListeners = callsHeld || state.hasCalledListeners === true;
  const after: State = { ...state, phase: 'drained', isUnderRegister, hasCalledListeners };
  const then: Action[] = [callsHeld ? ['callHeldListeners', exitCode] : ['endByItself']];
  // Under `lameduck/register`, exit at once if the program has no listener for the signal, because Node without
  // lameduck would exit too. A disconnected worker of node:cluster exits on its own, so it needs no action `exit`.
  if (isUnderRegister && !hasCalledListeners && state.disconnect === undefined) then.unshift(['exit']);
  return isUnderRegister ? [after, ...then, ['forgetSignals']] : [after, ...then];
}
