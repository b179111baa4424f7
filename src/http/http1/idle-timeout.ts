// Closes connections that have been idle for `keepAliveTimeout`. lameduck does this in place of Node, because Node runs
// timers before it reads sockets. After a long turn of the event loop, Node would therefore reset a connection whose
// next request has arrived but is unread. The functions of this file first wait until Node has read all sockets.
import type { Socket } from 'node:net';
import { startImmediate } from '../../clock.ts';
import { isInBody, responseOn } from '../../node-internals.ts';
import type { Server } from '../server.ts';

/**
 * endUnlessRead is called when an idle socket has reached its timeout. If Node or the program must handle the timeout,
 * endUnlessRead does nothing and returns false. Otherwise, it waits until Node has read all sockets, and destroys the
 * socket unless a byte has arrived.
 */
export function endUnlessRead(server: Server, socket: Socket): boolean {
  if (server.listenerCount('timeout') > 0 || responseOn(socket) !== undefined || isInBody(socket)) return false;
  const { bytesRead } = socket;
  startImmediate(() => {
    if (socket.bytesRead === bytesRead) socket.destroy();
  });
  return true;
}
