// Handles peers that send a FIN before they have received their response. Some of these peers still wait for the
// response, but most of them have exited.
import type { ServerResponse } from 'node:http';
import type { Connection } from '../connection.ts';
import { ignoreResets } from '../responses/socket-errors.ts';

// Milliseconds between two 102 responses that test whether a peer has exited. The kernel of a peer that has exited
// answers the first 102 with a reset, and writing the second 102 fails.
const askAgainAfter = 200;

/**
 * HalfOpen detects peers that have exited, so that they do not delay the drain (P-021). After a peer's FIN, HalfOpen
 * sends an interim response with the status 102. A client that waits for the response must skip the 102 (RFC 9110
 * section 15.2). If the client has exited, its kernel answers with a reset. Once the headers of the response have been
 * sent, a 102 is not allowed. In that case, the handler's next write provokes the reset.
 */
export class HalfOpen {
  // `#askedAt` contains only connections whose peer sent a FIN before it received its response. The value is the time
  // at which lameduck last sent a 102 response on the connection. A field in the record of every connection would cost
  // more memory.
  readonly #askedAt = new WeakMap<Connection, number>();

  /**
   * If the peer has sent a FIN, askWhetherGone sends it a 102 response, at most one per `askAgainAfter` milliseconds.
   * The drain calls askWhetherGone each time it checks a connection.
   */
  askWhetherGone(connection: Connection, now: number): void {
    const { exchanges, socket } = connection;
    const [first] = exchanges;
    if (first === undefined || !socket.readableEnded || first.response.headersSent) return;
    if (first.request.httpVersion !== '1.1') return;
    if (now - (this.#askedAt.get(connection) ?? -Infinity) < askAgainAfter) return;
    this.#askedAt.set(connection, now);
    ignoreResets(socket);
    (first.response as ServerResponse).writeProcessing();
  }
}
