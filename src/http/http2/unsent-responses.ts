// Remembers responses that Node has finished but the kernel has not accepted, because the client reads slowly or not at
// all.
import type { Socket } from 'node:net';
import { startImmediate } from '../../clock.ts';
import type { Exchange } from '../exchange.ts';
import { queuedBytes } from '../../node-internals.ts';

// The largest number of unsent responses to remember for the log. If a client never reads, their number would grow
// without bound.
const most = 100;

/**
 * UnsentResponses remembers the last responses whose HTTP/2 stream Node closed although their bytes had not been sent.
 */
export class UnsentResponses {
  readonly #socket: Socket;
  #responses: readonly Exchange[] = [];

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** `note()` remembers a response until it has been sent. Most responses are sent when Node writes next. */
  note(exchange: Exchange): void {
    if (this.#responses.length === 0) startImmediate(() => this.remaining());
    this.#responses = [...this.#responses.slice(1 - most), exchange];
  }

  /** `remaining()` returns the responses that may not have been sent completely. It forgets all others. */
  remaining(): readonly Exchange[] {
    if ((queuedBytes(this.#socket) ?? 0) === 0) this.#responses = [];
    return this.#responses;
  }
}
