// The end of this process: all its lifecycles, the process signals that end them, and what is left to do then.
import { Socket } from 'node:net';
import { systemClock } from '../clock.ts';
import { exitCodes } from '../exit-codes.ts';
import { standardError, writeOut } from '../standard-output.ts';
import { describeUncaught } from './uncaught-error.ts';

/** Member is one lifecycle, as far as the end of its process goes. */
export interface Member {
  readonly shutdownSignals: readonly NodeJS.Signals[];
  /** Begins the shutdown or joins it; resolves when it has ended. */
  begin(reason: string): Promise<Ended>;
  /** The same after an uncaught error, which bounds the drain. */
  beginAfterUncaughtError(error: unknown): Promise<Ended>;
  /**
   * Writes the final line of a shutdown that had begun, synchronously and once, with the exit code that the process really
   * has; one that has not ended ends where it stands.
   */
  report(heldBy: readonly string[], exitCode: number): void;
  warn(message: string): void;
  /** Given by a guest: a lifecycle in a program that knows nothing of it, and whose own listeners come after the drain. */
  readonly hold?: SignalHold | undefined;
}

/** Ended is what the end of a shutdown leaves: the exit code that it asks for, and what it used of its budget. */
export interface Ended {
  readonly exitCode: number;
  readonly durationMs: number;
  readonly budgetMs: number;
}

/** SignalHold keeps process signals from the program's own listeners. */
export interface SignalHold {
  /**
   * begin asks `takeSignal` of every process signal from now on; the listeners do not see those for which it returns true.
   * An uncaught error that nobody listens for goes to `takeError`, without a listener that others could count.
   */
  begin(
    takeSignal: (signal: NodeJS.Signals) => boolean,
    takeError: (error: Error, origin: NodeJS.UncaughtExceptionOrigin) => void,
  ): void;
  /** endErrors leaves uncaught errors to Node again. */
  endErrors(): void;
  /** deliver calls the listeners of a signal that was held back; false when it has none. */
  deliver(signal: NodeJS.Signals): boolean;
}

// npm, dumb-init and docker compose send the signal of a process group a second time (P-057).
const sameSignalWithin = 100;

// After the drain the process has this long to end by itself (P-058).
const exitPatience = 1_000;

type Begin = (member: Member) => Promise<Ended>;

const members = new Set<Member>();
const shutdowns: Promise<EndedAt>[] = [];
const listening = new Map<NodeJS.Signals, () => void>();
let first: { readonly signal: NodeJS.Signals; readonly at: number } | undefined;
let hasUncaughtError = false;
/** What began the end of the process, done to a lifecycle. */
let ending: Begin | undefined;
let isDrained = false;
let hold: SignalHold | undefined;

/** What the copies of this package in one process have in common. It has a new name when Member changes. */
interface Shared {
  join(member: Member): () => void;
  isEnding(): boolean;
}

const key = Symbol.for('lameduck.ending/v1');

// Two copies would end the process under each other's drain, and each take the other for a program that handles uncaught
// errors itself: the first that is used does it for all.
function shared(): Shared {
  const registry = globalThis as unknown as Record<symbol, Shared | undefined>;
  return (registry[key] ??= { join: joinHere, isEnding: () => ending !== undefined });
}

/**
 * join lets a lifecycle end with this process: its process signals are listened for from now on, before the server
 * listens (P-066). A process may have several. The returned function takes it out again and, with the last one,
 * every listener (P-070).
 */
export function join(member: Member): () => void {
  return shared().join(member);
}

/** isEnding tells whether the process ends after the shutdown, since a process signal or an uncaught error began it. */
export function isEnding(): boolean {
  return shared().isEnding();
}

function joinHere(member: Member): () => void {
  if (member.hold === undefined && !process.listeners('uncaughtException').includes(onUncaughtError)) {
    process.on('uncaughtException', onUncaughtError);
  }
  if (members.size === 0) {
    // Ahead of a logger's own listener, behind which nothing more can be logged (P-061).
    process.prependListener('exit', onExit);
  }
  members.add(member);
  for (const signal of member.shutdownSignals) listen(signal);
  if (member.hold !== undefined && hold === undefined) {
    hold = member.hold;
    hold.begin(takeSignal, takeUncaughtError);
  }
  // One that comes while the process is ending ends with it, as soon as its caller has registered what belongs to it.
  if (ending !== undefined) process.nextTick(end, ending, [member]);
  return () => {
    // A process that is about to end stays deaf to a signal's default action until it has ended.
    if (ending !== undefined || !members.delete(member)) return;
    for (const signal of member.shutdownSignals) {
      if (![...members].some(({ shutdownSignals }) => shutdownSignals.includes(signal))) forget(signal);
    }
    if (members.size > 0) return;
    process.off('uncaughtException', onUncaughtError);
    process.off('exit', onExit);
  };
}

function takeSignal(signal: NodeJS.Signals): boolean {
  if (!listening.has(signal)) return isRepeated(signal);
  onProcessSignal(signal);
  return true;
}

function isRepeated(signal: NodeJS.Signals): boolean {
  return signal === first?.signal && systemClock.now() - first.at < sameSignalWithin;
}

function listen(signal: NodeJS.Signals): void {
  if (listening.has(signal)) return;
  const onSignal = (): void => {
    onProcessSignal(signal);
  };
  listening.set(signal, onSignal);
  process.on(signal, onSignal);
}

function forget(signal: NodeJS.Signals): void {
  const onSignal = listening.get(signal);
  if (onSignal === undefined) return;
  process.off(signal, onSignal);
  listening.delete(signal);
}

function onProcessSignal(signal: NodeJS.Signals): void {
  if (isRepeated(signal)) return;
  if (first !== undefined) {
    exitNow(exitCodes.secondProcessSignal, `second process signal ${signal}: exiting at once`);
    return;
  }
  first = { signal, at: systemClock.now() };
  end((member) => member.begin(signal), [...members]);
}

function onUncaughtError(error: Error, origin: NodeJS.UncaughtExceptionOrigin): void {
  // A program that handles uncaught errors itself goes on doing so, as if we were not there (P-063).
  if (process.listenerCount('uncaughtException') > 1) return;
  takeUncaughtError(error, origin);
}

function takeUncaughtError(error: Error, origin: NodeJS.UncaughtExceptionOrigin): void {
  writeOut(standardError, describeUncaught(error, origin));
  if (hasUncaughtError || isDrained) {
    // Too late to begin anything, but not to be in the log and in the termination message.
    for (const member of members) void member.beginAfterUncaughtError(error);
    const when = isDrained ? 'uncaught error after the drain' : 'second uncaught error';
    exitNow(exitCodes.uncaughtError, `${when}: exiting at once`);
    return;
  }
  hasUncaughtError = true;
  end((member) => member.beginAfterUncaughtError(error), [...members]);
}

function end(begin: Begin, whom: readonly Member[]): void {
  shutdowns.push(...whom.map((member) => begin(member).then(withEnd)));
  if (ending !== undefined) return;
  ending = begin;
  void all().then(({ exitCode, endsAt }) => {
    isDrained = true;
    // An exit code and never the process signal again (P-059); a clean end leaves the program's own code alone.
    if (exitCode !== exitCodes.clean) process.exitCode = exitCode;
    if (hold === undefined) waitForExit();
    else handOver(hold, exitCode, endsAt);
  });
}

interface EndedAt {
  readonly exitCode: number;
  /** When the shutdown budget is used up. */
  readonly endsAt: number;
}

function withEnd({ exitCode, budgetMs, durationMs }: Ended): EndedAt {
  return { exitCode, endsAt: systemClock.now() + budgetMs - durationMs };
}

async function all(): Promise<EndedAt> {
  let [exitCode, endsAt] = [0, Infinity];
  // Grows when a lifecycle joins in the meantime.
  for (const shutdown of shutdowns) {
    const ended = await shutdown;
    exitCode = Math.max(exitCode, ended.exitCode);
    endsAt = Math.min(endsAt, ended.endsAt);
  }
  return { exitCode, endsAt };
}

// From here on the process is the program's own again. Whatever it does, the final line has been written: a process may
// well end by sending itself the signal (P-116), and nobody would be asked any more.
function handOver(held: SignalHold, exitCode: number, endsAt: number): void {
  report(exitCode, []);
  held.endErrors();
  process.off('uncaughtException', onUncaughtError);
  // In a turn of its own, so that what a listener throws is an uncaught error, as ever.
  setImmediate(() => {
    for (const signal of [...listening.keys()]) forget(signal);
    if (first === undefined || !held.deliver(first.signal)) process.exit();
  });
  const holdsProcess = false;
  systemClock.after(
    Math.max(0, endsAt - systemClock.now()),
    () => {
      exitNow(exitCodes.budgetRanOut, "the program's own cleanup took longer than the shutdown budget: exiting");
    },
    holdsProcess,
  );
}

function waitForExit(): void {
  // Ahead of a logger's own listener, as above.
  process.prependOnceListener('beforeExit', (exitCode) => {
    report(exitCode, []);
  });
  const holdsProcess = false;
  systemClock.after(
    exitPatience,
    () => {
      report(Number(process.exitCode ?? exitCodes.clean), heldBy());
      process.exit();
    },
    holdsProcess,
  );
}

// What keeps the event loop alive. The standard outputs are listed when they are open, though they hold nothing.
function heldBy(): string[] {
  const outputs = [process.stdout, process.stderr] as const;
  const holders = process.getActiveResourcesInfo();
  for (const output of outputs) {
    const index = holders.indexOf(output.isTTY ? 'TTYWrap' : 'PipeWrap');
    if (index !== -1 && output instanceof Socket) holders.splice(index, 1);
  }
  return holders;
}

// Also for an end that somebody else brings about: the record of a shutdown that had begun is written.
function report(exitCode: number, holders: readonly string[]): void {
  for (const member of members) member.report(holders, exitCode);
}

function exitNow(code: number, message: string): void {
  for (const member of members) member.warn(message);
  report(code, []);
  process.exit(code);
}

function onExit(code: number): void {
  // A program that cleans up after an error that it knows nothing of says that all is well.
  if (hasUncaughtError && code === exitCodes.clean) process.exitCode = exitCodes.uncaughtError;
  report(code, []);
}
