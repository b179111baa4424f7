// Answering, or ending an answer, in place of a handler that goes on running and must not notice.
import type { OutgoingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { LameduckError } from '../errors.ts';
import type { Response } from '../message.ts';
import { hasLength, isChunked } from './head.ts';
import { StreamResponse } from './stream-response.ts';

/** answerInstead sends a whole answer for a handler that has sent no headers yet. What the handler does later is ignored. */
export function answerInstead(response: Response, status: number, headers: OutgoingHttpHeaders, body: string): void {
  response.req.resume();
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
  mute(response);
}

/** endInstead ends an answer that the handler has begun, through whatever wraps it. */
export function endInstead(response: Response): void {
  response.end();
  mute(response);
}

/**
 * breakOff ends an answer in its middle so that its client cannot take the part for the whole: one whose end is the end of
 * the connection needs a reset.
 */
export function breakOff(response: Response): void {
  const { socket } = response.req;
  const isWholeByFin = !(response instanceof StreamResponse) && !hasLength(response) && !isChunked(response);
  if (isWholeByFin && !isSecure(socket)) socket.resetAndDestroy();
  else response.destroy();
}

function isSecure(socket: Socket): boolean {
  return (socket as { encrypted?: boolean }).encrypted === true;
}

// Node would end the process with an error that nobody listens for when a handler goes on writing.
function mute(response: Response): void {
  if (!(response instanceof StreamResponse)) {
    muteOne(response);
    return;
  }
  response.takeOver();
  muteOne(response.stream);
  if (response.compatible !== undefined) muteOne(response.compatible);
}

function muteOne(response: object): void {
  const chain = (): object => response;
  const none = (): void => undefined;
  Object.assign(response, {
    ...{ setHeader: chain, setHeaders: chain, appendHeader: chain, writeHead: chain, removeHeader: none },
    ...{ flushHeaders: none, addTrailers: none, writeContinue: none, writeProcessing: none, writeEarlyHints: none },
    // What a stream of HTTP/2 has instead; without its trailers, if it wants to send some, it would never end.
    ...{ respond: none, respondWithFD: none, respondWithFile: none, additionalHeaders: none },
    ...{ setTrailer: none, createPushResponse: none, pushStream: none },
    write(...args: unknown[]) {
      refuse(args);
      // As Node's own does; one that is told to go on would perhaps never let go of the event loop.
      return false;
    },
    end(...args: unknown[]) {
      refuse(args);
      return response;
    },
  });
}

function refuse(args: readonly unknown[]): void {
  const callback = args.findLast((arg) => typeof arg === 'function') as ((error: Error) => void) | undefined;
  if (callback === undefined) return;
  const error = new LameduckError(
    'LAMEDUCK_ERR_REQUEST_ENDED',
    'the request has been answered in place of its handler',
  );
  process.nextTick(callback, error);
}
