// The FIN: how a connection that does not speak HTTP/2 ends in order.
import type { Socket } from 'node:net';
import { ignoreResets } from './socket-errors.ts';

/** sendFin sends a FIN after all bytes that are still to be sent, and goes on reading until the FIN of the peer (P-006). */
export function sendFin(socket: Socket): void {
  // A reset in answer to the FIN is not an error (P-051).
  ignoreResets(socket);
  socket.end();
  socket.resume();
}
