// Process signals that are kept from the program's own listeners until the drain has ended: one override of `process.emit`,
// made before the program runs, since Node keeps the `emit` that it finds when a signal has its first listener (P-111).
import type { SignalHold } from './ending.ts';

const usual = ['SIGTERM', 'SIGINT'] as const;

type Emit = (this: unknown, event: string | symbol, ...args: unknown[]) => boolean;

let take: ((signal: NodeJS.Signals) => boolean) | undefined;
let takeError: ((error: Error, origin: NodeJS.UncaughtExceptionOrigin) => void) | undefined;
let emit: Emit | undefined;
let hadListeners: readonly string[] = [];
let early: NodeJS.Signals | undefined;
const kept = new Map<string, readonly unknown[]>();

/** overrideEmit puts the override there; until a hold begins it lets everything pass. */
export function overrideEmit(): void {
  // Called below on what it is called on.
  // eslint-disable-next-line @typescript-eslint/unbound-method
  const own = process.emit as Emit;
  emit = own;
  hadListeners = process.eventNames().filter((name) => typeof name === 'string' && name.startsWith('SIG')) as string[];
  const override: Emit = function (event, ...args) {
    if (take !== undefined && typeof event === 'string' && take(event as NodeJS.Signals)) {
      if (!kept.has(event)) kept.set(event, args);
      return true;
    }
    const isHeard = own.call(this, event, ...args);
    if (isHeard || event !== 'uncaughtException' || takeError === undefined) return isHeard;
    takeError(args[0] as Error, args[1] as NodeJS.UncaughtExceptionOrigin);
    return true;
  };
  // As it was, where nobody sees it who looks at what is in `process`.
  Object.defineProperty(process, 'emit', { value: override, writable: true, configurable: true, enumerable: false });
  // For another process the default is the end, and stays it.
  if (process.pid === 1) for (const signal of usual) process.on(signal, remember);
}

/** A signal that PID 1 does not listen for is dropped, and nobody sends it twice: it counts when a hold begins (K-100). */
function remember(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) === 1) early ??= signal;
}

/** heldSignals holds back what passes the override. */
export const heldSignals: SignalHold = {
  begin(takeSignal, takeUncaughtError) {
    take = takeSignal;
    takeError = takeUncaughtError;
    for (const signal of usual) process.off(signal, remember);
    const missed = early;
    if (missed !== undefined) setImmediate(() => process.emit(missed, missed));
    for (const signal of hadListeners) passOverride(signal);
    hadListeners = [];
  },
  endErrors() {
    takeError = undefined;
  },
  deliver(signal) {
    return emit?.call(process, signal, ...(kept.get(signal) ?? [signal])) === true;
  },
};

// The listeners of a signal that had one before the override are called past it. They are added again.
function passOverride(signal: string): void {
  const listeners = process.rawListeners(signal);
  process.removeAllListeners(signal);
  for (const listener of listeners) process.on(signal, listener as () => void);
}
