// Closes the listening sockets that a primary of node:cluster shares with its workers. Node accepts each connection in
// the primary and passes it to a worker. The worker serves the connection, or returns it to the primary.
import type { Worker } from 'node:cluster';
import { subscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:net';
import { startImmediate, wait, type Clock } from '../../clock.ts';
import { acceptingHandle, onAcceptedBy, type AcceptingHandle } from '../../node-internals.ts';

// The diagnostics channel on which Node publishes each server that has just begun to listen.
const listenings = 'tracing:net.server.listen:asyncEnd';

// For this many milliseconds, the listening socket that all workers share still accepts connections after all workers
// have begun to delay requests. In this time, clients that are connecting can complete their connections.
const acceptWindow = 30;

// The time limit, in milliseconds, of each of the two waits of `#close`. The first wait is for one turn of the event
// loop in which the primary accepts no new connection. The second wait ends when the workers have received every
// connection that the primary has accepted.
const longestWait = 1_000;

export class SharedListeners {
  readonly #clock: Clock;
  readonly #handles: AcceptingHandle[] = [];
  #accepted = 0;
  #taken = 0;
  #closing: Promise<void> | undefined;

  /**
   * `first` is the server that already listened before this SharedListeners was created, or undefined if there was
   * none.
   */
  constructor(clock: Clock, first?: Server) {
    this.#clock = clock;
    if (first !== undefined) this.#look(first);
    subscribe(listenings, (message) => {
      this.#look((message as { readonly server: Server }).server);
    });
  }

  /** `watch()` counts the connections that the primary sends to a worker and that the worker accepts. */
  watch(worker: Worker): void {
    onAcceptedBy(worker, () => this.#taken++);
  }

  /**
   * `close()` closes every shared listening socket. It resolves when the workers have received all connections that the
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

  // Finds out whether a server has a listening socket that node:cluster shares with the workers. From such a server,
  // Node removes the handle of the socket before the current turn of the event loop ends.
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
