// Sends the FIN that ends an HTTP/1.1 or upgraded connection.
import type { Socket } from 'node:net';
import { ignoreResets } from './socket-errors.ts';

/** sendFin sends a FIN after all pending bytes, and then reads until the peer's FIN has arrived (P-006). */
export function sendFin(socket: Socket): void {
  // A peer may answer the FIN with a reset. This is not an error (P-051).
  ignoreResets(socket);
  socket.end();
  socket.resume();
}
