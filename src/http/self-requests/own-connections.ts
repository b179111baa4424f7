// Recognizes the connections that this process makes to its own servers. During the drain, a server must accept them.
// It treats them like connections that it accepted before the shutdown.
import type { Socket } from 'node:net';
import type { Connection } from '../connection.ts';
import { tcpSocketOf } from '../../node-internals.ts';

/** OwnConnections records the accepted sockets whose client is this same process. */
export class OwnConnections {
  readonly #sockets = new WeakSet<Socket>();
  #isEarlier: (socket: Socket) => boolean = () => false;

  /** `add()` records an accepted socket whose client is this process itself. */
  add(socket: Socket): void {
    this.#sockets.add(socket);
  }

  /**
   * `recognize()` stores the function `isEarlier`. For a socket that a server accepted before the shutdown, `isEarlier`
   * tells whether this process itself opened the connection.
   */
  recognize(isEarlier: (socket: Socket) => boolean): void {
    this.#isEarlier = isEarlier;
  }

  /**
   * `has()` tells whether the client of an accepted socket is this process itself. For a TLS socket, it checks the
   * underlying TCP socket.
   */
  has(socket: Socket): boolean {
    return this.#sockets.has(tcpSocketOf(socket)) || this.#isEarlier(socket);
  }

  /**
   * endLast returns the silent connections that the drain may end now. The drain ends the connections of this process
   * to itself last, because a handler that answers another client may still need them.
   */
  endLast(silent: readonly Connection[], all: Iterable<Connection>): readonly Connection[] {
    const others = silent.filter(({ socket }) => !this.has(socket));
    if (others.length > 0) return others;
    for (const { isClosing, isBusy, isLate, isGone, socket } of all) {
      if ((!isClosing || isBusy) && !isLate && !isGone && !this.has(socket)) return others;
    }
    return silent;
  }
}
