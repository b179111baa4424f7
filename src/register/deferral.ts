// Loads the lifecycle a short time after `listen()`, so that the first response does not wait for the loading. If a
// process signal arrives before the lifecycle is loaded, the signal is not lost.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:net';
import { startImmediate, startTimer, stopTimer } from '../node-timers.ts';
import { patchEmit, type Emit } from '../patch-emit.ts';
import { emitOverride } from '../process/emit-override.ts';

// The diagnostics channel on which Node publishes each complete HTTP/1.1 response.
const responses = 'http.server.response.finish';

// How long to wait for the first response, in milliseconds. After this time, the lifecycle is loaded even without a
// response. The time is short, because only a loaded lifecycle opens the probe port. A pod gets no request until its
// probe port answers.
const patience = 50;

/**
 * DeferralSteps contains the functions that load the code of the lifecycle, and the function that then adds servers to
 * the lifecycle.
 */
export interface DeferralSteps {
  /**
   * `load` is a list of functions. Each function loads one part of lameduck's code, and is called in a separate turn of
   * the event loop.
   */
  readonly load: readonly (() => void)[];
  /**
   * addToLifecycle adds a listening server to the lifecycle. After the code of the lifecycle has been loaded, it is
   * called for each server.
   */
  readonly addToLifecycle: (server: Server) => void;
  /**
   * onFailure receives the error if addToLifecycle or one of the functions in `load` throws. After that, no further
   * function in `load` is called.
   */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Deferral loads the code of the lifecycle after the first response. If a process signal or an upgrade arrives before
 * that, it loads the code at once.
 */
export class Deferral {
  readonly #servers = new Set<Server>();
  /** #restore restores the original `emit` of each server. */
  #restore: (() => void)[] = [];
  readonly #addToLifecycle: (server: Server) => void;
  readonly #onFailure: (error: unknown) => void;
  #rest: (() => void)[];
  #timer: NodeJS.Timeout | undefined;
  #stopIntercepting: (() => void) | undefined;

  constructor({ load, addToLifecycle, onFailure }: DeferralSteps) {
    this.#addToLifecycle = addToLifecycle;
    this.#onFailure = onFailure;
    const last = (): void => {
      this.#restoreEmits();
      for (const server of this.#servers) if (server.listening) addToLifecycle(server);
    };
    this.#rest = [...load, last];
  }

  /**
   * `add()` is called while the program calls `listen()` on a server. From then on, lameduck intercepts process
   * signals, because a signal directly after `listen()` would otherwise kill the process. When the code of the
   * lifecycle is loaded, lameduck adds the server to the lifecycle.
   */
  add(server: Server): void {
    if (this.#rest.length > 0 && !this.#try(this.#await.bind(this, server))) return;
    // First let the program's callbacks of `listen()` run, because they may call `lameduck(server)` or close the
    // server.
    startImmediate(() => {
      this.#try(() => {
        this.#look(server);
      });
    });
  }

  #await(server: Server): void {
    this.#servers.add(server);
    // Replace the server's `emit` now, not in a callback of setImmediate. Node may accept a connection before such a
    // callback runs.
    this.#restore.push(beforeHidden(server, this.#hurry));
    if (this.#stopIntercepting !== undefined) return;
    this.#stopIntercepting = emitOverride().interceptLater(['SIGTERM', 'SIGINT'], this.#hurry);
    this.#timer = startTimer(this.#begin, patience).unref();
    subscribe(responses, this.#begin);
  }

  #look(server: Server): void {
    if (this.#rest.length === 0) this.#addToLifecycle(server);
    else if (!server.listening) this.#forget(server);
    // If the server serves HTTP/2, begin to load the code of the lifecycle now. Otherwise, the first HTTP/2 session
    // would load all of the code in a single turn of the event loop.
    else if ('updateSettings' in server) this.#begin();
  }

  #forget(server: Server): void {
    this.#servers.delete(server);
    if (this.#servers.size === 0) this.#stop();
  }

  readonly #begin = (): void => {
    stopTimer(this.#timer);
    unsubscribe(responses, this.#begin);
    startImmediate(this.#step);
  };

  readonly #step = (): void => {
    this.#runNext();
    if (this.#rest.length > 0) startImmediate(this.#step);
  };

  readonly #hurry = (): void => {
    while (this.#rest.length > 0) this.#runNext();
  };

  #runNext(): void {
    const next = this.#rest.shift();
    // Stop intercepting process signals only when every function that loads or creates the lifecycle has succeeded. If
    // one of these functions has thrown, keep lameduck's signal listeners, because a signal without a listener would
    // kill the process.
    if (next !== undefined && this.#try(next) && this.#rest.length === 0) this.#stop();
  }

  #try(step: () => void): boolean {
    try {
      step();
      return true;
    } catch (error) {
      this.#rest = [];
      this.#restoreEmits();
      this.#onFailure(error);
      return false;
    }
  }

  #restoreEmits(): void {
    for (const restore of this.#restore) restore();
    this.#restore = [];
  }

  #stop(): void {
    this.#stopIntercepting?.();
    this.#stopIntercepting = undefined;
    stopTimer(this.#timer);
    unsubscribe(responses, this.#begin);
  }
}

// The lifecycle must be loaded before one of these events. After an `upgrade` or `connect`, it could not find the
// socket of the upgraded connection, because Node does not list such sockets. After a `session`, it could not find the
// HTTP/2 session before Node 24. On later versions, it could not find the headers of all requests of the session.
const hidden: readonly unknown[] = ['upgrade', 'connect', 'session'];

/**
 * beforeHidden watches a server whose lifecycle has not been loaded yet. Before the program receives an upgrade or an
 * HTTP/2 session, beforeHidden calls `hurry`, which loads the lifecycle. The returned function restores the server's
 * `emit`.
 */
function beforeHidden(server: Server, hurry: () => void): () => void {
  let isOver = false;
  const restore = patchEmit(server, (original) => {
    const patched: Emit = (event, ...args) => {
      // If the program has called `lameduck(server)`, the server has a newer `emit` than `patched`. The newer `emit`
      // has already handled this event and has called `patched`, so do not call the newer `emit` a second time.
      const isLate = isOver || server.emit !== patched;
      if (isLate || !hidden.includes(event)) return original().call(server, event, ...args);
      hurry();
      // `hurry()` has just loaded the lifecycle, which has replaced the server's `emit`. The lifecycle has not received
      // this event yet, so emit the event again with the new `emit`.
      return server.emit(event as string, ...args);
    };
    return patched;
  });
  return () => {
    isOver = true;
    restore();
  };
}
