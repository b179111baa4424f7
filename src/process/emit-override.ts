// lameduck's own `process.emit`, which replaces the original one. With it, lameduck decides whether the program's own
// listeners receive a process signal. Node emits a signal with the `emit` that `process` had when the signal got its
// first listener (P-111). So `lameduck/register` replaces `process.emit` before the program adds listeners.

import { startImmediate } from '../node-timers.ts';
import { interceptOwnDisconnect, isClusterDisconnect, type TakeDisconnect } from './cluster-disconnect.ts';

/**
 * Interceptor receives each event of `process` before the program's listeners. It decides whether these listeners
 * receive the event.
 */
export interface Interceptor {
  /**
   * take returns true if the program's listeners must not receive an event of `process` yet. An example is a process
   * signal, which lameduck may delay until the end of the drain.
   */
  take(event: string, args: readonly unknown[]): boolean;
  /**
   * takeError is called for an uncaught error if the program has no listener for uncaught errors. If takeError returns
   * false, Node handles the error.
   */
  takeError(error: Error, origin: NodeJS.UncaughtExceptionOrigin): boolean;
  /** takeDisconnect is called when this worker of `node:cluster` is about to disconnect from its primary. */
  readonly takeDisconnect: TakeDisconnect;
}

type Emit = (this: unknown, event: string | symbol, ...args: unknown[]) => boolean;

/**
 * `reached` is a private event. lameduck emits it with the current `process.emit`. If lameduck's own `emit` does not
 * receive it, a library has replaced `process.emit`.
 */
const reached = Symbol('lameduck.reached');

// All copies of this package in a process share one EmitOverride, which each copy finds under this global symbol.
// Change the number in the key whenever the type EmitOverride or the type Interceptor changes.
const key = Symbol.for('lameduck.process-emit/v4');

/**
 * emitOverride replaces `process.emit` by lameduck's `emit`, once for all copies of this package in the process.
 * lameduck never restores the original `emit`: for process signals, Node would call lameduck's `emit` even after the
 * restoration.
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
   * bypassing contains the process signals that had a listener before lameduck replaced `process.emit`. Node emits
   * these signals with the original `emit`, so lameduck's `emit` does not receive them.
   */
  readonly bypassing: ReadonlySet<string>;
  /**
   * emitting is the name of the event whose listeners lameduck's `process.emit` is calling at the moment. It is
   * undefined while lameduck's `process.emit` calls no listeners.
   */
  emitting: string | symbol | undefined;
  readonly #emit: Emit;
  // #own is the original `emit` of `process`, which lameduck's `emit` has replaced.
  #own: Emit;
  // #covered is undefined until a library replaces lameduck's `process.emit` by an `emit` that calls lameduck's `emit`.
  // #covered is then lameduck's wrapper around the library's `emit`. For an uncaught error, the wrapper calls the
  // interceptor first, and the library's `emit` only if the interceptor has not handled the error.
  #covered: Emit | undefined;
  #interceptor: Interceptor | undefined;
  #releaseDisconnect: () => void = () => undefined;
  // #takeEarly removes the listeners that `noteEarlySignals` has added for process signals. It returns the process
  // signal that these listeners have recorded.
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
   * interceptLater installs a temporary interceptor, which is used until the code of a lifecycle is loaded. It calls
   * `hurry` before the program receives one of `signals`, or another event that a lifecycle handles. `hurry` must load
   * the lifecycle, which calls `intercept`, or must do nothing if the lifecycle cannot be loaded. The returned function
   * removes the temporary interceptor. Call it only after `intercept`, so that each of `signals` always has a listener.
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
        // lameduck's temporary listener has prevented the default action of the process signal, which is to end the
        // process. If no lifecycle handles the signal and the program has no listener for it, perform the default
        // action here.
        end();
        this.process.kill(this.process.pid, event);
        return true;
      },
      takeError: (error, origin) => next()?.takeError(error, origin) === true,
      takeDisconnect: (disconnect) => next()?.takeDisconnect(disconnect) === true,
    };
    // Node may emit a process signal with the original `process.emit` instead of lameduck's, and the interceptor then
    // misses the signal. So lameduck's listener for the signal emits the signal again with lameduck's `emit`.
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
   * added adds a listener to the process, and returns the function that `process.rawListeners()` then contains. If a
   * library has replaced `process.on()`, this function may be a wrapper around the listener. If `process.on()` has
   * added nothing, added returns the listener that was passed to it.
   */
  added(event: string, listener: Listener): Listener {
    this.process.on(event, listener);
    return (this.process.rawListeners(event).at(-1) as Listener | undefined) ?? listener;
  }

  /**
   * intercept passes every later event of the process to `interceptor`, before any listener of the process receives the
   * event.
   */
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

  // A library such as signal-exit may replace lameduck's `process.emit` by its own. Node emits another event before
  // each `uncaughtException`, and `#restore` is called at that event. If the library's `emit` does not call lameduck's
  // `emit`, `#restore` installs lameduck's `emit` again. If it does, `#restore` wraps the library's `emit`, so that the
  // interceptor receives uncaught errors first.
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
    // Make lameduck's `process.emit` not enumerable. Then a program that lists the properties of `process` sees the
    // same list as without lameduck.
    Object.defineProperty(this.process, 'emit', { value, writable: true, configurable: true, enumerable: false });
  }
}

/**
 * If the program has removed one of lameduck's signal listeners, keepListener adds this listener again. It is called at
 * each event `removeListener` of `process`. The last parameter contains the arguments of the event. Node emits
 * `removeListener` before it stops watching for the process signal, so no signal is missed.
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
