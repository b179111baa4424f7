// Decides who ended a request without a complete response: this process, or the client by disconnecting.
import type { Socket } from 'node:net';
import type { HttpResponse } from '../../message.ts';

/** isDestroyedHere tells whether this process, not the client, ended a request before its response was complete. */
export function isDestroyedHere(socket: Socket, response: HttpResponse): boolean {
  if (response.writableFinished) return false;
  // If a socket has no handle and is not destroyed, it was sent to another process, which answers the request.
  if (!socket.destroyed || socket.readableEnded) return false;
  // If nothing was sent through the response object but the socket has ended, the program has written its response
  // directly to the socket.
  if (!response.headersSent && socket.writableFinished) return false;
  const errored: NodeJS.ErrnoException | null = socket.errored;
  // `stream.pipeline()` destroys a response with the error of its source, which may be another connection. In this
  // case, the socket and the response have the same error object.
  const isGiven = errored === (response as { errored?: Error | null }).errored;
  return !isOfPeer(errored) && (isGiven || errored?.syscall === undefined);
}

/**
 * isOfPeer recognizes the error with which Node destroys a session when the client has sent a GOAWAY with an error
 * code.
 */
export function isOfPeer(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | null | undefined)?.code === 'ERR_HTTP2_SESSION_ERROR';
}
