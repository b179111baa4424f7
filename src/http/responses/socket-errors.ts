// Handles errors of sockets to which lameduck itself writes. The program does not expect errors from these writes, and
// an `error` event without a listener ends the process.
import { Socket } from 'node:net';

/**
 * ignoreResets adds an `error` listener to a socket before lameduck writes to it. Node has its own `error` listener,
 * but an upgrade or the program may remove that one. If a test has injected the request in the process, the socket is
 * not real, and ignoreResets does nothing.
 */
export function ignoreResets(socket: unknown): void {
  if (socket instanceof Socket) socket.off('error', ignore).on('error', ignore);
}

// Ignores each error that has a `code`, because it comes from Node or from the operating system. An error without a
// `code` comes from the program. If the socket has no other `error` listener, such an error is thrown, as it would be
// without lameduck.
function ignore(this: Socket, error: NodeJS.ErrnoException): void {
  if (error.code === undefined && this.listenerCount('error') === 1) throw error;
}
