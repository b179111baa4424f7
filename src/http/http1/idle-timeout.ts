// Closes connections that have been idle for `keepAliveTimeout`. Node runs timers before it reads sockets. So after a long turn
// of the event loop, Node would reset a connection whose next request waits in the kernel.
import type { Socket } from 'node:net';
import { startImmediate } from '../../clock.ts';
import { isInBody, responseOn } from '../node-internals.ts';
import type { Server } from '../server.ts';

/**
 * endUnlessRead destroys an idle socket as Node would, but only if it is still idle when all sockets have been read. It
 * returns false if Node or the program has to deal with the timeout.
 */
export function endUnlessRead(server: Server, socket: Socket): boolean {
  if (server.listenerCount('timeout') > 0 || responseOn(socket) !== undefined || isInBody(socket)) return false;
  const { bytesRead } = socket;
  startImmediate(() => {
    if (socket.bytesRead === bytesRead) socket.destroy();
  });
  return true;
}
