// The sockets that a front has accepted but not yet passed to an HTTP server. A front is a server of the program that
// passes its sockets to an HTTP server. Many fronts first read the protocol from the first byte.
import type { Socket } from 'node:net';

// If there are records of at least this many sockets, closed sockets are removed from time to time.
const fewestToLookAt = 100;

/** FrontSockets knows which accepted sockets may still become connections of an HTTP server. */
export class FrontSockets {
  readonly #sockets = new Map<Socket, { bytesRead: number; quietSince: number }>();
  #lookAt = fewestToLookAt;

  /** add records a socket that a front has accepted at the time `now`. */
  add(socket: Socket, now: number): void {
    if (this.#sockets.size >= this.#lookAt) {
      this.#forgetClosed();
      this.#lookAt = Math.max(fewestToLookAt, 2 * this.#sockets.size);
    }
    this.#sockets.set(socket, { bytesRead: socket.bytesRead, quietSince: now });
  }

  /** passedOn drops the record of a socket that an HTTP server has received. */
  passedOn(socket: Socket): void {
    this.#sockets.delete(socket);
  }

  /** beginSilence begins the silence of every socket at the time `now`, even if no byte has arrived for longer. */
  beginSilence(now: number): void {
    for (const heard of this.#sockets.values()) heard.quietSince = now;
  }

  /**
   * isAnyHeard tells whether the drain must wait for at least one socket. That is true for `silence` milliseconds after
   * the last byte of the socket.
   */
  isAnyHeard(now: number, silence: number): boolean {
    this.#forgetClosed();
    let isAny = false;
    for (const [{ bytesRead }, heard] of this.#sockets) {
      if (bytesRead !== heard.bytesRead) Object.assign(heard, { bytesRead, quietSince: now });
      isAny ||= now - heard.quietSince < silence;
    }
    return isAny;
  }

  // Looks at `destroyed` instead of listening for `close`, because a program can remove the listeners of its sockets.
  #forgetClosed(): void {
    for (const socket of this.#sockets.keys()) if (socket.destroyed) this.#sockets.delete(socket);
  }
}
