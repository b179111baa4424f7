// Sends or ends a response in place of a handler. The handler keeps running, and its later calls have no effect.
import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { LameduckError } from '../../errors.ts';
import type { Answer } from '../../message.ts';
import type { HttpExchange } from '../exchange.ts';
import { sendWhole } from './send-whole.ts';
import { ignoreResets } from './socket-errors.ts';

/** answerInstead sends a complete response if the handler has sent no headers yet. Later calls of the handler are ignored. */
export function answerInstead(exchange: HttpExchange, answer: Answer): void {
  const { request, response } = exchange;
  request.resume();
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  sendWhole(response, answer);
  mute(exchange);
}

/** endInstead ends a response that the handler has begun. It calls `end()`, so that wrappers such as a compression end too. */
export function endInstead(exchange: HttpExchange): void {
  ignoreResets(exchange.request.socket);
  exchange.response.end();
  mute(exchange);
}

// If the handler kept writing, Node would emit an error without a listener, which ends the process.
function mute(exchange: HttpExchange): void {
  for (const one of exchange.takeOver()) muteOne(one);
}

function muteOne(response: EventEmitter): void {
  tellThoseWhoWait(response as EventEmitter & { destroy: (reason?: unknown) => unknown });
  const chain = (): object => response;
  const none = (): void => undefined;
  Object.assign(response, {
    ...{ setHeader: chain, setHeaders: chain, appendHeader: chain, writeHead: chain, removeHeader: none },
    ...{ flushHeaders: none, addTrailers: none, writeContinue: none, writeProcessing: none, writeEarlyHints: none },
    // The methods of HTTP/2 streams. `sendTrailers` stays: a stream that waits for its trailers would never end without it.
    ...{ respond: none, respondWithFD: none, respondWithFile: none, additionalHeaders: none },
    ...{ setTrailer: none, createPushResponse: none, pushStream: none },
    write(...args: unknown[]) {
      failCallback(args);
      // False, as from Node's own method. With true, a handler that writes until false might never return to the event loop.
      return false;
    },
    end(...args: unknown[]) {
      failCallback(args);
      return response;
    },
  });
}

// Emits the error that Node emits when a client has disconnected, so that a `pipeline` into the response ends its source. The
// pipeline then destroys the response, which must wait until the end of the response has been sent.
function tellThoseWhoWait(response: EventEmitter & { destroy: (reason?: unknown) => unknown }): void {
  if (response.listenerCount('error') === 0) return;
  const cause = requestEnded();
  const error = Object.assign(new Error(cause.message, { cause }), { code: 'ERR_STREAM_PREMATURE_CLOSE' });
  const destroy = response.destroy.bind(response);
  let isOut = false;
  response.once('finish', () => (isOut = true));
  response.destroy = (reason) => {
    const isOfThose = reason === error || (reason === undefined && !(response instanceof Duplex));
    return isOfThose && !isOut ? response : destroy(reason);
  };
  // A source that is piped into the response throws the error if the response has no other listener.
  response.on('error', () => undefined);
  response.emit('error', error);
}

/** dropWrites makes further writes to a socket have no effect. */
export function dropWrites(socket: Socket): void {
  Object.assign(socket, {
    write(...args: unknown[]) {
      failCallback(args);
      return false;
    },
    end(...args: unknown[]) {
      failCallback(args);
      return socket;
    },
  });
}

function failCallback(args: readonly unknown[]): void {
  const callback = args.findLast((arg) => typeof arg === 'function') as ((error: Error) => void) | undefined;
  if (callback !== undefined) process.nextTick(callback, requestEnded());
}

function requestEnded(): LameduckError {
  return new LameduckError('LAMEDUCK_ERR_REQUEST_ENDED', 'the request has been answered in place of its handler');
}
