// Closes connections that have been idle for `keepAliveTimeout`, in place of Node. Node runs timers before it reads
// sockets. So after a long turn of the event loop, Node itself resets a connection whose next request is still in the
// kernel. The functions of this file wait until Node has read all sockets.
import type { Socket } from 'node:net';
import { startImmediate } from '../../clock.ts';
import { isInBody, responseOn } from '../../node-internals.ts';
import type { Server } from '../server.ts';

/**
 * endUnlessRead destroys an idle socket, as Node does at a timeout, but only if no byte arrives when all sockets are
 * read next. It returns false, and does nothing, if Node or the program must handle the timeout.
 */
export function endUnlessRead(server: Server, socket: Socket): boolean {
  if (server.listenerCount('timeout') > 0 || responseOn(socket) !== undefined || isInBody(socket)) return false;
  const { bytesRead } = socket;
  startImmediate(() => {
    if (socket.bytesRead === bytesRead) socket.destroy();
  });
  return true;
}
