// Tells a request that this process has ended without a complete response from one whose client has left.
import type { Socket } from 'node:net';
import type { Response } from '../../message.ts';

/**
 * isDestroyedHere tells, of a request on a socket that has been destroyed, whether this process has ended it before its
 * response was complete.
 */
export function isDestroyedHere(socket: Socket, response: Response): boolean {
  if (response.writableFinished) return false;
  // A socket without a handle that is not destroyed has been sent to another process, which answers the request.
  if (!socket.destroyed || socket.readableEnded) return false;
  // The program has written the response to the socket itself, and ended the socket.
  if (!response.headersSent && socket.writableFinished) return false;
  const errored: NodeJS.ErrnoException | null = socket.errored;
  // A response that is destroyed with the error of another connection, as `pipeline` does, has that error itself.
  const isGiven = errored === (response as { errored?: Error | null }).errored;
  return !isOfPeer(errored) && (isGiven || errored?.syscall === undefined);
}

/** isOfPeer tells the error with which Node destroys a session whose client has sent a GOAWAY with an error code. */
export function isOfPeer(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | null | undefined)?.code === 'ERR_HTTP2_SESSION_ERROR';
}
