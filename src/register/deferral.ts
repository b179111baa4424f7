// Loads the lifecycle a short time after `listen()`, so that the first response does not wait for the loading. A
// process signal that arrives before the lifecycle is loaded is not lost.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:net';
import { emitOverride } from '../process/emit-override.ts';

// The diagnostics channel on which Node publishes each complete HTTP/1.1 response.
const responses = 'http.server.response.finish';

// How long to wait for the first response before loading the lifecycle, in milliseconds. The time is short: a pod gets
// no request until its probe port answers, and the lifecycle opens this port.
const patience = 50;

/** DeferralSteps are the steps in which the lifecycle is loaded. */
export interface DeferralSteps {
  /**
   * load lists functions that each load a part of lameduck. Each function is called in its own turn of the event loop.
   */
  readonly load: readonly (() => void)[];
  /** addToLifecycle gives a listening server its lifecycle. It is called for each server when everything is loaded. */
  readonly addToLifecycle: (server: Server) => void;
  /** onFailure is called if a step throws. No further step is called then. */
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
   * add makes the Deferral give a server its lifecycle when everything is loaded. It is called during `listen()`, so
   * that a process signal that arrives right after `listen()` does not kill the process.
   */
  add(server: Server): void {
    if (this.#rest.length > 0) this.#await(server);
    // Wait for the program's own callbacks, which may give the server a lifecycle or close it.
    setImmediate(() => {
      this.#try(() => {
        this.#look(server);
      });
    });
  }

  #await(server: Server): void {
    this.#servers.add(server);
    if (this.#stopIntercepting !== undefined) return;
    this.#stopIntercepting = emitOverride().interceptLater(['SIGTERM', 'SIGINT'], this.#hurry);
    // Use the global `setTimeout`, because src/clock.ts is not loaded yet.
    // eslint-disable-next-line no-restricted-syntax
    this.#timer = setTimeout(this.#begin, patience).unref();
    subscribe(responses, this.#begin);
  }

  #look(server: Server): void {
    if (this.#rest.length === 0) this.#addToLifecycle(server);
    else if (!server.listening) this.#forget(server);
    else {
      this.#restore.push(beforeUpgrades(server, this.#hurry));
      // Before Node 24, a server of HTTP/2 does not list its open sessions. Load the lifecycle now, so that it sees
      // each session begin.
      if ('updateSettings' in server) this.#begin();
    }
  }

  #forget(server: Server): void {
    this.#servers.delete(server);
    if (this.#servers.size === 0) this.#stop();
  }

  readonly #begin = (): void => {
    clearTimeout(this.#timer);
    unsubscribe(responses, this.#begin);
    setImmediate(this.#step);
  };

  readonly #step = (): void => {
    this.#runNext();
    if (this.#rest.length > 0) setImmediate(this.#step);
  };

  readonly #hurry = (): void => {
    while (this.#rest.length > 0) this.#runNext();
  };

  #runNext(): void {
    const next = this.#rest.shift();
    // Keep the signal listeners after a failure, because a signal without a listener would kill the process.
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
    clearTimeout(this.#timer);
    unsubscribe(responses, this.#begin);
  }
}

type Emit = (this: Server, event: string | symbol, ...args: unknown[]) => boolean;

/**
 * beforeUpgrades calls `hurry` before the program sees an upgrade. After an upgrade, Node no longer lists the socket,
 * so a lifecycle that is loaded later could not find it. The returned function restores the server.
 */
function beforeUpgrades(server: Server, hurry: () => void): () => void {
  // The method is called with its server as its `this`.
  // eslint-disable-next-line @typescript-eslint/unbound-method
  const emit = server.emit as Emit;
  const isOwn = Object.hasOwn(server, 'emit');
  let isOver = false;
  const hurrying: Emit = function (event, ...args) {
    if (isOver || (event !== 'upgrade' && event !== 'connect')) return emit.call(this, event, ...args);
    hurry();
    // `hurry` has given the server its lifecycle, which replaces `emit`. Emit the event again, so that the lifecycle
    // receives it.
    return this.emit(event, ...args);
  };
  server.emit = hurrying as Server['emit'];
  return () => {
    isOver = true;
    // Do not restore `emit` if a library has replaced it since.
    if (server.emit !== hurrying) return;
    if (isOwn) server.emit = emit as Server['emit'];
    else Reflect.deleteProperty(server, 'emit');
  };
}
