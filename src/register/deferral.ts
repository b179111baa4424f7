// The time from `listen()` until the lifecycle is loaded: the first response does not wait for it, and no process signal is lost.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:net';
import { emitOverride } from '../process/emit-override.ts';

// Node publishes each complete response of HTTP/1.1 on this channel.
const responses = 'http.server.response.finish';

// How long to wait for the first response, in milliseconds. A pod gets no request before its probe port answers.
const patience = 50;

/** DeferralSteps is how the lifecycle is loaded. */
export interface DeferralSteps {
  /** Each step loads a part of lameduck, in a turn of the event loop of its own. */
  readonly load: readonly (() => void)[];
  /** Called at the end with each server that listens. */
  readonly accommodate: (server: Server) => void;
  /** Called with the error of a step. No step follows. */
  readonly onFailure: (error: unknown) => void;
}

/** Deferral loads the lifecycle after the first response, and at a process signal or an upgrade at once. */
export class Deferral {
  readonly #servers = new Set<Server>();
  /** Each gives a server its own `emit` back. */
  #restore: (() => void)[] = [];
  readonly #accommodate: (server: Server) => void;
  readonly #onFailure: (error: unknown) => void;
  #rest: (() => void)[];
  #timer: NodeJS.Timeout | undefined;
  #stopIntercepting: (() => void) | undefined;

  constructor({ load, accommodate, onFailure }: DeferralSteps) {
    this.#accommodate = accommodate;
    this.#onFailure = onFailure;
    const last = (): void => {
      this.#restoreEmits();
      for (const server of this.#servers) if (server.listening) accommodate(server);
    };
    this.#rest = [...load, last];
  }

  /**
   * add gives a server its lifecycle when everything is loaded. It is called in `listen()`, so that a process signal that
   * arrives next does not end the process.
   */
  add(server: Server): void {
    if (this.#rest.length > 0) this.#await(server);
    // After the program's own callbacks, which may give the server a lifecycle, or close it again.
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
    // src/clock.ts is among what is loaded later.
    // eslint-disable-next-line no-restricted-syntax
    this.#timer = setTimeout(this.#begin, patience).unref();
    subscribe(responses, this.#begin);
  }

  #look(server: Server): void {
    if (this.#rest.length === 0) this.#accommodate(server);
    else if (!server.listening) this.#forget(server);
    else {
      this.#restore.push(beforeUpgrades(server, this.#hurry));
      // Before Node 24, a server does not tell which sessions of HTTP/2 it has. The lifecycle has to see them begin.
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
    // A signal that is pending would get lost if it lost its listener after a failure.
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
 * beforeUpgrades calls `hurry` before the program sees an upgrade of a server, until the returned function is called. After the
 * upgrade, Node no longer lists the socket, and the lifecycle could not find it.
 */
function beforeUpgrades(server: Server, hurry: () => void): () => void {
  // Called below on the server that it was taken from.
  // eslint-disable-next-line @typescript-eslint/unbound-method
  const emit = server.emit as Emit;
  const isOwn = Object.hasOwn(server, 'emit');
  let isOver = false;
  const hurrying: Emit = function (event, ...args) {
    if (isOver || (event !== 'upgrade' && event !== 'connect')) return emit.call(this, event, ...args);
    hurry();
    // By the seam, which is there now.
    return this.emit(event, ...args);
  };
  server.emit = hurrying as Server['emit'];
  return () => {
    isOver = true;
    // Not if a library has replaced it in the meantime.
    if (server.emit !== hurrying) return;
    if (isOwn) server.emit = emit as Server['emit'];
    else Reflect.deleteProperty(server, 'emit');
  };
}
