// The connections that this process makes to its own servers: they are never late.
import type { Socket } from 'node:net';

/** OwnConnections knows them by their sockets on the server's side. */
export class OwnConnections {
  readonly #sockets = new WeakSet<Socket>();
  #isEarlier: (socket: Socket) => boolean = () => false;

  /** add notes a connection that has just been accepted. */
  add(socket: Socket): void {
    this.#sockets.add(socket);
  }

  /** recognize tells how those from before the shutdown are known. */
  recognize(isEarlier: (socket: Socket) => boolean): void {
    this.#isEarlier = isEarlier;
  }

  /** has also knows the TLS socket on such a connection. */
  has(socket: Socket): boolean {
    const { _parent: under } = socket as { _parent?: Socket | null };
    return this.#sockets.has(socket) || this.#sockets.has(under ?? socket) || this.#isEarlier(socket);
  }
}
