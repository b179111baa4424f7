// The connections that this process makes to its own servers. They are served as if they had been open before the shutdown.
import type { Socket } from 'node:net';
import { tcpSocketOf } from './hidden-fields.ts';

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
}
