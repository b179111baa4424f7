// An exchange: one counted request with its response, from the arrival of the request until the response has ended. The
// state of the request is stored only in the exchange.
import type { EventEmitter } from 'node:events';
import type { Writable } from 'node:stream';
import type { HttpRequest, HttpResponse } from '../message.ts';
import type { Connection } from './connection.ts';

/**
 * longestBodyAfterResponse is how long, in milliseconds, the server still reads the body of a request after it has sent
 * the complete response (P-026).
 */
export const longestBodyAfterResponse = 1_000;

/** Ending contains the two functions with which the drain ends one long-running request. */
export interface Ending {
  /**
   * `begin()` starts to end a long-running request. `retry` is the reconnection time, in milliseconds, that lameduck
   * sends to the client of an event stream. If `retry` is undefined, lameduck sends no reconnection time.
   */
  begin(retry: number | undefined): void;
  /** `end()` closes a request that is still open. The drain calls it repeatedly until the request has ended. */
  end(): void;
  /** `watch()` begins to read the chunks that the handler of an event stream writes, to know where an event ends. */
  watch?(): void;
}

/**
 * State is the state of an exchange (a request with its response). Only the class InFlight changes it. In the state
 * `noted`, the request is not counted yet. lameduck has no reference to its response, and finds the response through
 * Node's socket.
 */
export type State =
  | { readonly is: 'noted' }
  /**
   * State `serving`: the program has not yet sent its complete response to the request. The drain waits for this
   * response. lameduck itself may still delay the request. Its state is then `delayed`, and the program does not
   * execute the request yet.
   */
  | { readonly is: 'serving' }
  /**
   * State `ours`: lameduck itself sends the response, for example to a probe or because the handler took too long. The
   * drain does not wait for this response (P-078).
   */
  | { readonly is: 'ours' }
  /** State `long-running`: the request, such as an event stream, stays open until the drain ends it. */
  | { readonly is: 'long-running'; readonly ending: Ending }
  /** State `ending`: the drain has begun to end the long-running request. */
  | { readonly is: 'ending'; readonly ending: Ending }
  /** State `released`: the response has ended, complete or not, or the connection has closed. */
  | { readonly is: 'released' };

export const noted: State = { is: 'noted' };
export const serving: State = { is: 'serving' };
/** `delayed` is the state `serving` of a request that lameduck delays. It does not count for `maxRequestsInflight`. */
export const delayed: State = { is: 'serving' };
export const ours: State = { is: 'ours' };
export const released: State = { is: 'released' };

/**
 * Exchange is an HTTP request together with its response, or an upgrade request together with its upgraded connection.
 */
export interface Exchange {
  /** `state` is the state of the exchange. Only the class InFlight changes this property. */
  state: State;
  readonly request: HttpRequest;
  readonly arrivedAt: number;
  /** isWhole tells whether the kernel has accepted all bytes of the response to this request. */
  readonly isWhole: boolean;
  /**
   * `head` contains the response headers that have been sent, one per line. It is empty before the headers are sent.
   */
  readonly head: string;
  /** onEnd calls `callback` when the response or the upgraded connection has ended, complete or not. */
  onEnd(callback: () => void): void;
}

/**
 * OwnHold delays requests of one connection. lameduck calls `pass()` once for each request. The parameter `goOn` is the
 * function that continues this request. `pass()` calls `goOn` when the delay of this request has ended.
 */
export interface OwnHold {
  pass(goOn: () => void): void;
}

/** atOnce is an OwnHold without a delay: `pass(goOn)` calls `goOn` immediately. */
export const atOnce: OwnHold = {
  pass: (goOn) => {
    goOn();
  },
};

export function isLongRunning({ state }: Exchange): boolean {
  return state.is === 'long-running' || state.is === 'ending';
}

/** HttpExchange is an HTTP request and its response. HTTP/1.1 and HTTP/2 each have an implementation. */
export interface HttpExchange extends Exchange {
  readonly response: HttpResponse;
  readonly connection: Connection;
  /** cancelTimeout stops the timer that applies the setting `requestTimeout` to this request. */
  cancelTimeout: (() => void) | undefined;
  /**
   * hasEnded tells whether the response has ended. It is correct even if the program has removed the listeners for the
   * end of the response.
   */
  readonly hasEnded: boolean;
  /**
   * isOut is true if nothing of the response remains to be sent: the server has sent the complete response, or the
   * client has disconnected.
   */
  readonly isOut: boolean;
  /** isAborted tells whether this process, not the client, ended the response before it was complete. */
  readonly isAborted: boolean;
  /** `writable` is the stream to which the handler writes the body. */
  readonly writable: Writable;
  /** onEnd calls `callback` when the response has ended, complete or not. `this` is then the response. */
  onEnd(callback: (this: HttpResponse) => void): void;
  /**
   * onHead calls `callback` when the headers of the response have been sent. Only the first call of onHead has an
   * effect.
   */
  onHead(callback: (exchange: HttpExchange) => void): void;
  /**
   * beginShutdown is called for each request in flight when the shutdown begins, and for each request that arrives
   * during the shutdown. From this call on, the response to the request may tell the client to close the connection.
   * `now` returns the current time.
   */
  beginShutdown(now: () => number): void;
  /**
   * isHeld is true if lameduck must delay this request. An HTTP/1.1 request waits until Node has parsed the packet in
   * which the request arrived. An HTTP/2 request waits until the server has sent the GOAWAY of the session. `ownHold`
   * continues the request after that wait.
   */
  readonly isHeld: boolean;
  readonly ownHold: OwnHold;
  /**
   * `hold()` is called before a request is delayed. It returns a function that the caller must call when the delay
   * ends, before the request continues. The returned function returns true if the client still waits for the response.
   */
  hold(): () => boolean;
  /** `refuse()` answers the request with 429 because of the shutdown. The connection ends after this response. */
  refuse(): void;
  /**
   * breakOff truncates the response. The client then sees an error, and does not mistake the received part for the
   * complete response.
   */
  breakOff(): void;
  /**
   * takeOver detaches the response from the handler, so that lameduck can write the response while the handler is still
   * running. It returns the response objects that the handler may still use.
   */
  takeOver(): readonly EventEmitter[];
  /**
   * stopReading is called after the complete response has been sent. If the client still sends the request body, the
   * server then no longer waits for the rest of the body. If stopReading returns false, the caller must call
   * stopReading again later.
   */
  stopReading(): boolean;
}
