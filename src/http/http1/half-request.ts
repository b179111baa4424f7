// Reads from the state of Node's parser whether only a part of an HTTP/1.1 request has arrived.
import type { Connection } from '../connection.ts';
import { longestBodyAfterResponse } from '../exchange.ts';
import { isInBody, isInMessage } from '../../node-internals.ts';

// The largest number of bytes of a request body that the server still reads after the request has been answered
// (P-026).
const mostBytes = 1_048_576;

/**
 * isHalfHead tells whether only a part of a request's head has arrived. When the rest arrives, the request will be
 * served (P-012). If the connection was accepted after NotAcceptingNewRequest, the result is false, because its request
 * would be refused.
 */
export function isHalfHead({ socket, isLate }: Connection): boolean {
  return !isLate && isInMessage(socket) === true && !isInBody(socket);
}

/**
 * AnsweredUploads limits the time and the size of request bodies that clients still send after their request has been
 * answered.
 */
export class AnsweredUploads {
  // The key is a connection whose client still sends a request body although the request has been answered. The value
  // is the time at which lameduck first saw this, and the bytes that the socket had read by then. Use a map, because
  // few connections have such an entry. A field in each record of a connection would cost memory for every connection.
  readonly #begun = new WeakMap<Connection, { readonly at: number; readonly bytesRead: number }>();

  /**
   * isTooLong tells whether the body of an answered request exceeds the limit of its time or of its size. The drain
   * calls isTooLong at each check of the connections.
   */
  isTooLong(connection: Connection, now: number): boolean {
    const { socket } = connection;
    if (!isInBody(socket)) {
      this.#begun.delete(connection);
      return false;
    }
    const begun = this.#begun.get(connection) ?? { at: now, bytesRead: socket.bytesRead };
    this.#begun.set(connection, begun);
    return now - begun.at >= longestBodyAfterResponse || socket.bytesRead - begun.bytesRead >= mostBytes;
  }
}
