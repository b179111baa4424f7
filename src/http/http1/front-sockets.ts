// Records the sockets that a front has accepted but not yet passed to an HTTP server. A front is a server of the
// program that passes its sockets to an HTTP server. Many fronts first wait for a byte from the client, because the
// first byte shows the protocol.
import type { Socket } from 'node:net';

// If there are records of at least this many sockets, closed sockets are removed from time to time.
const fewestToLookAt = 100;

/**
 * FrontSockets records the sockets that a front (another server of the program) has accepted, and that may still become
 * connections of an HTTP server.
 */
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

  /** beginSilence measures the silence of every socket from the time `now` on. */
  beginSilence(now: number): void {
    for (const record of this.#sockets.values()) record.since = now;
  }

  /**
   * isAnyAwaited tells whether the drain must wait for at least one socket. The drain waits for a socket that has been
   * silent for less than `silence` milliseconds. After the first byte from the client, it waits for another `silence`
   * milliseconds. Later bytes have no effect, because the front has then decided to keep the socket, for example for
   * another protocol.
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

  // Reads the property `destroyed` of each socket instead of listening for its event `close`, because the program can
  // remove the listeners of a socket.
  #forgetClosed(): void {
    for (const socket of this.#sockets.keys()) if (socket.destroyed) this.#sockets.delete(socket);
  }
}
