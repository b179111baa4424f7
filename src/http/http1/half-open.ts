// Peers that have sent their FIN before the answer to their request: some still wait for the answer, most are gone.
import type { ServerResponse } from 'node:http';
import type { Connection } from '../connection.ts';
import type { Server } from '../server.ts';
import { ignoreResets } from '../responses/socket-errors.ts';

// Milliseconds between two 102 responses. The kernel of a peer that is gone answers the first one by a reset, and the write of
// the next one fails.
const askAgainAfter = 200;

/**
 * allowHalfOpen lets a server answer a peer that has sent its FIN (P-014). By default Node aborts the request of such a
 * peer. During a drain the client could not repeat it.
 */
export function allowHalfOpen(server: Server): void {
  (server as { httpAllowHalfOpen?: boolean }).httpAllowHalfOpen = true;
}

/**
 * HalfOpen detects peers that are gone, so that they do not delay the drain (P-021). After the peer's FIN, it sends a 102. A
 * client that waits for the response must skip the 102 (RFC 9110 section 15.2). If the client is gone, its kernel answers with
 * a reset. After the headers of a response, a 102 is not allowed, but the next write of the handler has the same effect.
 */
export class HalfOpen {
  readonly #askedAt = new WeakMap<Connection, number>();

  /** askWhetherGone sends a 102 if it is due. The drain calls it in each sweep. */
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
