// The program: all lifecycles of this process, the process signals that end them, and the end of the process itself.
import { Socket } from 'node:net';
import { systemClock } from '../clock.ts';
import { exitCodes } from '../exit-codes.ts';
import { standardError, writeOut } from '../standard-output.ts';
import { describeUncaught } from './uncaught-error.ts';

/** Member is one lifecycle, as far as the end of its process goes. */
export interface Member {
  readonly shutdownSignals: readonly NodeJS.Signals[];
  /** Begins the shutdown or joins it; resolves with the exit code that it asks for. */
  begin(reason: string): Promise<number>;
  /** The same after an uncaught error, which bounds the drain. */
  beginAfterUncaughtError(error: unknown): Promise<number>;
  /**
   * Writes the final line of a shutdown that had begun, synchronously and once, with the exit code that the process really
   * has; one that has not ended ends where it stands.
   */
  report(heldBy: readonly string[], exitCode: number): void;
  warn(message: string): void;
}

// npm, dumb-init and docker compose send the signal of a process group a second time (P-057).
const sameSignalWithin = 100;

// After the drain the process has this long to end by itself (P-058).
const exitPatience = 1_000;

type Begin = (member: Member) => Promise<number>;

const members = new Set<Member>();
const shutdowns: Promise<number>[] = [];
const listening = new Map<NodeJS.Signals, () => void>();
let first: { readonly signal: NodeJS.Signals; readonly at: number } | undefined;
let hasUncaughtError = false;
/** What began the end of the process, done to a lifecycle. */
let ending: Begin | undefined;
let isDrained = false;

/** What the copies of this package in one process have in common. It has a new name when Member changes. */
interface Program {
  join(member: Member): () => void;
  isEnding(): boolean;
}

const key = Symbol.for('lameduck.program/v1');

// Two copies would end the process under each other's drain, and each take the other for a program that handles uncaught
// errors itself: the first that is used does it for all.
function program(): Program {
  const shared = globalThis as unknown as Record<symbol, Program | undefined>;
  return (shared[key] ??= { join: joinHere, isEnding: () => ending !== undefined });
}

/**
 * join makes a lifecycle part of the program: its process signals are listened for from now on, before the server
 * listens (P-066). A program may have several. The returned function takes it out again and, with the last one,
 * every listener (P-070).
 */
export function join(member: Member): () => void {
  return program().join(member);
}

/** isEnding tells whether the process ends after the shutdown, since a process signal or an uncaught error began it. */
export function isEnding(): boolean {
  return program().isEnding();
}

function joinHere(member: Member): () => void {
  if (members.size === 0) {
    process.on('uncaughtException', onUncaughtError);
    // Ahead of a logger's own listener, behind which nothing more can be logged (P-061).
    process.prependListener('exit', onExit);
  }
  members.add(member);
  for (const signal of member.shutdownSignals) listen(signal);
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
  const now = systemClock.now();
  if (first !== undefined) {
    if (signal === first.signal && now - first.at < sameSignalWithin) return;
    exitNow(exitCodes.secondProcessSignal, `second process signal ${signal}: exiting at once`);
    return;
  }
  first = { signal, at: now };
  end((member) => member.begin(signal), [...members]);
}

function onUncaughtError(error: Error, origin: NodeJS.UncaughtExceptionOrigin): void {
  // A program that handles uncaught errors itself goes on doing so, as if we were not there (P-063).
  if (process.listenerCount('uncaughtException') > 1) return;
  writeOut(standardError, describeUncaught(error, origin));
  if (hasUncaughtError || isDrained) {
    const when = isDrained ? 'uncaught error after the drain' : 'second uncaught error';
    exitNow(exitCodes.uncaughtError, `${when}: exiting at once`);
    return;
  }
  hasUncaughtError = true;
  end((member) => member.beginAfterUncaughtError(error), [...members]);
}

function end(begin: Begin, whom: readonly Member[]): void {
  shutdowns.push(...whom.map(begin));
  if (ending !== undefined) return;
  ending = begin;
  void exitCodeOfAll().then(waitForExit);
}

async function exitCodeOfAll(): Promise<number> {
  let code = 0;
  // Grows when a lifecycle joins in the meantime.
  for (const shutdown of shutdowns) code = Math.max(code, await shutdown);
  return code;
}

function waitForExit(code: number): void {
  isDrained = true;
  // An exit code and never the process signal again (P-059); a clean end leaves the program's own code alone.
  if (code !== exitCodes.clean) process.exitCode = code;
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
  report(code, []);
}
