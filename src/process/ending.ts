// The end of this process: it shuts down all lifecycles at a process signal or an uncaught error, calls the program's own
// listeners, and exits.
import { systemClock } from '../clock.ts';
import { exitCodes } from '../exit-codes.ts';
import { standardError, writeOut } from '../standard-output.ts';
import { exit, startBackstop } from './backstop.ts';
import { FirstSignal } from './first-signal.ts';
import { heldBy } from './held-by.ts';
import { intercept, stopIntercepting } from './held-signals.ts';
import { Listening } from './listening.ts';
import type { Ended, Member } from './member.ts';
import { isShutdownMessage } from './parent-messages.ts';
import { OwnListeners, type Listener } from './own-listeners.ts';
import { describeUncaught } from './uncaught-error.ts';

// Milliseconds after the drain, or after the program's own listeners, in which the process may end by itself (P-058).
const exitPatience = 1_000;

// The same in development, where a restart takes at most about 100 ms (P-107).
const exitPatienceInDevelopment = 50;

// The exit code of Node for a top-level await that is pending when the event loop is empty.
const pendingAwait = 13;

type Begin = (member: Member) => Promise<Ended>;

const members = new Set<Member>();
const shutdowns: Promise<EndedAt>[] = [];
const listening = new Listening((event, args) => {
  if (event !== 'message' || isShutdownMessage(event, args)) onProcessSignal(event, undefined);
});
const ownListeners = new OwnListeners();
let first: FirstSignal | undefined;
/** The disconnect of a worker of `node:cluster` that was held; it is called after the drain. */
let heldDisconnect: (() => void) | undefined;
let hasUncaughtError = false;
/** Begins the shutdown of one lifecycle, for the reason for which the process ends; undefined unless it ends. */
let ending: Begin | undefined;
/** The exit code that the shutdowns ask for; undefined until all have ended. */
let drainedWith: number | undefined;

/** The functions that the copies of this package in one process share. Change the key when Member changes. */
interface Shared {
  join(member: Member): () => void;
  isEnding(): boolean;
  endAfterLoss(reason: string, isAtOnce: boolean): void;
}

const key = Symbol.for('lameduck.ending/v4');

// One copy would end the process during the drain of the other, and each would take the other's listener for the program's
// own. Therefore the first copy that is used serves all.
function shared(): Shared {
  const registry = globalThis as unknown as Record<symbol, Shared | undefined>;
  const isEndingHere = (): boolean => ending !== undefined;
  return (registry[key] ??= { join: joinHere, isEnding: isEndingHere, endAfterLoss: endAfterLossHere });
}

/**
 * join adds a lifecycle to those that are shut down when the process receives a signal. It listens for the signals from now
 * on, before the server listens (P-066). A process may have several lifecycles. The returned function removes the
 * lifecycle again and, with the last one, every listener (P-070).
 */
export function join(member: Member): () => void {
  return shared().join(member);
}

/** isEnding tells whether the process ends after the shutdown, as it does after a process signal or an uncaught error. */
export function isEnding(): boolean {
  return shared().isEnding();
}

/** endAfterLoss ends the process with the exit code of lost leadership: after a shutdown, or at once. */
export function endAfterLoss(reason: string, isAtOnce: boolean): void {
  shared().endAfterLoss(reason, isAtOnce);
}

function endAfterLossHere(reason: string, isAtOnce: boolean): void {
  end((member) => member.beginAfterLoss(reason), [...members]);
  if (isAtOnce || members.size === 0) exitNow(exitCodes.leadershipLost, `${reason}: exiting at once`);
}

function joinHere(member: Member): () => void {
  if (members.size === 0) intercept({ take, takeError, takeDisconnect });
  members.add(member);
  for (const signal of member.shutdownSignals) listening.listen(signal);
  if (member.takesShutdownMessage && process.channel !== undefined) listening.listen('message');
  // A lifecycle that joins while the process is ending is shut down in the next tick, when its caller has registered its hooks.
  if (ending !== undefined) process.nextTick(end, ending, [member]);
  return () => {
    // Keep the listeners while the process is ending. Without one, a late signal would kill it with the default action.
    if (ending !== undefined || !members.delete(member)) return;
    for (const signal of member.shutdownSignals) if (!isShutdownSignal(signal)) listening.forget(signal);
    if (!takesShutdownMessage()) listening.forget('message');
    if (members.size === 0) stopIntercepting();
  };
}

// Whether `lameduck/register` made every lifecycle of this process.
function isGuest(): boolean {
  return [...members].every((member) => member.isGuest);
}

function isShutdownSignal(signal: string): boolean {
  return [...members].some(({ shutdownSignals }) => (shutdownSignals as readonly string[]).includes(signal));
}

function takesShutdownMessage(): boolean {
  return [...members].some((member) => member.takesShutdownMessage);
}

function take(event: string, args: readonly unknown[]): boolean {
  // Before the `exit` listener of a logger, after which nothing more can be logged (P-061).
  if (event === 'exit') onExit(args[0] as number);
  if (event === 'removeListener') listening.keep(args);
  const isMessage = takesShutdownMessage() && isShutdownMessage(event, args);
  if (!isMessage && !isShutdownSignal(event)) return false;
  if (drainedWith !== undefined && isGuest()) return first?.isRepeated() === true;
  onProcessSignal(event, args);
  return true;
}

function takeDisconnect(disconnect: () => void): boolean {
  if (drainedWith !== undefined) return false;
  heldDisconnect = disconnect;
  if (ending === undefined) end((member) => member.begin('cluster disconnect'), [...members]);
  return true;
}

function onProcessSignal(event: string, args: readonly unknown[] | undefined): void {
  if (drainedWith !== undefined && ownListeners.wereCalled) {
    // A program may send itself the signal when it is done, as NestJS does (P-116).
    if (first?.isRepeated() === true) ownListeners.endsWhenIdle();
    else exitAsIs();
  } else if (first === undefined) {
    first = new FirstSignal(event, args);
    end((member) => member.begin(nameOf(event)), [...members]);
    holdOrRun(first);
  } else if (!first.isRepeated()) {
    exitNow(exitCodes.secondProcessSignal, `second process signal ${nameOf(event)}: exiting at once`);
  }
}

function nameOf(event: string): string {
  return event === 'message' ? 'shutdown message' : event;
}

function holdOrRun({ event, args }: FirstSignal): void {
  const listeners = listening.othersOf(event);
  if (listeners.length === 0 || args === undefined) return;
  if ([...members].some((member) => member.runsOwnListeners)) ownListeners.callAtOnce(listeners, args);
  else for (const member of members) member.onListenersHeld(nameOf(event), listeners.length);
}

// Called if `uncaughtException` has no listener (P-063). lameduck adds none: Sentry and PostHog exit only if theirs is the only
// one, and `node:domain` adds one to every other. After the drain, Node handles the error under `lameduck/register`.
function takeError(error: Error, origin: NodeJS.UncaughtExceptionOrigin): boolean {
  if (isGuest() && drainedWith !== undefined) return false;
  endAfterError(error, origin);
  return true;
}

function endAfterError(error: Error, origin: NodeJS.UncaughtExceptionOrigin): void {
  writeOut(standardError, describeUncaught(error, origin));
  const isDrained = drainedWith !== undefined;
  if (hasUncaughtError || isDrained) {
    // The shutdown has begun already. The error is still logged and written to the termination message.
    for (const member of members) void member.beginAfterUncaughtError(error);
    const when = isDrained ? 'uncaught error after the drain' : 'second uncaught error';
    exitNow(exitCodes.uncaughtError, `${when}: exiting at once`);
    return;
  }
  hasUncaughtError = true;
  end((member) => member.beginAfterUncaughtError(error), [...members]);
}

function end(begin: Begin, whom: readonly Member[]): void {
  const isFirst = ending === undefined;
  ending ??= begin;
  // For `take`, if a library has replaced `process.emit`, as signal-exit of execa does.
  if (isFirst) process.prependListener('exit', onExit);
  if (isFirst) startBackstop({ endsAt: () => Math.max(...whom.map((member) => member.endsAt() ?? -Infinity)), giveUp });
  shutdowns.push(...whom.map((member) => begin(member).then(withEnd)));
  if (isFirst) void all().then(finish);
}

interface EndedAt {
  readonly exitCode: number;
  /** When the shutdown budget ends, by the system clock. */
  readonly endsAt: number;
}

function withEnd({ exitCode, budgetMs, durationMs }: Ended): EndedAt {
  return { exitCode, endsAt: systemClock.now() + budgetMs - durationMs };
}

async function all(): Promise<EndedAt> {
  let [exitCode, endsAt] = [0, Infinity];
  // The list grows if another lifecycle joins in the meantime.
  for (const shutdown of shutdowns) {
    const ended = await shutdown;
    exitCode = Math.max(exitCode, ended.exitCode);
    endsAt = Math.min(endsAt, ended.endsAt);
  }
  return { exitCode, endsAt };
}

// Called when all shutdowns have ended. Under `lameduck/register` the process then behaves as without lameduck.
function finish({ exitCode, endsAt }: EndedAt): void {
  drainedWith = exitCode;
  // The process ends with an exit code, never by the signal (P-059). A clean shutdown leaves the program's own exit code.
  if (exitCode !== exitCodes.clean) process.exitCode = exitCode;
  else if (!isGuest()) passOverPendingAwait();
  const held = heldListeners();
  // Without lameduck, the signal would have ended this program at once. A disconnected worker ends by itself.
  if (held.length === 0 && !ownListeners.wereCalled && isGuest() && heldDisconnect === undefined) exitAsIs();
  if (isGuest()) listening.forgetAll();
  // This listener would keep the IPC channel open.
  listening.forget('message');
  if (held.length > 0) void callHeld(held, exitCode).then(heldDisconnect);
  else {
    heldDisconnect?.();
    for (const member of members) member.afterListeners();
    // Before the `beforeExit` listener of a logger, as with `exit`.
    process.prependOnceListener('beforeExit', (code) => {
      report(code, []);
    });
  }
  const patience = [...members].every((member) => member.isDeveloped) ? exitPatienceInDevelopment : exitPatience;
  ownListeners.whenIdleFor(patience, () => {
    const holders = heldBy();
    if (held.length > 0) for (const member of members) member.onHeldOpen(holders);
    report(exitCodeSoFar(), holders);
    exitAsIs();
  });
  if (ownListeners.wereCalled) systemClock.afterUnref(Math.max(0, endsAt - systemClock.now()), endCleanup);
}

// If a top-level await is pending, Node 20 replaces an unset exit code by 13, and Node 24 replaces 0 between the two events.
function passOverPendingAwait(): void {
  process.exitCode ??= exitCodes.clean;
  process.once('beforeExit', (code) => {
    process.prependOnceListener('exit', (later) => {
      if (later === pendingAwait) process.exitCode = code;
    });
  });
}

function heldListeners(): Listener[] {
  return first?.args === undefined || ownListeners.wereCalled ? [] : listening.othersOf(first.event);
}

// The final line is written first, because a listener may end the process, for example by sending it the signal (P-116).
async function callHeld(listeners: readonly Listener[], exitCode: number): Promise<void> {
  report(exitCode, []);
  for (const member of members) member.beforeListeners();
  await ownListeners.callOneByOne(listeners, first?.args ?? []);
  for (const member of members) member.afterListeners();
}

function endCleanup(): void {
  exitNow(exitCodes.budgetRanOut, "the program's own cleanup took longer than the shutdown budget: exiting");
}

// Writes the final lines of the shutdowns that have begun, also if the program itself ends the process.
function report(exitCode: number, holders: readonly string[]): void {
  for (const member of members) member.report(holders, exitCode);
}

function exitCodeSoFar(): number {
  return Number(process.exitCode ?? exitCodes.clean);
}

function exitAsIs(): void {
  exit(exitCodeSoFar());
}

function exitNow(code: number, message: string): void {
  for (const member of members) member.warn(message);
  report(code, []);
  exit(code);
}

function giveUp(): number {
  const hasEnded = drainedWith !== undefined && !ownListeners.wereCalled;
  const late = hasUncaughtError ? exitCodes.uncaughtError : exitCodes.budgetRanOut;
  const exitCode = hasEnded ? exitCodeSoFar() : late;
  report(exitCode, drainedWith === undefined ? [] : heldBy());
  return exitCode;
}

function onExit(code: number): void {
  // A program that calls `process.exit(0)` does not know the result of the shutdown.
  if (code === exitCodes.clean) {
    const owed = Math.max(...[...members].map((member) => member.cutShort()));
    if (owed > exitCodes.clean) process.exitCode = owed;
  }
  report(Number(process.exitCode ?? code), []);
  ownListeners.callLeft();
}
