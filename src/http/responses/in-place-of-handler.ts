// Sends lameduck's own response, or ends the response of the program, while the handler of the request is still
// running. Later calls of the handler on the response have no effect.
import type { EventEmitter } from 'node:events';
import { Duplex } from 'node:stream';
import { LameduckError } from '../../errors.ts';
import type { Answer } from '../../message.ts';
import type { HttpExchange } from '../exchange.ts';
import { sendWhole } from './send-whole.ts';
import { ignoreResets } from './socket-errors.ts';

/**
 * answerInPlaceOfHandler sends a complete response if the handler has sent no headers yet. Later calls of the handler
 * then have no effect.
 */
export function answerInPlaceOfHandler(exchange: HttpExchange, answer: Answer): void {
  const { request, response } = exchange;
  request.resume();
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  sendWhole(response, answer);
  mute(exchange);
}

/**
 * endInPlaceOfHandler ends a response that the handler has begun. It calls `response.end()`, as the handler would. If a
 * middleware such as compression has wrapped `end()`, the middleware thus sends its buffered data too.
 */
export function endInPlaceOfHandler(exchange: HttpExchange): void {
  ignoreResets(exchange.request.socket);
  exchange.response.end();
  mute(exchange);
}

// Makes later writes of the handler have no effect. Otherwise, Node would emit an `error` event for such a write. An
// `error` event without a listener ends the process.
function mute(exchange: HttpExchange): void {
  for (const one of exchange.takeOver()) muteOne(one);
}

function muteOne(response: EventEmitter): void {
  emitPrematureClose(response as EventEmitter & { destroy: (reason?: unknown) => unknown });
  const chain = (): object => response;
  const none = (): void => undefined;
  Object.assign(response, {
    setHeader: chain,
    setHeaders: chain,
    appendHeader: chain,
    writeHead: chain,
    writeHeader: chain,
    removeHeader: none,
    flushHeaders: none,
    addTrailers: none,
    writeContinue: none,
    writeProcessing: none,
    writeEarlyHints: none,
    // Replace those methods of an HTTP/2 stream that send headers or a body, but not `sendTrailers`. A stream that
    // waits for its trailers ends only when `sendTrailers` is called.
    respond: none,
    respondWithFD: none,
    respondWithFile: none,
    additionalHeaders: none,
    setTrailer: none,
    createPushResponse: none,
    pushStream: none,
  });
  dropWrites(response);
}

// Emits an error on the response, as Node does when a client has disconnected. A `stream.pipeline()` that writes to the
// response then destroys its source and also the response. The response must still be sent, so lameduck ignores calls
// of its `destroy()` until then.
function emitPrematureClose(response: EventEmitter & { destroy: (reason?: unknown) => unknown }): void {
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
  // If the only `error` listener of the response is the listener of `pipe()`, `pipe()` throws the emitted error. So add
  // another listener.
  response.on('error', () => undefined);
  response.emit('error', error);
}

/** After a call of dropWrites, the response or socket ignores everything that the program writes to it. */
export function dropWrites(writable: EventEmitter): void {
  Object.assign(writable, {
    write(...args: unknown[]) {
      failCallback(args);
      // After the end of the response, `write` must return false, as Node's `write` does. If `write` returned true, a
      // handler that writes in a loop until `write` returns false could block the event loop.
      return false;
    },
    end(...args: unknown[]) {
      failCallback(args);
      return writable;
    },
  });
}

function failCallback(args: readonly unknown[]): void {
  const callback = args.findLast((arg) => typeof arg === 'function') as ((error: Error) => void) | undefined;
  if (callback !== undefined) process.nextTick(callback, requestEnded());
}

function requestEnded(): LameduckError {
  return new LameduckError(
    'LAMEDUCK_ERR_REQUEST_ENDED',
    'lameduck has already answered this request, so later writes of its handler are dropped',
  );
}
