// lameduck's own listeners of `process`, by which Node delivers what is taken before it reaches them.
import { overrideEmit } from './held-signals.ts';
import type { Listener } from './own-listeners.ts';

interface Wrapped {
  readonly listener: Listener;
  /** Calls it as Node would: what was added by `once` is removed. */
  readonly call: Listener;
}

/**
 * Listening has one listener for each event. Node delivers a signal or a message only if it has a listener, and the program's
 * own may come and go. If the program removes all of them, this one stays.
 */
export class Listening {
  readonly #listeners = new Map<string, Listener>();
  readonly #wrapped = new WeakMap<Listener, Wrapped>();
  readonly #onBypassed: (event: string, args: readonly unknown[]) => void;

  /** `onBypassed` is called for what an `emit` other than `process.emit` delivers, to the program's listeners as well. */
  constructor(onBypassed: (event: string, args: readonly unknown[]) => void) {
    this.#onBypassed = onBypassed;
  }

  /** listen adds the listener of an event, if there is none. */
  listen(event: string): void {
    if (this.#listeners.has(event)) return;
    const override = overrideEmit();
    const isEmittedPast = override.bypassing.has(event);
    const listener = (...args: unknown[]): void => {
      if (override.emitting === event) return;
      if (isEmittedPast) override.emit(event, args);
      else this.#onBypassed(event, args);
    };
    process.on(event, listener);
    this.#listeners.set(event, listener);
    if (!isEmittedPast) return;
    this.#wrapAll(event);
    process.off('newListener', this.#onNewListener).on('newListener', this.#onNewListener);
  }

  /** forget removes the listener of an event. */
  forget(event: string): void {
    const listener = this.#listeners.get(event);
    if (listener === undefined) return;
    this.#replaceAll(event, (one) => this.#wrapped.get(one)?.listener ?? one);
    this.#listeners.delete(event);
    process.off(event, listener);
    if (this.#listeners.size === 0) process.off('newListener', this.#onNewListener);
  }

  /**
   * keep adds the listener again that has been removed, unless it was forgotten. It is called before Node hears of the
   * removal, with the arguments of `removeListener`.
   */
  keep([event, listener]: readonly unknown[]): void {
    const signal = event as string;
    const own = this.#listeners.get(signal);
    if (own === undefined || own !== listener) return;
    process.on(signal, own);
    // Whoever removes the listeners of all events removes this one, too, without a word.
    process.nextTick(() => {
      if (this.#listeners.get(signal) === own && !process.rawListeners(signal).includes(own)) process.on(signal, own);
    });
  }

  /** forgetAll removes every listener. */
  forgetAll(): void {
    for (const event of [...this.#listeners.keys()]) this.forget(event);
  }

  /** othersOf returns the program's own listeners of an event. */
  othersOf(event: string): Listener[] {
    const others = process.rawListeners(event).filter((one) => one !== this.#listeners.get(event)) as Listener[];
    return others.map((one) => this.#wrapped.get(one)?.call ?? one);
  }

  // Before Node delivers anything, and after whoever adds listeners is done.
  readonly #onNewListener = (event: string | symbol): void => {
    if (typeof event === 'string' && overrideEmit().bypassing.has(event) && this.#listeners.has(event)) {
      process.nextTick(() => {
        if (this.#listeners.has(event)) this.#wrapAll(event);
      });
    }
  };

  // A wrapper is deaf to what Node emits past the override, and hears it when our own listener emits it again. Node would
  // find the override if a signal had no listener for a moment, but in that moment a signal would be lost.
  #wrapAll(event: string): void {
    this.#replaceAll(event, (one) => (this.#wrapped.has(one) ? one : this.#wrapper(event, one)));
  }

  #wrapper(event: string, listener: Listener): Listener {
    // By the function that was given, process.listeners() and process.off() know it.
    const { listener: given = listener } = listener as { listener?: Listener };
    const call = (...args: unknown[]): unknown => {
      if (given !== listener) process.off(event, wrapper);
      return listener.apply(process, args);
    };
    const wrapper = Object.assign(
      (...args: unknown[]) => (overrideEmit().emitting === event ? call(...args) : undefined),
      { listener: given },
    );
    this.#wrapped.set(wrapper, { listener, call });
    return wrapper;
  }

  // In their order; our own stays, so that there is always one.
  #replaceAll(event: string, replacement: (one: Listener) => Listener): void {
    const others = process.rawListeners(event).filter((one) => one !== this.#listeners.get(event)) as Listener[];
    const replaced = others.map(replacement);
    if (replaced.every((one, index) => one === others[index])) return;
    for (const one of others) process.off(event, one);
    for (const one of replaced) process.on(event, one);
  }
}
