// Peers that have sent their FIN while a request of theirs is unanswered: some still wait for the answer, most are gone.
import { ServerResponse } from 'node:http';
import type { Connection } from './connection.ts';
import type { Server } from './server.ts';

// The first question makes the kernel of a peer that is gone send a reset, the next one meets it.
const askAgainAfter = 200;

/**
 * allowHalfOpen lets a server answer a peer that has ended its side (P-014). Node takes such a peer for gone, and during
 * a drain nobody would ask a second time.
 */
export function allowHalfOpen(server: Server): void {
  (server as { httpAllowHalfOpen?: boolean }).httpAllowHalfOpen = true;
}

/**
 * askWhetherGone makes sure that a peer that is gone does not hold the drain (P-021): behind its FIN it is sent a 102,
 * which one that waits has to skip (RFC 9110, 15.2) and which one that is gone answers with a reset. In the middle of a
 * response nothing can be asked, but what its handler writes next does the same.
 */
export function askWhetherGone(connection: Connection, now: number): void {
  const response = connection.responses[0];
  if (response === undefined || !connection.socket.readableEnded || !(response instanceof ServerResponse)) return;
  if (response.headersSent) return;
  if (connection.responses[0]?.req.httpVersion !== '1.1') return;
  if (now - connection.askedAt < askAgainAfter) return;
  connection.askedAt = now;
  response.writeProcessing();
}
