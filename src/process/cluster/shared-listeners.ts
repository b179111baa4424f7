// Closes the listening sockets that a primary of node:cluster shares with its workers. Node accepts each connection in
// the primary and passes it to a worker. The worker accepts the connection, or returns it to the primary.
import type { Worker } from 'node:cluster';
import { subscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:net';
import { startImmediate, wait, type Clock } from '../../clock.ts';
import { acceptingHandle, onAcceptedBy, type AcceptingHandle } from '../../node-internals.ts';

// The diagnostics channel on which Node publishes each server that has just begun to listen.
const listenings = 'tracing:net.server.listen:asyncEnd';

// How long a shared listening socket still accepts connections after all workers have begun to delay the requests of
// their clients, in milliseconds. In this time, clients that are connecting can complete their connections.
const acceptWindow = 30;

// Each of the two waits in `#close` takes at most this many milliseconds. The first wait ends when one turn of the
// event loop has brought no new connection. The second wait ends when the workers have accepted every connection.
const longestWait = 1_000;

export class SharedListeners {
  readonly #clock: Clock;
  readonly #handles: AcceptingHandle[] = [];
  #accepted = 0;
  #taken = 0;
  #closing: Promise<void> | undefined;

  /**
   * `first` is a server that was already listening when this object was created. It is undefined if there was no such
   * server.
   */
  constructor(clock: Clock, first?: Server) {
    this.#clock = clock;
    if (first !== undefined) this.#look(first);
    subscribe(listenings, (message) => {
      this.#look((message as { readonly server: Server }).server);
    });
  }

  /** `watch()` counts the connections that a worker accepts. */
  watch(worker: Worker): void {
    onAcceptedBy(worker, () => this.#taken++);
  }

  /**
   * `close()` closes every shared listening socket. It resolves when the workers have accepted all connections that the
   * primary had accepted.
   */
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

  // Finds out whether node:cluster shares the listening socket of a server with the workers. If so, Node removes the
  // socket's handle from the server later in this turn of the event loop.
  #look(server: Server): void {
    const handle = acceptingHandle(server);
    startImmediate(() => {
      if (handle !== null && acceptingHandle(server) === null) this.#count(handle);
    });
  }

  #count(handle: AcceptingHandle): void {
    const { onconnection } = handle;
    this.#handles.push(handle);
    handle.onconnection = (...args) => {
      this.#accepted++;
      return onconnection.apply(handle, args);
    };
  }
}
