// The only override of `process.emit`. With this override, lameduck decides whether the program's own listeners receive
// a process signal. Node emits a signal with the `emit` that `process` had when the signal got its first listener
// (P-111). So `lameduck/register` installs the override before the program adds listeners.

import { startImmediate } from '../node-timers.ts';
import { interceptOwnDisconnect, isClusterDisconnect, type TakeDisconnect } from './cluster-disconnect.ts';

/** Interceptor decides whether the program's listeners receive an event. */
export interface Interceptor {
  /**
   * take returns true if lameduck keeps an event of `process` from the program's listeners for now. Such an event is a
   * process signal, for example.
   */
  take(event: string, args: readonly unknown[]): boolean;
  /**
   * takeError is called for an uncaught error if the program has no listener for uncaught errors. If takeError returns
   * false, Node handles the error.
   */
  takeError(error: Error, origin: NodeJS.UncaughtExceptionOrigin): boolean;
  /** takeDisconnect is called before this process disconnects as a worker of `node:cluster`. */
  readonly takeDisconnect: TakeDisconnect;
}

type Emit = (this: unknown, event: string | symbol, ...args: unknown[]) => boolean;

/**
 * `reached` is a private event. lameduck emits it to find out whether the current `process.emit` still calls lameduck's
 * override.
 */
const reached = Symbol('lameduck.reached');

// The key under which all copies of this package find the override. Change the key when EmitOverride or Interceptor
// changes.
const key = Symbol.for('lameduck.process-emit/v4');

/**
 * emitOverride installs the override of `process.emit`, once for all copies of this package in the process. The
 * override is never removed, because Node would still call it for process signals after its removal.
 */
export function emitOverride(): EmitOverride {
  const registry = globalThis as unknown as Record<symbol, EmitOverride | undefined>;
  return (registry[key] ??= new EmitOverride(process));
}

/**
 * EmitOverride passes each event of the process to an interceptor before the listeners get it. Without an interceptor,
 * every event reaches the listeners.
 */
export class EmitOverride {
  readonly process: NodeJS.Process;
  /**
   * bypassing contains the process signals that had a listener before the override was installed. Node emits these
   * signals with the original `emit`, past the override.
   */
  readonly bypassing: ReadonlySet<string>;
  /** emitting is the event that the override is emitting at the moment, or undefined. */
  emitting: string | symbol | undefined;
  readonly #emit: Emit;
  // #own is the original `emit` of `process`, which the override has replaced.
  #own: Emit;
  // If a library has replaced lameduck's `process.emit`, #covered is lameduck's wrapper around the library's `emit`.
  // The wrapper gives an uncaught error to the interceptor first. It calls the library's `emit` unless the interceptor
  // handles the error.
  #covered: Emit | undefined;
  #interceptor: Interceptor | undefined;
  #releaseDisconnect: () => void = () => undefined;
  // #takeEarly removes the listeners that `noteEarlySignals` has added, and returns the process signal that they have
  // recorded.
  #takeEarly: () => NodeJS.Signals | undefined = () => undefined;

  constructor(target: NodeJS.Process) {
    this.process = target;
    const hadListeners = target.eventNames().filter((name) => typeof name === 'string' && name.startsWith('SIG'));
    this.bypassing = new Set(hadListeners as string[]);
    // The method is called with its target as its `this`.
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
   * noteEarlySignals lets PID 1 record a process signal for which the program has no listener. Without a listener, the
   * kernel drops a signal to PID 1, and the kubelet sends SIGTERM only once (K-100). In any other process, the signal
   * keeps its default action.
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
   * interceptLater installs a temporary interceptor until a lifecycle is loaded. It calls `hurry` before the program
   * receives one of `signals`, or another event that a lifecycle handles. `hurry` must load the lifecycle, which then
   * calls `intercept`. If the lifecycle cannot be loaded, `hurry` must do nothing. The returned function removes the
   * temporary interceptor. Call that function after `intercept`, so that the signals always have a listener.
   */
  interceptLater(signals: readonly NodeJS.Signals[], hurry: () => void): () => void {
    const listeners = new Map<string, Listener>();
    const end = (): void => {
      if (this.#interceptor === provisional) this.#interceptor = undefined;
      const added = [...listeners];
      listeners.clear();
      for (const [signal, listener] of added) this.process.off(signal, listener);
    };
    const next = (): Interceptor | undefined => {
      hurry();
      return this.#interceptor === provisional ? undefined : this.#interceptor;
    };
    const provisional: Interceptor = {
      take: (event, args) => {
        if (event === 'removeListener') keepListener(this, listeners, args);
        const own = listeners.get(event);
        if (own === undefined && event !== 'message' && !event.startsWith('SIG')) return false;
        if (next()?.take(event, args) === true) return true;
        if (own === undefined || this.process.rawListeners(event).some((one) => one !== own)) return false;
        // If no lifecycle has taken the process signal and the program has no listener for it, end the process. Without
        // lameduck, the signal would end the process too.
        end();
        this.process.kill(this.process.pid, event);
        return true;
      },
      takeError: (error, origin) => next()?.takeError(error, origin) === true,
      takeDisconnect: (disconnect) => next()?.takeDisconnect(disconnect) === true,
    };
    // When a process signal arrives, Node may have called an `emit` that is older than this override. The listener then
    // emits the signal again through the override.
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
   * added adds a listener to the process. It returns the function that `process.rawListeners()` then contains: the
   * listener itself, or a wrapper if a library has replaced `process.on()`. If the process has no listener after the
   * call, added returns the given listener.
   */
  added(event: string, listener: Listener): Listener {
    this.process.on(event, listener);
    return (this.process.rawListeners(event).at(-1) as Listener | undefined) ?? listener;
  }

  /** intercept makes `interceptor` receive every event of the process first, from now on. */
  intercept(interceptor: Interceptor): void {
    this.#interceptor = interceptor;
    this.process.on('uncaughtExceptionMonitor', this.#restore);
    this.#releaseDisconnect = interceptOwnDisconnect(this.process, interceptor.takeDisconnect);
    const early = this.#takeEarly();
    this.#takeEarly = () => undefined;
    if (early !== undefined) startImmediate(() => this.process.emit(early, early));
  }

  /** stopIntercepting removes the interceptor, so that every event reaches the listeners again. */
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
    // Pass an uncaught error to the interceptor before the original `emit` gets it. The original `emit` may belong to a
    // library. For example, the `emit` of source-map-support exits the process if there is no listener.
    return this.#takesError(event, args) || deliver();
  }

  #takesError(event: string | symbol, [error, origin]: readonly unknown[]): boolean {
    if (event !== 'uncaughtException' || this.process.listenerCount(event) > 0) return false;
    return this.#interceptor?.takeError(error as Error, origin as NodeJS.UncaughtExceptionOrigin) === true;
  }

  // A library such as signal-exit may replace `process.emit`, and with it lameduck's override. If the library's `emit`
  // does not call the override, install the override again. If it does, wrap the library's `emit`, so that the
  // interceptor receives uncaught errors first. `#restore` is called at an event that Node emits before
  // `uncaughtException`.
  readonly #restore = (): void => {
    // The method is called with the process as its `this`.
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
    // The original property is not enumerable. Define this property in the same way, so that the properties of
    // `process` look unchanged.
    Object.defineProperty(this.process, 'emit', { value, writable: true, configurable: true, enumerable: false });
  }
}

/**
 * keepListener adds a listener of lameduck again if the program has removed it. `listeners` contains lameduck's listener
 * of each event. The last parameter contains the arguments of the event `removeListener`. Node emits this event before it
 * stops watching for the process signal.
 */
export function keepListener(
  override: EmitOverride,
  listeners: Map<string, Listener>,
  [event, listener]: readonly unknown[],
): void {
  const signal = event as string;
  const own = listeners.get(signal);
  if (own === undefined || own !== listener) return;
  listeners.set(signal, override.added(signal, own));
  // `process.removeAllListeners()` also removes the listener that lameduck has just added again, and emits no
  // `removeListener` for this removal. So check in the next tick whether the listener is still there.
  override.process.nextTick(() => {
    const present = listeners.get(signal);
    if (present === undefined || override.process.rawListeners(signal).includes(present)) return;
    listeners.set(signal, override.added(signal, present));
  });
}

type Listener = (...args: unknown[]) => void;
