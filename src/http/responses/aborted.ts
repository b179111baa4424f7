// Determines who ended a request before its response was complete: this process, or the client, which disconnected.
import type { Socket } from 'node:net';
import type { HttpResponse } from '../../message.ts';

/**
 * isDestroyedHere tells whether this process destroyed the connection of a request before the response was complete. It
 * returns false if the client disconnected.
 */
export function isDestroyedHere(socket: Socket, response: HttpResponse): boolean {
  if (response.writableFinished) return false;
  // If a socket has no handle but is not destroyed, the program has sent it to another process. That process answers
  // the request.
  if (!socket.destroyed || socket.readableEnded) return false;
  // If the response object has sent nothing, but the program has ended the socket, the program has written its response
  // directly to the socket.
  if (!response.headersSent && socket.writableFinished) return false;
  const errored: NodeJS.ErrnoException | null = socket.errored;
  // An error with a `syscall` need not be an error of this socket. `stream.pipeline()` destroys a response with the
  // error of the stream that it reads, for example of another connection. The response and its socket then have the
  // same error object.
  const isGiven = errored === (response as { errored?: Error | null }).errored;
  return !isOfPeer(errored) && (isGiven || errored?.syscall === undefined);
}

/**
 * isOfPeer recognizes the error with which Node destroys an HTTP/2 session after the client has sent a GOAWAY with an
 * error code.
 */
export function isOfPeer(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | null | undefined)?.code === 'ERR_HTTP2_SESSION_ERROR';
}
