// The sockets that a front has accepted but not yet passed to an HTTP server. A front is a server of the program that
// passes its sockets to an HTTP server. Many fronts first read the protocol from the first byte.
import type { Socket } from 'node:net';

// If there are records of at least this many sockets, closed sockets are removed from time to time.
const fewestToLookAt = 100;

/** FrontSockets knows which accepted sockets may still become connections of an HTTP server. */
export class FrontSockets {
  readonly #sockets = new Map<Socket, { hasSpoken: boolean; since: number }>();
  #lookAt = fewestToLookAt;

  /** add records a socket that a front has accepted at the time `now`. */
  add(socket: Socket, now: number): void {
    if (this.#sockets.size >= this.#lookAt) {
      this.#forgetClosed();
      this.#lookAt = Math.max(fewestToLookAt, 2 * this.#sockets.size);
    }
    this.#sockets.set(socket, { hasSpoken: socket.bytesRead > 0, since: now });
  }

  /** passedOn drops the record of a socket that an HTTP server has received. */
  passedOn(socket: Socket): void {
    this.#sockets.delete(socket);
  }

  /** beginSilence begins the silence of every socket at the time `now`. */
  beginSilence(now: number): void {
    for (const record of this.#sockets.values()) record.since = now;
  }

  /**
   * isAnyAwaited tells whether the drain must wait for at least one socket. That is true for `silence` milliseconds, and
   * again for as long after the first byte. Later bytes have no effect, because the front has then decided to keep the
   * socket, for example for another protocol.
   */
  isAnyAwaited(now: number, silence: number): boolean {
    this.#forgetClosed();
    let isAny = false;
    for (const [{ bytesRead }, record] of this.#sockets) {
      if (!record.hasSpoken && bytesRead > 0) Object.assign(record, { hasSpoken: true, since: now });
      isAny ||= now - record.since < silence;
    }
    return isAny;
  }

  // Looks at `destroyed` instead of listening for `close`, because a program can remove the listeners of its sockets.
  #forgetClosed(): void {
    for (const socket of this.#sockets.keys()) if (socket.destroyed) this.#sockets.delete(socket);
  }
}
