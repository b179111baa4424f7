// Handles peers that send a FIN before they have received their response. Some of these peers still wait for the
// response. Most of them have exited.
import type { ServerResponse } from 'node:http';
import type { Connection } from '../connection.ts';
import { ignoreResets } from '../responses/socket-errors.ts';

// Milliseconds between two 102 responses. If the peer has exited, its kernel answers the first 102 with a reset, and
// writing the second fails.
const askAgainAfter = 200;

/**
 * HalfOpen detects peers that have exited, so that they do not delay the drain (P-021). After a peer's FIN, HalfOpen
 * sends an interim response with status 102. A client that waits for the response must skip the 102 (RFC 9110 section
 * 15.2). If the client has exited, its kernel answers with a reset. After the headers of a response, a 102 is not
 * allowed. The next write of the handler then provokes the reset.
 */
export class HalfOpen {
  // Only a peer that sends its FIN too early has an entry. A field would cost memory for each connection at all times.
  readonly #askedAt = new WeakMap<Connection, number>();

  /**
   * askWhetherGone sends a 102 if the peer has sent a FIN and the next 102 is due. The drain calls askWhetherGone at
   * each check of the connections.
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
