// Errors of sockets to which lameduck itself writes. The program does not handle them, and an error without a listener ends the
// process.
import { Socket } from 'node:net';

/**
 * ignoreResets is called before lameduck writes to a socket. Node has its own `error` listener on each socket, but a program
 * can remove it, and removes it by an upgrade. A request that was injected in the process has no real socket.
 */
export function ignoreResets(socket: unknown): void {
  if (socket instanceof Socket) socket.off('error', ignore).on('error', ignore);
}

// The errors of Node and the system have a code. Any other is the program's own, and ends the process as without lameduck.
function ignore(this: Socket, error: NodeJS.ErrnoException): void {
  if (error.code === undefined && this.listenerCount('error') === 1) throw error;
}
