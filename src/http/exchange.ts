// One request that is counted, from its arrival until it is released: the only object that has its state.
import type { EventEmitter } from 'node:events';
import type { Writable } from 'node:stream';
import type { Request, Response } from '../message.ts';
import type { Connection } from './connection.ts';

/** Ending is how a long-running request ends. */
export interface Ending {
  /** tell begins to end the request. `retry` is the reconnection time of an event stream, in milliseconds. */
  tell(retry: number | undefined): void;
  /** end closes a request that is still open. It is called repeatedly until the request has ended. */
  end(): void;
  /** watch begins to read the chunks of the response. */
  watch?(): void;
}

/**
 * State is where an exchange is. Before it is counted it is noted, and nothing more than Node's own note of its response
 * exists. InFlight changes the state, and nothing else does.
 */
export type State =
  | { readonly is: 'noted' }
  /** The program responds, and the drain waits for the response. */
  | { readonly is: 'serving' }
  /** lameduck responds: to a probe, or in place of the handler. Nobody waits for the response (P-078). */
  | { readonly is: 'ours' }
  /** Waits for its turn in the drain. */
  | { readonly is: 'long-running'; readonly ending: Ending }
  /** The drain has called `tell`. */
  | { readonly is: 'told'; readonly ending: Ending }
  /** Its response has ended, whole or not, or its connection has closed. */
  | { readonly is: 'released' };

export const noted: State = { is: 'noted' };
export const serving: State = { is: 'serving' };
export const ours: State = { is: 'ours' };
export const released: State = { is: 'released' };

/** Exchange is a request, and what it has become: a response, or a connection that has left HTTP. */
export interface Exchange {
  /** Written by InFlight alone. */
  state: State;
  readonly request: Request;
  readonly arrivedAt: number;
  /** Whether the whole response has been handed to the kernel. */
  readonly isWhole: boolean;
  /** onEnd calls back when the response, or the connection that has left HTTP, has ended, whole or not. */
  onEnd(callback: () => void): void;
}

/** isLongRunning tells whether an exchange is known to be long-running. */
export function isLongRunning({ state }: Exchange): boolean {
  return state.is === 'long-running' || state.is === 'told';
}

/** HttpExchange is a request and its response. HTTP/1.1 and HTTP/2 have one implementation each. */
export interface HttpExchange extends Exchange {
  readonly response: Response;
  readonly connection: Connection;
  /** Cancels the timer of `requestTimeout`. */
  cancelTimeout: (() => void) | undefined;
  /** The headers of the response as they were sent, a line each; empty before that. */
  readonly head: string;
  /** Whether the response has ended, also where the program has removed the listeners that report it. */
  readonly hasEnded: boolean;
  /** Whether the whole response has been sent, or its client has left. */
  readonly isOut: boolean;
  /** Whether this process, and not the client, has ended the response before it was complete. */
  readonly isAborted: boolean;
  /** The stream to which the handler writes the body. */
  readonly writable: Writable;
  /** onEnd calls back, with the response as `this`, when the response has ended, whole or not. */
  onEnd(callback: (this: Response) => void): void;
  /** onHead calls back when the headers have been sent. A second call changes nothing. */
  onHead(callback: (exchange: HttpExchange) => void): void;
  /** beginLeaving is called when the shutdown has begun. From then on, the response tells the client to close the connection. */
  beginLeaving(now: () => number): void;
  /**
   * hold is called before the request is held back. The returned function is called before the request goes on, and tells
   * whether its client still waits.
   */
  hold(): () => boolean;
  /** refuse sends a response of lameduck's after which the connection ends. */
  refuse(): void;
  /** breakOff ends the response in its middle, so that the client sees an error and never takes the part for the whole. */
  breakOff(): void;
  /** takeOver takes the response from the handler, and returns the objects to which the handler may still write. */
  takeOver(): readonly EventEmitter[];
  /** stopReading ends a request that goes on after its whole response, and tells whether nothing is left to do. */
  stopReading(): boolean;
}
