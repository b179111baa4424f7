// Handles peers that send a FIN before they have received their response. Some of these peers still wait for the
// response, but most of them have exited.
import type { ServerResponse } from 'node:http';
import type { Connection } from '../connection.ts';
import { ignoreResets } from '../responses/socket-errors.ts';

// While a client that has sent a FIN has no response, lameduck sends it 102 responses, this many milliseconds apart. If
// the client has exited, its kernel answers the first 102 response with a reset, and writing the second one fails.
const askAgainAfter = 200;

/**
 * HalfOpen detects clients that have exited, so that they do not delay the drain (P-021). After a client's FIN,
 * HalfOpen sends an interim response with the status 102. A client that waits for the response must skip the 102 (RFC
 * 9110 section 15.2). If the client has exited, its kernel answers the 102 with a reset. After the headers of the
 * response have been sent, a 102 is not allowed. The handler's next write then provokes the reset.
 */
export class HalfOpen {
  // `#askedAt` contains only connections whose client sent a FIN before it received its response. The value is the time
  // at which lameduck last sent a 102 response on the connection. A map needs less memory than a field in the record of
  // every connection.
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
