// The time from `listen()` until the lifecycle is loaded: the first response does not wait for it, and no process signal is lost.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:net';
import { interceptLater } from '../process/held-signals.ts';

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

/** Deferral loads the lifecycle after the first response, and at a process signal at once. */
export class Deferral {
  readonly #servers: Server[] = [];
  readonly #accommodate: (server: Server) => void;
  readonly #onFailure: (error: unknown) => void;
  readonly #stopIntercepting: () => void;
  readonly #timer: NodeJS.Timeout;
  #rest: (() => void)[];

  constructor({ load, accommodate, onFailure }: DeferralSteps) {
    this.#accommodate = accommodate;
    this.#onFailure = onFailure;
    const last = (): void => {
      for (const server of this.#servers) if (server.listening) accommodate(server);
    };
    this.#rest = [...load, last];
    this.#stopIntercepting = interceptLater(['SIGTERM', 'SIGINT'], () => {
      while (this.#rest.length > 0) this.#runNext();
    });
    // src/clock.ts is among what is loaded later.
    // eslint-disable-next-line no-restricted-syntax
    this.#timer = setTimeout(this.#begin, patience).unref();
    subscribe(responses, this.#begin);
  }

  /** add gives a server its lifecycle when everything is loaded. */
  add(server: Server): void {
    if (this.#rest.length === 0) {
      this.#accommodate(server);
      return;
    }
    this.#servers.push(server);
    // Before Node 24, a server does not tell which sessions of HTTP/2 it has. The lifecycle has to see them begin.
    if ('updateSettings' in server) this.#begin();
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

  #runNext(): void {
    try {
      this.#rest.shift()?.();
    } catch (error) {
      this.#rest = [];
      this.#onFailure(error);
      // A signal that is pending would get lost if it lost its listener now.
      return;
    }
    if (this.#rest.length > 0) return;
    this.#stopIntercepting();
    clearTimeout(this.#timer);
    unsubscribe(responses, this.#begin);
  }
}
