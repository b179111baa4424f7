// The one override of `process.emit`, which keeps process signals from the program's own listeners. Node emits a signal with
// the `emit` that `process` had when the signal got its first listener (P-111). So the preload installs the override before that.

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

/** The event that tells whether `process.emit` calls the override. */
const reached = Symbol('lameduck.reached');

// Change the key when EmitOverride or Interceptor changes.
const key = Symbol.for('lameduck.process-emit/v4');

/**
 * emitOverride installs the override, once for all copies of this package in the process. It is never removed, because Node
 * would go on emitting signals by it.
 */
export function emitOverride(): EmitOverride {
  const registry = globalThis as unknown as Record<symbol, EmitOverride | undefined>;
  return (registry[key] ??= new EmitOverride(process));
}

/** EmitOverride calls an interceptor for the events of a process. Without one, every event passes. */
export class EmitOverride {
  readonly process: NodeJS.Process;
  /** Process signals that had a listener before the override. Node emits them by the original `emit`. */
  readonly bypassing: ReadonlySet<string>;
  /** The event that the override is emitting. */
  emitting: string | symbol | undefined;
  readonly #emit: Emit;
  // The `emit` before the override.
  #own: Emit;
  // The last `emit` of a library, with uncaught errors taken before it.
  #covered: Emit | undefined;
  #interceptor: Interceptor | undefined;
  #releaseDisconnect: () => void = () => undefined;
  // Removes the listeners of `noteEarlySignals`, and returns the signal that they have noted.
  #takeEarly: () => NodeJS.Signals | undefined = () => undefined;

  constructor(target: NodeJS.Process) {
    this.process = target;
    const hadListeners = target.eventNames().filter((name) => typeof name === 'string' && name.startsWith('SIG'));
    this.bypassing = new Set(hadListeners as string[]);
    // Called below on what it is called on.
    // eslint-disable-next-line @typescript-eslint/unbound-method
    this.#own = target.emit as Emit;
    const emit = this.#onEmit.bind(this);
    this.#emit = function (event, ...args) {
      return emit(this, event, args);
    };
    this.#put(this.#emit);
  }

  emit(event: string, args: readonly unknown[]): void {
    this.#emit.call(this.process, event, ...args);
  }

  /**
   * noteEarlySignals lets PID 1 note a process signal for which the program has no listener. Otherwise the kernel would drop the
   * signal, and the kubelet sends SIGTERM only once (K-100). In any other process, the signal keeps its default action.
   */
  noteEarlySignals(signals: readonly NodeJS.Signals[]): void {
    if (this.process.pid !== 1) return;
    let early: NodeJS.Signals | undefined;
    const note = (signal: NodeJS.Signals): void => {
      if (this.process.listenerCount(signal) === 1) early ??= signal;
    };
    for (const signal of signals) this.process.on(signal, note);
    this.#takeEarly = () => {
      for (const signal of signals) this.process.off(signal, note);
      return early;
    };
  }

  /**
   * interceptLater calls `hurry` before the program sees one of `signals`, and before any other event that a lifecycle takes.
   * `hurry` calls `intercept`, or nothing if that is impossible. The returned function ends this. Call it after `intercept`, so
   * that the process never lacks a listener of the signals.
   */
  interceptLater(signals: readonly NodeJS.Signals[], hurry: () => void): () => void {
    const listeners = new Map<string, Listener>();
    const end = (): void => {
      for (const [signal, listener] of listeners) this.process.off(signal, listener);
      if (this.#interceptor === provisional) this.#interceptor = undefined;
    };
    const next = (): Interceptor | undefined => {
      hurry();
      return this.#interceptor === provisional ? undefined : this.#interceptor;
    };
    const provisional: Interceptor = {
      take: (event, args) => {
        const own = listeners.get(event);
        if (own === undefined && event !== 'message' && !event.startsWith('SIG')) return false;
        if (next()?.take(event, args) === true) return true;
        if (own === undefined || this.process.rawListeners(event).some((one) => one !== own)) return false;
        // As without lameduck, a signal that has no listener ends the process.
        end();
        this.process.kill(this.process.pid, event);
        return true;
      },
      takeError: (error, origin) => next()?.takeError(error, origin) === true,
      takeDisconnect: (disconnect) => next()?.takeDisconnect(disconnect) === true,
    };
    // Node may emit a signal by an older `emit`.
    const emitAgain = (signal: string): Listener => {
      return (...args) => {
        if (this.emitting !== signal) this.emit(signal, args);
      };
    };
    this.#interceptor ??= provisional;
    for (const signal of signals) listeners.set(signal, this.added(signal, emitAgain(signal)));
    return end;
  }

  /**
   * added adds a listener of the process and returns it. A library that wraps `process.on()` adds a function of its own, which
   * is returned instead.
   */
  added(event: string, listener: Listener): Listener {
    this.process.on(event, listener);
    return this.process.rawListeners(event).at(-1) as Listener;
  }

  /** intercept calls `interceptor` for every event of the process from now on. */
  intercept(interceptor: Interceptor): void {
    this.#interceptor = interceptor;
    this.process.on('uncaughtExceptionMonitor', this.#restore);
    this.#releaseDisconnect = interceptOwnDisconnect(this.process, interceptor.takeDisconnect);
    const early = this.#takeEarly();
    this.#takeEarly = () => undefined;
    if (early !== undefined) setImmediate(() => this.process.emit(early, early));
  }

  /** stopIntercepting lets every event pass again. */
  stopIntercepting(): void {
    this.#interceptor = undefined;
    this.process.off('uncaughtExceptionMonitor', this.#restore);
    this.#releaseDisconnect();
  }

  #onEmit(target: unknown, event: string | symbol, args: unknown[]): boolean {
    if (event === reached) return true;
    const interceptor = this.#interceptor;
    if (typeof event === 'string' && interceptor?.take(event, args) === true) return true;
    const deliver = (): boolean => {
      const { emitting } = this;
      this.emitting = event;
      try {
        return this.#own.call(target, event, ...args);
      } finally {
        this.emitting = emitting;
      }
    };
    if (isClusterDisconnect(this.process, event, args) && interceptor?.takeDisconnect(deliver) === true) return true;
    // Before an `emit` that was there before: without listeners, that of source-map-support exits.
    return this.#takesError(event, args) || deliver();
  }

  #takesError(event: string | symbol, [error, origin]: readonly unknown[]): boolean {
    if (event !== 'uncaughtException' || this.process.listenerCount(event) > 0) return false;
    return this.#interceptor?.takeError(error as Error, origin as NodeJS.UncaughtExceptionOrigin) === true;
  }

  // Installs the override again if a library has replaced it, as signal-exit does. It takes uncaught errors before an `emit`
  // that calls the override. Node emits uncaughtException after this.
  readonly #restore = (): void => {
    // Called below on the process.
    // eslint-disable-next-line @typescript-eslint/unbound-method
    const present = this.process.emit as Emit;
    if (present === this.#emit || present === this.#covered) return;
    if (!present.call(this.process, reached)) {
      this.#own = present;
      this.#put(this.#emit);
      return;
    }
    const takesError = this.#takesError.bind(this);
    this.#covered = function (event, ...args) {
      return takesError(event, args) || present.call(this, event, ...args);
    };
    this.#put(this.#covered);
  };

  #put(value: Emit): void {
    // Not enumerable, like the original, so that the properties of `process` look unchanged.
    Object.defineProperty(this.process, 'emit', { value, writable: true, configurable: true, enumerable: false });
  }
}

type Listener = (...args: unknown[]) => void;
