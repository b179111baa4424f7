// Tells a request that this process has ended without a complete response from one whose client has left.
import type { Response } from '../../message.ts';
import type { Connection } from '../connection.ts';
import { isOfPeer, StreamResponse } from '../http2/stream-response.ts';

/** isAborted tells, of a request whose response is incomplete and cannot be completed, whether this process has ended it. */
export function isAborted({ socket }: Connection, response: Response): boolean {
  if (response.writableFinished) return false;
  if (response instanceof StreamResponse && !socket.destroyed) return response.isEndedHere;
  // A socket without a handle that is not destroyed has been sent to another process, which answers the request.
  if (!socket.destroyed || socket.readableEnded) return false;
  // The program has written the response to the socket itself, and ended the socket.
  if (!response.headersSent && socket.writableFinished) return false;
  const errored: NodeJS.ErrnoException | null = socket.errored;
  // A response that is destroyed with the error of another connection, as `pipeline` does, has that error itself.
  const isGiven = errored === (response as { errored?: Error | null }).errored;
  return !isOfPeer(errored) && (isGiven || errored?.syscall === undefined);
}
