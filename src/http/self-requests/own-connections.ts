// The connections that this process makes to its own servers. They are served as if they had been open before the shutdown.
import type { Socket } from 'node:net';
import type { Connection } from '../connection.ts';
import { tcpSocketOf } from '../node-internals.ts';

/** OwnConnections recognizes them by the sockets that the servers have accepted. */
export class OwnConnections {
  readonly #sockets = new WeakSet<Socket>();
  #isEarlier: (socket: Socket) => boolean = () => false;

  /** add notes a connection that has just been accepted. */
  add(socket: Socket): void {
    this.#sockets.add(socket);
  }

  /** recognize sets the function that recognizes connections from before the shutdown. */
  recognize(isEarlier: (socket: Socket) => boolean): void {
    this.#isEarlier = isEarlier;
  }

  /** has tells whether a socket, or the TCP socket under a TLS socket, is such a connection. */
  has(socket: Socket): boolean {
    return this.#sockets.has(tcpSocketOf(socket)) || this.#isEarlier(socket);
  }

  /**
   * endLast returns which of these silent connections can be ended now. The process's own connections end after all others. A
   * handler may use them as long as another client waits for a response or can send a request.
   */
  endLast(silent: readonly Connection[], all: Iterable<Connection>): readonly Connection[] {
    const others = silent.filter(({ socket }) => !this.has(socket));
    if (others.length > 0) return others;
    for (const { isLeaving, isBusy, isLate, isGone, socket } of all) {
      if ((!isLeaving || isBusy) && !isLate && !isGone && !this.has(socket)) return others;
    }
    return silent;
  }
}
