// Answering, or ending an answer, in place of a handler that goes on running and must not notice.
import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { LameduckError } from '../../errors.ts';
import type { Answer } from '../../message.ts';
import type { HttpExchange } from '../exchange.ts';
import { sendWhole } from './send-whole.ts';
import { ignoreResets } from './socket-errors.ts';

/** answerInstead sends a whole answer for a handler that has sent no headers yet. What the handler does later is ignored. */
export function answerInstead(exchange: HttpExchange, answer: Answer): void {
  const { request, response } = exchange;
  request.resume();
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  sendWhole(response, answer);
  mute(exchange);
}

/** endInstead ends an answer that the handler has begun, through whatever wraps it. */
export function endInstead(exchange: HttpExchange): void {
  ignoreResets(exchange.request.socket);
  exchange.response.end();
  mute(exchange);
}

// Node would end the process with an error that nobody listens for when a handler goes on writing.
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
    // What a stream of HTTP/2 has instead; without its trailers, if it wants to send some, it would never end.
    ...{ respond: none, respondWithFD: none, respondWithFile: none, additionalHeaders: none },
    ...{ setTrailer: none, createPushResponse: none, pushStream: none },
    write(...args: unknown[]) {
      failCallback(args);
      // As Node's own does; one that is told to go on would perhaps never let go of the event loop.
      return false;
    },
    end(...args: unknown[]) {
      failCallback(args);
      return response;
    },
  });
}

// Whoever waits for the response to take more, such as `pipeline`, hears of it what Node says when a client has left, and
// ends its source. What it does to the response then must not take the end of the answer away, which is on its way.
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
  // What is piped into it passes the error on where nobody else listens.
  response.on('error', () => undefined);
  response.emit('error', error);
}

/** dropWrites lets a program go on writing to a socket that has had its last word, to no effect. */
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
