// Decides how the process reacts to process signals, uncaught errors and other events that end it. Pure: no I/O, no timers, no
// `node:` imports. process-end.ts performs the actions.
import { exitCodes } from '../exit-codes.ts';

// Milliseconds in which every further process signal counts as the first one. npm, dumb-init and docker compose send the
// signal of a process group twice, and nodemon sends SIGINT after SIGTERM (P-057).
const sameWithin = 100;

/** Cause is why the process ends. */
export type Cause =
  /** A process signal, the message of PM2, or the disconnect of a worker of `node:cluster`. */
  | { readonly kind: 'stop'; readonly reason: string }
  | { readonly kind: 'leadership lost'; readonly reason: string }
  | { readonly kind: 'uncaught error'; readonly error: unknown; readonly origin: NodeJS.UncaughtExceptionOrigin };

/** ProcessSignal is a process signal, or the message of the parent process. */
export interface ProcessSignal {
  /** Its name, or `message`. */
  readonly event: string;
  /** The arguments for the program's own listeners; undefined if an `emit` other than `process.emit` has called them. */
  readonly args: readonly unknown[] | undefined;
}

/** Event is what happens to the process. Times are in milliseconds of one clock. */
export type Event =
  /** `listeners` tells what becomes of the program's own listeners. */
  | (ProcessSignal & { readonly kind: 'signal'; readonly listeners: 'none' | 'hold' | 'call'; readonly at: number })
  /** Every process signal has been delivered that arrived while the event loop was blocked. */
  | { readonly kind: 'signal settled'; readonly at: number }
  | { readonly kind: 'loss'; readonly reason: string; readonly isAtOnce: boolean }
  /** An uncaught error that has no listener. */
  | { readonly kind: 'error'; readonly error: unknown; readonly origin: NodeJS.UncaughtExceptionOrigin }
  /** This process disconnects as a worker of `node:cluster`. */
  | { readonly kind: 'disconnect'; readonly disconnect: () => void }
  /** All shutdowns have ended. `hasListeners` tells whether the program has listeners of the first process signal. */
  | { readonly kind: 'drained'; readonly exitCode: number; readonly isGuest: boolean; readonly hasListeners: boolean }
  /** The shutdown budget has ended, after the drain. */
  | { readonly kind: 'budget over' }
  /** The process is still alive some time after the shutdown budget. */
  | { readonly kind: 'watchdog' };

interface Ending {
  /** Why the shutdown began. */
  readonly cause: Cause;
  /** The first process signal; each further one before `sameUntil` counts as the same one. */
  readonly signal?: ProcessSignal & { readonly sameUntil: number };
  readonly hasUncaughtError?: boolean;
  /** Disconnects the worker. It is called after the drain. */
  readonly disconnect?: () => void;
  /** Whether the program's own listeners of the process signal have been called. */
  readonly hasCalledListeners?: boolean;
}

/** State is how far the end of the process has come. */
export type State =
  | { readonly phase: 'running' }
  | ({ readonly phase: 'draining' } & Ending)
  /** All shutdowns have ended. Under `lameduck/register` the process then behaves as without lameduck. */
  | ({ readonly phase: 'drained'; readonly isGuest: boolean } & Ending);

/** Actions are the possible reactions to an event. */
export interface Actions {
  /** Begins the shutdown of every lifecycle. It is the first action of an end. */
  begin(cause: Cause): void;
  /** Lets the shutdown of every lifecycle take note of a further cause. */
  join(cause: Cause): void;
  /** Reports `signal settled` when that has happened. */
  settleSignal(): void;
  logHeldListeners(signal: string): void;
  callListeners(): void;
  /** Calls the program's listeners that were held until the drain had ended with this exit code. */
  callHeldListeners(exitCode: number): void;
  /** Waits until the event loop is empty. */
  endByItself(): void;
  /** Waits no longer for an empty event loop than for the program's own listeners. */
  endWhenIdle(): void;
  forgetSignals(): void;
  /** Lets Node and the program handle the event. */
  pass(): void;
  /** Exits, by default with the exit code that the process has been given so far. */
  exit(code?: number, message?: string): void;
  /** Exits also if the program has replaced `process.exit()`. */
  forceExit(code?: number): void;
}

/** Action is one of the actions, with its arguments. */
export type Action = { [Name in keyof Actions]: readonly [Name, ...Parameters<Actions[Name]>] }[keyof Actions];

/** Step is the state after an event, and the actions to perform. */
export type Step = readonly [State, ...Action[]];

type On<Kind extends Event['kind']> = Extract<Event, { kind: Kind }>;

/** next returns the state after an event, and the actions to perform. */
export function next(state: State, event: Event): Step {
  switch (event.kind) {
    case 'signal':
      return onSignal(state, event);
    case 'signal settled':
      if (state.phase === 'running' || state.signal === undefined) return [state];
      return [{ ...state, signal: { ...state.signal, sameUntil: event.at + sameWithin } }];
    case 'loss': {
      const exit: Action = ['exit', exitCodes.leadershipLost, `${event.reason}: exiting at once`];
      return begin(state, { kind: 'leadership lost', reason: event.reason }, {}, event.isAtOnce ? [exit] : []);
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
      return isCleaningUp ? [state, ['exit', exitCodes.budgetRanOut, message]] : [state];
    }
    case 'watchdog':
      if (state.phase === 'running') return [state];
      if (state.phase === 'drained' && state.hasCalledListeners !== true) return [state, ['forceExit']];
      return [state, ['forceExit', state.hasUncaughtError === true ? exitCodes.uncaughtError : exitCodes.budgetRanOut]];
    default:
      return event satisfies never;
  }
}

function begin(state: State, cause: Cause, change: Partial<Ending>, then: readonly Action[] = []): Step {
  if (state.phase !== 'running') return [{ ...state, ...change }, ['join', cause], ...then];
  return [{ phase: 'draining', cause, ...change }, ['begin', cause], ...then];
}

function onSignal(state: State, { event, args, listeners, at }: On<'signal'>): Step {
  const first = state.phase === 'running' ? undefined : state.signal;
  const isRepeated = first !== undefined && at < first.sameUntil;
  if (state.phase === 'drained' && state.isGuest) return isRepeated ? [state] : [state, ['pass']];
  // A program may send itself the signal when it is done, as NestJS does (P-116).
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
  if (state.phase === 'drained' && state.isGuest) return [state, ['pass']];
  const isSecond = state.phase === 'draining' && state.hasUncaughtError === true;
  const when = isSecond ? 'second uncaught error' : 'uncaught error after the drain';
  const exit: Action = ['exit', exitCodes.uncaughtError, `${when}: exiting at once`];
  // Also before an exit, because the error is logged and written to the termination message.
  const cause: Cause = { kind: 'uncaught error', error, origin };
  return begin(state, cause, { hasUncaughtError: true }, isSecond || state.phase === 'drained' ? [exit] : []);
}

function onDrained(state: State, { exitCode, isGuest, hasListeners }: On<'drained'>): Step {
  if (state.phase !== 'draining') return [state];
  const callsHeld = hasListeners && state.hasCalledListeners !== true;
  const hasCalledListeners = callsHeld || state.hasCalledListeners === true;
  const after: State = { ...state, phase: 'drained', isGuest, hasCalledListeners };
  const then: Action[] = [callsHeld ? ['callHeldListeners', exitCode] : ['endByItself']];
  // Without lameduck, the signal would have ended this program at once. A disconnected worker ends by itself.
  if (isGuest && !hasCalledListeners && state.disconnect === undefined) then.unshift(['exit']);
  return isGuest ? [after, ...then, ['forgetSignals']] : [after, ...then];
}
