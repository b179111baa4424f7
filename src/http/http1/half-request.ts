// Requests of HTTP/1.1 of which only a part has arrived, by the state of Node's parser.
import type { Connection } from '../connection.ts';
import { isInBody, isInMessage } from '../node-internals.ts';

// How much of a body, in bytes, is still read on a connection that waits for nothing else (P-026).
const mostBytes = 1_048_576;

/** longestBehindAnswer is for how many milliseconds of the drain a body is read after its request has been answered (P-026). */
export const longestBehindAnswer = 1_000;

/**
 * isHalfHead tells whether a part of a request line or of headers has arrived. The request is served when the rest arrives
 * (P-012). On a late connection it would be refused, and does not count.
 */
export function isHalfHead({ socket, isLate }: Connection): boolean {
  return !isLate && isInMessage(socket) === true && !isInBody(socket);
}

/** AnsweredUploads bounds the bodies that clients go on sending after their request has been answered. */
export class AnsweredUploads {
  readonly #begun = new WeakMap<Connection, { readonly at: number; readonly bytesRead: number }>();

  /** isTooLong tells whether such a body has exceeded its time or its size. The drain calls it in each sweep. */
  isTooLong(connection: Connection, now: number): boolean {
    const { socket } = connection;
    if (!isInBody(socket)) {
      this.#begun.delete(connection);
      return false;
    }
    const begun = this.#begun.get(connection) ?? { at: now, bytesRead: socket.bytesRead };
    this.#begun.set(connection, begun);
    return now - begun.at >= longestBehindAnswer || socket.bytesRead - begun.bytesRead >= mostBytes;
  }
}
