// Reads from the state of Node's parser whether only a part of an HTTP/1.1 request has arrived.
import type { Connection } from '../connection.ts';
import { longestBodyAfterResponse } from '../exchange.ts';
import { isInBody, isInMessage } from '../../node-internals.ts';

// The largest number of bytes of a request body that the server still reads after the request has been answered
// (P-026).
const mostBytes = 1_048_576;

/**
 * isHalfHead tells whether only a part of a request head has arrived on a connection. The drain waits for the rest and
 * serves the request (P-012). The result is always false for a connection that was accepted after
 * NotAcceptingNewRequest, because lameduck would refuse the request.
 */
export function isHalfHead({ socket, isLate }: Connection): boolean {
  return !isLate && isInMessage(socket) === true && !isInBody(socket);
}

/**
 * AnsweredUploads limits the time and the size of request bodies that clients still send after their request has been
 * answered.
 */
export class AnsweredUploads {
  // `#begun` has an entry for each connection whose client still sends a request body after the response. `at` is the
  // time at which lameduck first saw this body after the response. `bytesRead` is the number of bytes that the socket
  // had received at that time. A map needs less memory than two more fields in the record of every connection.
  readonly #begun = new WeakMap<Connection, { readonly at: number; readonly bytesRead: number }>();

  /**
   * isTooLong tells whether a client has sent the body of an answered request for too long, or has sent too many bytes.
   * The drain calls isTooLong each time it checks a connection.
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
