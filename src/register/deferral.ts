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

/** DeferralSteps are the functions that load the lifecycle and use it. */
export interface DeferralSteps {
  /**
   * load lists functions that each load a part of lameduck. Each function is called in its own turn of the event loop.
   */
  readonly load: readonly (() => void)[];
  /** addToLifecycle gives a listening server its lifecycle. It is called for each server when everything is loaded. */
  readonly addToLifecycle: (server: Server) => void;
  /**
   * onFailure is called if a function of `load` or the call of `addToLifecycle` throws. No further function is called
   * after that.
   */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Deferral loads the lifecycle after the first response. At a process signal or an upgrade, it loads the lifecycle at
 * once.
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
   * add registers a server, which gets its lifecycle when the lifecycle is loaded. add is called during `listen()` and
   * intercepts process signals. Otherwise, a process signal right after `listen()` would kill the process.
   */
  add(server: Server): void {
    if (this.#rest.length > 0 && !this.#try(this.#await.bind(this, server))) return;
    // First let the program's own callbacks run, because they may call `lameduck(server)` or close the server.
    startImmediate(() => {
      this.#try(() => {
        this.#look(server);
      });
    });
  }

  #await(server: Server): void {
    this.#servers.add(server);
    // Replace `emit` now, because Node may accept a connection before the next immediate.
    this.#restore.push(beforeHidden(server, this.#hurry));
    if (this.#stopIntercepting !== undefined) return;
    this.#stopIntercepting = emitOverride().interceptLater(['SIGTERM', 'SIGINT'], this.#hurry);
    this.#timer = startTimer(this.#begin, patience).unref();
    subscribe(responses, this.#begin);
  }

  #look(server: Server): void {
    if (this.#rest.length === 0) this.#addToLifecycle(server);
    else if (!server.listening) this.#forget(server);
    // The first HTTP/2 session loads the rest of the lifecycle in a single turn of the event loop. So begin to load it
    // now if the server serves HTTP/2.
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
    // Stop intercepting process signals only after success. After a failure, keep the signal listeners, because a
    // signal without a listener would kill the process.
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

// If the lifecycle is loaded after an event `upgrade`, `connect` or `session`, it cannot find the connection of that
// event or the requests on it. Node does not list the socket of an upgrade. Node lists HTTP/2 sessions only since
// version 24, and keeps the headers of only some streams.
const hidden: readonly unknown[] = ['upgrade', 'connect', 'session'];

/**
 * Before the program receives an upgrade or an HTTP/2 session, beforeHidden calls `hurry`, which loads the lifecycle.
 * beforeHidden returns a function that restores the server's `emit`.
 */
function beforeHidden(server: Server, hurry: () => void): () => void {
  let isOver = false;
  const restore = patchEmit(server, (original) => {
    const patched: Emit = (event, ...args) => {
      // If the program has called `lameduck(server)`, the `emit` of that lifecycle has already received the event. Do
      // not pass the event to it again.
      const isLate = isOver || server.emit !== patched;
      if (isLate || !hidden.includes(event)) return original().call(server, event, ...args);
      hurry();
      // `hurry()` has just loaded the lifecycle, which has replaced `emit` of the server. Emit the event again through
      // the new `emit`, so that the lifecycle receives the event.
      return server.emit(event as string, ...args);
    };
    return patched;
  });
  return () => {
    isOver = true;
    restore();
  };
}
