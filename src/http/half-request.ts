// Requests of HTTP/1.1 of which only a part has arrived, as Node's parser knows it.
import type { Connection } from './connection.ts';
import { isInBody, isInMessage } from './hidden-fields.ts';

// How much of a body, in bytes, is still read on a connection that waits for nothing else (P-026).
const mostBytes = 1_048_576;

/** longestBehindAnswer is for how many milliseconds of the drain a body is read whose request is answered (P-026). */
export const longestBehindAnswer = 1_000;

/**
 * isHalfHead tells whether a request line or headers have begun on a connection, of a request that is served when the rest
 * comes (P-012); one that came late would be refused.
 */
export function isHalfHead({ socket, isLate }: Connection): boolean {
  return !isLate && isInMessage(socket) === true && !isInBody(socket);
}

/** AnsweredUploads watches over bodies that go on behind the answer to their request. */
export class AnsweredUploads {
  readonly #begun = new WeakMap<Connection, { readonly at: number; readonly bytesRead: number }>();

  /** isTooLong tells whether one has gone on for longer than it may; asked again and again. */
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
