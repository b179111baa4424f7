// Adds listeners of lameduck to `process`, because Node delivers a process signal only if the signal has a listener.
// lameduck's `process.emit` then receives the signal before any listener does.
import { keepListener, type EmitOverride } from './emit-override.ts';
import type { Listener } from './own-listeners.ts';

interface Wrapped {
  readonly listener: Listener;
  /**
   * `call` calls a signal listener of the program, and passes it the arguments of the event. A listener that was added
   * with `once` is removed before the call.
   */
  readonly call: Listener;
}

/**
 * Listening adds one listener of lameduck to `process` for each event that lameduck handles, such as SIGTERM. If the
 * program removes all listeners of such an event, Listening adds lameduck's listener again.
 */
export class Listening {
  readonly #listeners = new Map<string, Listener>();
  readonly #wrapped = new WeakMap<Listener, Wrapped>();
  readonly #process: NodeJS.Process;
  readonly #override: EmitOverride;
  readonly #onBypassed: (event: string, args: readonly unknown[]) => void;

  /**
   * Node or the program may have saved an earlier `process.emit`, and may emit an event with this saved function. The
   * event then reaches the listeners of `process`, but not the current `process.emit`. `onBypassed` is called in this
   * case.
   */
  constructor(override: EmitOverride, onBypassed: (event: string, args: readonly unknown[]) => void) {
    this.#process = override.process;
    this.#override = override;
    this.#onBypassed = onBypassed;
  }

  /**
   * `listen()` adds lameduck's listener for an event, such as SIGTERM, to `process`. It does nothing if lameduck
   * already has a listener for this event.
   */
  listen(event: string): void {
    if (this.#listeners.has(event)) return;
    const override = this.#override;
    const isEmittedPast = override.bypassing.has(event);
    const listener = (...args: unknown[]): void => {
      if (override.emitting === event) return;
      if (isEmittedPast) override.emit(event, args);
      else this.#onBypassed(event, args);
    };
    this.#add(event, listener);
    if (!isEmittedPast) return;
    this.#wrapAll(event);
    this.#process.off('newListener', this.#onNewListener).on('newListener', this.#onNewListener);
  }

  /** `forget()` removes lameduck's listener for an event, such as SIGTERM, from `process`. */
  forget(event: string): void {
    const listener = this.#listeners.get(event);
    if (listener === undefined) return;
    this.#replaceAll(event, (one) => this.#wrapped.get(one)?.listener ?? one);
    this.#listeners.delete(event);
    this.#process.off(event, listener);
    if (this.#listeners.size === 0) this.#process.off('newListener', this.#onNewListener);
  }

  /** `keep()` adds lameduck's listener again if the program has removed it. See `keepListener`. */
  keep(args: readonly unknown[]): void {
    keepListener(this.#override, this.#listeners, args);
  }

  #add(event: string, listener: Listener): void {
    this.#listeners.set(event, this.#override.added(event, listener));
  }

  forgetAll(): void {
    for (const event of [...this.#listeners.keys()]) this.forget(event);
  }

  /**
   * othersOf returns the program's own listeners for an event of `process`, without the listeners that
   * `process.listeners()` omits.
   */
  othersOf(event: string): Listener[] {
    const hidden = this.#hiddenOf(event);
    const others = this.#rawOthersOf(event).filter((one) => !hidden.includes(one));
    return others.map((one) => this.#wrapped.get(one)?.call ?? one);
  }

  /**
   * A hidden listener is a listener of the program that `process.listeners()` omits. callHidden calls the hidden
   * listeners for an event that lameduck withholds from the program's other listeners. If Node has emitted the event
   * with the original `emit`, Node has already called the hidden listeners, and callHidden does nothing.
   */
  callHidden(event: string, args: readonly unknown[]): void {
    if (this.#override.bypassing.has(event)) return;
    for (const listener of this.#hiddenOf(event)) listener.apply(this.#process, [...args]);
  }

  #rawOthersOf(event: string): Listener[] {
    return this.#process.rawListeners(event).filter((one) => one !== this.#listeners.get(event)) as Listener[];
  }

  // A hidden listener is in process.rawListeners() but not in process.listeners(). The launcher tsx hides a listener
  // that acknowledges each process signal to its parent process. If the acknowledgement is late, the parent sends
  // SIGKILL.
  #hiddenOf(event: string): Listener[] {
    const shown = this.#process.listeners(event as NodeJS.Signals) as unknown[];
    if (shown.length === this.#process.rawListeners(event).length) return [];
    return this.#rawOthersOf(event).filter((one) => !shown.includes((one as { listener?: unknown }).listener ?? one));
  }

  // A listener that the program adds must be replaced by lameduck's wrapper. Node adds the listener only after the
  // event `newListener`, so replace it in the next tick. No process signal is delivered before the next tick.
  readonly #onNewListener = (event: string | symbol): void => {
    if (typeof event === 'string' && this.#override.bypassing.has(event) && this.#listeners.has(event)) {
      this.#process.nextTick(() => {
        if (this.#listeners.has(event)) this.#wrapAll(event);
      });
    }
  };

  // Some events reach the program's listeners through Node's original `emit`, without lameduck's. For such an event,
  // replace each listener of the program by a wrapper. When Node calls the wrapper, the wrapper does nothing.
  // lameduck's own listener then emits the event again with lameduck's `emit`, and this time the wrapper calls the
  // program's listener. It would be simpler to remove all listeners and to add them again, so that Node uses lameduck's
  // `emit`. But a signal between these two steps would be lost.
  #wrapAll(event: string): void {
    const hidden = this.#hiddenOf(event);
    this.#replaceAll(event, (one) =>
      this.#wrapped.has(one) || hidden.includes(one) ? one : this.#wrapper(event, one),
    );
  }

  #wrapper(event: string, listener: Listener): Listener {
    // The wrapper gets the property `listener`, which contains the program's own function. By this property,
    // process.listeners() and process.off() recognize the wrapper.
    const { listener: given = listener } = listener as { listener?: Listener };
    const call = (...args: unknown[]): unknown => {
      if (given !== listener) this.#process.off(event, wrapper);
      return listener.apply(this.#process, args);
    };
    const wrapper = Object.assign(
      (...args: unknown[]) => (this.#override.emitting === event ? call(...args) : undefined),
      { listener: given },
    );
    this.#wrapped.set(wrapper, { listener, call });
    return wrapper;
  }

  // Replaces each listener that the program has for an event, and keeps the order of the listeners. It does not remove
  // lameduck's own listener, so the event has a listener at all times.
  #replaceAll(event: string, replacement: (one: Listener) => Listener): void {
    const others = this.#rawOthersOf(event);
    const replaced = others.map(replacement);
    if (replaced.every((one, index) => one === others[index])) return;
    for (const one of others) this.#process.off(event, one);
    for (const one of replaced) this.#process.on(event, one);
  }
}
