// Calls the program's own listeners for a process signal. Detects when these listeners have returned, and when the work
// that they have started has ended.
import { Server } from 'node:net';
import { startImmediate, type Clock } from '../clock.ts';
import { isThenable } from '../thenable.ts';
import { followPromises, type Followed } from './started-promises.ts';

/** Listener is a function that was passed to `process.on()`. */
export type Listener = (this: NodeJS.Process, ...args: unknown[]) => unknown;

type Close = (this: Server, callback?: (this: Server, ...args: unknown[]) => unknown) => Server;

/**
 * OwnListeners calls the program's own listeners for a process signal. It waits for the promises that the listeners
 * return, for the callbacks that they pass to `server.close()`, and for the promises of these callbacks. If a listener
 * returns no promise, OwnListeners waits for the promises that the program creates because of this listener.
 */
export class OwnListeners {
  readonly #process: NodeJS.Process;
  readonly #clock: Clock;
  /** `#left` contains those signal listeners of the program that callOneByOne must still call. */
  #left: (() => unknown)[] = [];
  #isCalling = false;
  #outstanding = 0;
  #patience = 0;
  #onIdle: (() => void) | undefined;
  #cancel: () => void = () => undefined;

  constructor(target: NodeJS.Process, clock: Clock) {
    this.#process = target;
    this.#clock = clock;
  }

  /** callAtOnce calls all listeners of the program in one turn of the event loop, as `process.emit()` does. */
  callAtOnce(listeners: readonly Listener[], args: readonly unknown[]): void {
    this.#watchCloses();
    for (const listener of listeners) {
      const followed = this.#follow();
      // The drain begins in the same turn of the event loop, and creates promises too. So follow only those of the call.
      try {
        void this.#settle(this.#call(() => listener.apply(this.#process, [...args]), followed));
      } finally {
        followed.stop();
      }
    }
  }

  /**
   * callOneByOne calls each listener of the program when the promise of the previous listener has settled. It resolves
   * after the last listener, and never rejects.
   */
  async callOneByOne(listeners: readonly Listener[], args: readonly unknown[]): Promise<void> {
    this.#watchCloses();
    const end = this.#begin();
    this.#left = listeners.map((listener) => () => listener.apply(this.#process, [...args]));
    for (let next = this.#left.shift(); next !== undefined; next = this.#left.shift()) await this.#callInOwnTurn(next);
    end();
  }

  /**
   * emitAndFollow calls `emit` in its own turn of the event loop. `emit` emits an event to listeners of the program.
   * `whenIdleFor` then also waits for the promises that these listeners create.
   */
  async emitAndFollow(emit: () => void): Promise<void> {
    const end = this.#begin();
    await this.#callInOwnTurn(emit);
    end();
  }

  /**
   * callLeft is called if a signal listener of the program exits the process after an `await`. It calls the signal
   * listeners that callOneByOne has not called yet. Without lameduck, Node calls all listeners before any of them
   * continues after an `await`.
   */
  callLeft(): void {
    for (const call of this.#isCalling ? [] : this.#left.splice(0)) call();
  }

  /**
   * whenIdleFor calls `callback` when the program's signal listeners have had no work in progress for `milliseconds`.
   * Such work is a pending promise that a signal listener has returned or created, or a pending call of
   * `server.close()`.
   */
  whenIdleFor(milliseconds: number, callback: () => void): void {
    this.#patience = milliseconds;
    this.#onIdle = callback;
    this.#wait();
  }

  /**
   * If the program sends a process signal to its own process, its cleanup is complete, and lameduck calls endsWhenIdle.
   * From then on, `whenIdleFor` does not wait `milliseconds`. It calls its callback as soon as the program's signal
   * listeners have no work in progress.
   */
  endsWhenIdle(): void {
    this.#patience = 0;
    this.#wait();
  }

  // Calls one signal listener of the program in its own turn of the event loop. If the listener throws, its error is
  // then an uncaught error, as it would be without lameduck.
  #callInOwnTurn(call: () => unknown): Promise<void> {
    return new Promise((resolve) => {
      let followed: Followed | undefined;
      startImmediate(() => {
        followed = this.#follow();
        let outcome: unknown;
        this.#isCalling = true;
        try {
          outcome = this.#call(call, followed);
        } finally {
          this.#isCalling = false;
          resolve(this.#settle(outcome));
        }
      });
      // Node runs this callback directly after the microtasks of the call above. In these microtasks, the program
      // continues after `await once(process, 'SIGTERM')`.
      startImmediate(() => followed?.stop());
    });
  }

  #follow(): Followed {
    return followPromises(this.#begin.bind(this));
  }

  // `#settle()` awaits a promise that the listener returns. So the promises that the listener has created do not count.
  // Among them may be one that never settles, as after `await Promise.race()`.
  #call(call: () => unknown, followed: Followed): unknown {
    const outcome = call();
    if (isThenable(outcome)) followed.forget();
    return outcome;
  }

  async #settle(outcome: unknown): Promise<void> {
    const end = this.#begin();
    try {
      await outcome;
    } catch (error) {
      // The `await` above has handled the rejection of the listener's promise. Without lameduck, it would be an
      // unhandled rejection, so reject again without a handler.
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
      void Promise.reject(error);
    }
    end();
  }

  #begin(): () => void {
    this.#outstanding++;
    this.#cancel();
    return () => {
      this.#outstanding--;
      this.#wait();
    };
  }

  #wait(): void {
    this.#cancel();
    if (this.#outstanding > 0 || this.#onIdle === undefined) return;
    this.#cancel = this.#clock.afterUnref(this.#patience, this.#onIdle);
  }

  // Counts the calls of `server.close()` of all servers. It replaces `close` on the prototype, because the program may
  // close any server. The original method is never restored, because the process is about to exit.
  #watchCloses(): void {
    // The method is called with its server as its `this`.
    // eslint-disable-next-line @typescript-eslint/unbound-method
    const close = Server.prototype.close as Close;
    const begin = this.#begin.bind(this);
    const settle = this.#settle.bind(this);
    const follow = this.#follow.bind(this);
    const watched: Close = function (callback) {
      this.prependOnceListener('close', () => {
        const { stop } = follow();
        // The second microtask runs after the continuation of `await once(server, 'close')` in the program.
        queueMicrotask(() => {
          queueMicrotask(stop);
        });
      });
      if (typeof callback !== 'function') return close.call(this, callback);
      const end = begin();
      return close.call(this, function (...args) {
        let outcome: unknown;
        try {
          outcome = callback.apply(this, args);
        } finally {
          void settle(outcome);
          end();
        }
      });
    };
    Server.prototype.close = watched as Server['close'];
  }
}
