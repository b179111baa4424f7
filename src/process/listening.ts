// lameduck's own listeners of `process`. Node delivers a signal only if it has a listener; the override of `process.emit` then
// takes the signal before any listener is called.
import type { EmitOverride } from './emit-override.ts';
import type { Listener } from './own-listeners.ts';

interface Wrapped {
  readonly listener: Listener;
  /** Calls the listener as Node would: one that was added by `once` is removed. */
  readonly call: Listener;
}

/**
 * Listening keeps one listener for each event, because the program may remove its own. If the program removes every listener
 * of an event, this one is added again.
 */
export class Listening {
  readonly #listeners = new Map<string, Listener>();
  readonly #wrapped = new WeakMap<Listener, Wrapped>();
  readonly #process: NodeJS.Process;
  readonly #override: EmitOverride;
  readonly #onBypassed: (event: string, args: readonly unknown[]) => void;

  /** `onBypassed` is called for an event that an `emit` other than `process.emit` delivers to all listeners. */
  constructor(override: EmitOverride, onBypassed: (event: string, args: readonly unknown[]) => void) {
    this.#process = override.process;
    this.#override = override;
    this.#onBypassed = onBypassed;
  }

  /** listen adds the listener of an event, if there is none. */
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

  /** forget removes the listener of an event. */
  forget(event: string): void {
    const listener = this.#listeners.get(event);
    if (listener === undefined) return;
    this.#replaceAll(event, (one) => this.#wrapped.get(one)?.listener ?? one);
    this.#listeners.delete(event);
    this.#process.off(event, listener);
    if (this.#listeners.size === 0) this.#process.off('newListener', this.#onNewListener);
  }

  /**
   * keep adds the listener again if the program has removed it. It is called with the arguments of the event
   * `removeListener`, before Node stops watching for the signal.
   */
  keep([event, listener]: readonly unknown[]): void {
    const signal = event as string;
    const own = this.#listeners.get(signal);
    if (own === undefined || own !== listener) return;
    this.#add(signal, own);
    // `process.removeAllListeners()` also removes the listener that was just added, and emits no event for it.
    this.#process.nextTick(() => {
      const present = this.#listeners.get(signal);
      if (present !== undefined && !this.#process.rawListeners(signal).includes(present)) this.#add(signal, present);
    });
  }

  #add(event: string, listener: Listener): void {
    this.#listeners.set(event, this.#override.added(event, listener));
  }

  /** forgetAll removes every listener. */
  forgetAll(): void {
    for (const event of [...this.#listeners.keys()]) this.forget(event);
  }

  /** othersOf returns the program's own listeners of an event. */
  othersOf(event: string): Listener[] {
    const others = this.#process.rawListeners(event).filter((one) => one !== this.#listeners.get(event)) as Listener[];
    return others.map((one) => this.#wrapped.get(one)?.call ?? one);
  }

  // In the next tick the new listener has been added, and Node has not delivered a signal yet.
  readonly #onNewListener = (event: string | symbol): void => {
    if (typeof event === 'string' && this.#override.bypassing.has(event) && this.#listeners.has(event)) {
      this.#process.nextTick(() => {
        if (this.#listeners.has(event)) this.#wrapAll(event);
      });
    }
  };

  // A wrapper ignores an event that Node emits by the original `emit`. lameduck's own listener emits the event again by the
  // override, and the wrapper then calls its listener. Removing all listeners for a moment would also make Node use the
  // override. But a signal that arrives in that moment would be lost.
  #wrapAll(event: string): void {
    this.#replaceAll(event, (one) => (this.#wrapped.has(one) ? one : this.#wrapper(event, one)));
  }

  #wrapper(event: string, listener: Listener): Listener {
    // process.listeners() and process.off() know a wrapper by the property `listener`.
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

  // In their order. lameduck's own listener stays, so that the event always has one.
  #replaceAll(event: string, replacement: (one: Listener) => Listener): void {
    const others = this.#process.rawListeners(event).filter((one) => one !== this.#listeners.get(event)) as Listener[];
    const replaced = others.map(replacement);
    if (replaced.every((one, index) => one === others[index])) return;
    for (const one of others) this.#process.off(event, one);
    for (const one of replaced) this.#process.on(event, one);
  }
}
