// The listeners that a primary of node:cluster has for its workers. Node accepts each connection in the primary, and passes it to
// a worker, which takes or refuses it.
import type { Worker } from 'node:cluster';
import { subscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:net';
import { startImmediate, wait, type Clock } from '../../clock.ts';

// Node publishes on this channel which server has just begun to listen.
const listenings = 'tracing:net.server.listen:asyncEnd';

// How long a listener goes on accepting after all requests are held, in milliseconds, so that clients that are connecting finish.
const acceptWindow = 30;

// After that, the primary waits for a turn of the event loop without a connection, and then for the workers to take every
// connection. This bounds each wait, in milliseconds.
const longestWait = 1_000;

interface Handle {
  onconnection: (...args: unknown[]) => unknown;
  close(): void;
}

/** SharedListeners are the listeners of this primary, from now on. */
export class SharedListeners {
  readonly #clock: Clock;
  readonly #handles: Handle[] = [];
  #accepted = 0;
  #taken = 0;
  #closing: Promise<void> | undefined;

  /** `first` is a server that has just begun to listen. */
  constructor(clock: Clock, first?: Server) {
    this.#clock = clock;
    if (first !== undefined) this.#look(first);
    subscribe(listenings, (message) => {
      this.#look((message as { readonly server: Server }).server);
    });
  }

  /** watch counts the connections that a worker takes. */
  watch({ process: child }: Worker): void {
    child.on('internalMessage', (message: unknown) => {
      if ((message as { readonly accepted?: unknown } | null)?.accepted === true) this.#taken++;
    });
  }

  /** close closes every listener, and resolves when the workers have taken every connection that was accepted. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    await wait(this.#clock, acceptWindow);
    await this.#until((before) => this.#accepted === before);
    for (const handle of this.#handles) handle.close();
    await this.#until(() => this.#taken >= this.#accepted);
  }

  async #until(isSo: (acceptedBefore: number) => boolean): Promise<void> {
    const until = this.#clock.now() + longestWait;
    for (let before = NaN; !isSo(before) && this.#clock.now() < until;) {
      before = this.#accepted;
      await new Promise((resolve) => startImmediate(resolve));
    }
  }

  // For its workers, Node takes the handle from the server, later in this turn, and gives it a function of its own.
  #look(server: Server): void {
    const holder = server as unknown as { readonly _handle: Handle | null };
    const { _handle: handle } = holder;
    startImmediate(() => {
      if (handle !== null && holder._handle === null) this.#count(handle);
    });
  }

  #count(handle: Handle): void {
    const { onconnection } = handle;
    this.#handles.push(handle);
    handle.onconnection = (...args) => {
      this.#accepted++;
      return onconnection.apply(handle, args);
    };
  }
}
