// The one override of `process.emit`, which keeps process signals from the program's own listeners. Node emits a signal by the
// `emit` that it found when the signal got its first listener (P-111), so the preload installs the override before that.

import { interceptOwnDisconnect, isClusterDisconnect, type TakeDisconnect } from './cluster-disconnect.ts';

/** Interceptor decides whether the program's listeners are called. */
export interface Interceptor {
  /** take returns true for an event of `process`, such as a process signal, that no listener may see now. */
  take(event: string, args: readonly unknown[]): boolean;
  /** takeError is called for an uncaught error that has no listener. After false, Node handles the error. */
  takeError(error: Error, origin: NodeJS.UncaughtExceptionOrigin): boolean;
  /** takeDisconnect is called before this process disconnects as a worker of `node:cluster`. */
  readonly takeDisconnect: TakeDisconnect;
}

type Emit = (this: unknown, event: string | symbol, ...args: unknown[]) => boolean;

interface Override {
  /** Process signals that had a listener before the override. Node emits them by the original `emit`. */
  readonly bypassing: ReadonlySet<string>;
  /** The event that the override is emitting. */
  emitting: string | symbol | undefined;
  emit: (event: string, args: readonly unknown[]) => void;
  /**
   * Installs the override again if a library has replaced it, as signal-exit does. It takes uncaught errors before an `emit`
   * that calls the override. Node emits uncaughtException after this.
   */
  readonly restore: () => void;
  interceptor: Interceptor | undefined;
  releaseDisconnect: () => void;
  /** Removes the listeners of `noteEarlySignals`, and returns the signal that they have noted. */
  takeEarly: () => NodeJS.Signals | undefined;
}

/** The event that tells whether `process.emit` calls the override. */
const reached = Symbol('lameduck.reached');

const key = Symbol.for('lameduck.process-emit/v3');

/**
 * overrideEmit installs the override, once for all copies of this package in the process. Without an interceptor every event
 * passes. The override is never removed, because Node would go on emitting signals by it.
 */
export function overrideEmit(): Override {
  const registry = globalThis as unknown as Record<symbol, Override | undefined>;
  return (registry[key] ??= install());
}

function install(): Override {
  const hadListeners = process.eventNames().filter((name) => typeof name === 'string' && name.startsWith('SIG'));
  // Called below on what it is called on.
  // eslint-disable-next-line @typescript-eslint/unbound-method
  let own = process.emit as Emit;
  const emit: Emit = function (event, ...args) {
    if (event === reached) return true;
    const { interceptor } = override;
    if (typeof event === 'string' && interceptor?.take(event, args) === true) return true;
    const deliver = (): boolean => {
      const { emitting } = override;
      override.emitting = event;
      try {
        return own.call(this, event, ...args);
      } finally {
        override.emitting = emitting;
      }
    };
    if (isClusterDisconnect(event, args) && interceptor?.takeDisconnect(deliver) === true) return true;
    // Before an `emit` that was there before: without listeners, that of source-map-support exits.
    return takesError(event, args) || deliver();
  };
  const takesError = (event: string | symbol, [error, origin]: readonly unknown[]): boolean => {
    if (event !== 'uncaughtException' || process.listenerCount(event) > 0) return false;
    return override.interceptor?.takeError(error as Error, origin as NodeJS.UncaughtExceptionOrigin) === true;
  };
  const put = (value: Emit): void => {
    // Not enumerable, like the original, so that the properties of `process` look unchanged.
    Object.defineProperty(process, 'emit', { value, writable: true, configurable: true, enumerable: false });
  };
  // The last `emit` of a library, with uncaught errors taken before it.
  let covered: Emit = emit;
  const override: Override = {
    bypassing: new Set(hadListeners as string[]),
    emitting: undefined,
    emit: (event, args) => void emit.call(process, event, ...args),
    restore: () => {
      // Called below on `process`.
      // eslint-disable-next-line @typescript-eslint/unbound-method
      const present = process.emit as Emit;
      if (present === emit || present === covered) return;
      if (!present.call(process, reached)) {
        own = present;
        put(emit);
        return;
      }
      covered = function (event, ...args) {
        return takesError(event, args) || present.call(this, event, ...args);
      };
      put(covered);
    },
    interceptor: undefined,
    releaseDisconnect: () => undefined,
    takeEarly: () => undefined,
  };
  put(emit);
  return override;
}

/**
 * noteEarlySignals lets PID 1 note a process signal that the program has no listener for: the kernel drops such a signal, and
 * the kubelet sends SIGTERM only once (K-100). For any other process the default action stays: the signal ends it.
 */
export function noteEarlySignals(signals: readonly NodeJS.Signals[]): void {
  if (process.pid !== 1) return;
  let early: NodeJS.Signals | undefined;
  const note = (signal: NodeJS.Signals): void => {
    if (process.listenerCount(signal) === 1) early ??= signal;
  };
  for (const signal of signals) process.on(signal, note);
  overrideEmit().takeEarly = () => {
    for (const signal of signals) process.off(signal, note);
    return early;
  };
}

/**
 * interceptLater calls `hurry` before the program sees one of `signals`, and before any other event that a lifecycle takes.
 * `hurry` calls `intercept`, or nothing if that is impossible. The returned function ends this. Call it after `intercept`, so
 * that the process never lacks a listener of the signals.
 */
export function interceptLater(signals: readonly NodeJS.Signals[], hurry: () => void): () => void {
  const override = overrideEmit();
  const listeners = new Map<string, Listener>();
  const end = (): void => {
    for (const [signal, listener] of listeners) process.off(signal, listener);
    if (override.interceptor === provisional) override.interceptor = undefined;
  };
  const next = (): Interceptor | undefined => {
    hurry();
    return override.interceptor === provisional ? undefined : override.interceptor;
  };
  const provisional: Interceptor = {
    take(event, args) {
      const own = listeners.get(event);
      if (own === undefined && event !== 'message' && !event.startsWith('SIG')) return false;
      if (next()?.take(event, args) === true) return true;
      if (own === undefined || process.rawListeners(event).some((one) => one !== own)) return false;
      // As without lameduck, a signal that has no listener ends the process.
      end();
      process.kill(process.pid, event);
      return true;
    },
    takeError: (error, origin) => next()?.takeError(error, origin) === true,
    takeDisconnect: (disconnect) => next()?.takeDisconnect(disconnect) === true,
  };
  override.interceptor ??= provisional;
  for (const signal of signals) listeners.set(signal, added(signal, emitAgain(override, signal)));
  return end;
}

/**
 * added adds a listener of `process` and returns it. A library that wraps `process.on()` adds a function of its own, which is
 * returned instead.
 */
export function added(event: string, listener: Listener): Listener {
  process.on(event, listener);
  return process.rawListeners(event).at(-1) as Listener;
}

type Listener = (...args: unknown[]) => void;

// Node may emit a signal by an older `emit`.
function emitAgain(override: Override, signal: string): Listener {
  return (...args) => {
    if (override.emitting !== signal) override.emit(signal, args);
  };
}

/** intercept calls `interceptor` for every event of `process` from now on. */
export function intercept(interceptor: Interceptor): void {
  const override = overrideEmit();
  override.interceptor = interceptor;
  process.on('uncaughtExceptionMonitor', override.restore);
  override.releaseDisconnect = interceptOwnDisconnect(interceptor.takeDisconnect);
  const early = override.takeEarly();
  override.takeEarly = () => undefined;
  if (early !== undefined) setImmediate(() => process.emit(early, early));
}

/** stopIntercepting lets every event pass again. */
export function stopIntercepting(): void {
  const override = overrideEmit();
  override.interceptor = undefined;
  process.off('uncaughtExceptionMonitor', override.restore);
  override.releaseDisconnect();
}
