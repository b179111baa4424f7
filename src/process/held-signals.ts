// The one override of `process.emit`, through which process signals are kept from the program's own listeners. Node keeps
// the `emit` that it finds when a signal gets its first listener (P-111): the preload puts the override there before that.

import { interceptOwnDisconnect, isClusterDisconnect, type TakeDisconnect } from './cluster-disconnect.ts';

/** Interceptor is asked before the program's listeners are called. */
export interface Interceptor {
  /** take returns true for an event of `process`, such as a process signal, that no listener must see now. */
  take(event: string, args: readonly unknown[]): boolean;
  /** takeError is given an uncaught error that nobody listens for; false leaves it to Node. */
  takeError(error: Error, origin: NodeJS.UncaughtExceptionOrigin): boolean;
  /** takeDisconnect is asked before this process, a worker of `node:cluster`, disconnects. */
  readonly takeDisconnect: TakeDisconnect;
}

type Emit = (this: unknown, event: string | symbol, ...args: unknown[]) => boolean;

interface Override {
  /** Process signals that had a listener before the override: Node emits them past it. */
  readonly bypassing: ReadonlySet<string>;
  /** What is being emitted through the override. */
  emitting: string | symbol | undefined;
  emit: (event: string, args: readonly unknown[]) => void;
  interceptor: Interceptor | undefined;
  releaseDisconnect: () => void;
  /** Stops noting process signals that nobody listens for, and returns the one that was noted. */
  takeEarly: () => NodeJS.Signals | undefined;
}

const key = Symbol.for('lameduck.process-emit/v2');

/**
 * overrideEmit puts the override there, once for all copies of this package in the process. Without an interceptor it lets
 * everything pass. It stays: listeners that Node has bound to it would not find what replaces it.
 */
export function overrideEmit(): Override {
  const registry = globalThis as unknown as Record<symbol, Override | undefined>;
  return (registry[key] ??= install());
}

function install(): Override {
  const hadListeners = process.eventNames().filter((name) => typeof name === 'string' && name.startsWith('SIG'));
  // Called below on what it is called on.
  // eslint-disable-next-line @typescript-eslint/unbound-method
  const own = process.emit as Emit;
  const emit: Emit = function (event, ...args) {
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
    const isHeard = deliver();
    if (isHeard || event !== 'uncaughtException' || interceptor === undefined) return isHeard;
    return interceptor.takeError(args[0] as Error, args[1] as NodeJS.UncaughtExceptionOrigin);
  };
  const override: Override = {
    bypassing: new Set(hadListeners as string[]),
    emitting: undefined,
    emit: (event, args) => void emit.call(process, event, ...args),
    interceptor: undefined,
    releaseDisconnect: () => undefined,
    takeEarly: () => undefined,
  };
  // As it was, where nobody sees it who looks at what is in `process`.
  Object.defineProperty(process, 'emit', { value: emit, writable: true, configurable: true, enumerable: false });
  return override;
}

/**
 * noteEarlySignals lets PID 1 note a process signal that it does not listen for: the kernel drops such a signal, and nobody
 * sends it twice (K-100). For any other process the default is the end, and stays it.
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

/** intercept lets `interceptor` see every event of `process` from now on. */
export function intercept(interceptor: Interceptor): void {
  const override = overrideEmit();
  override.interceptor = interceptor;
  override.releaseDisconnect = interceptOwnDisconnect(interceptor.takeDisconnect);
  const early = override.takeEarly();
  override.takeEarly = () => undefined;
  if (early !== undefined) setImmediate(() => process.emit(early, early));
}

/** stopIntercepting lets everything pass again. */
export function stopIntercepting(): void {
  const override = overrideEmit();
  override.interceptor = undefined;
  override.releaseDisconnect();
}
