// Records HTTP/2 responses that Node has finished but the kernel has not accepted, because the client reads slowly or
// not at all.
import type { Socket } from 'node:net';
import { startImmediate } from '../../clock.ts';
import type { Exchange } from '../exchange.ts';
import { queuedBytes } from '../../node-internals.ts';

// The largest number of unsent responses that are recorded for the log. If a client never reads, their number would
// grow without bound.
const most = 100;

/**
 * Node may close an HTTP/2 stream before it has sent the last bytes of the response. UnsentResponses records the most
 * recent responses of this kind.
 */
export class UnsentResponses {
  readonly #socket: Socket;
  #responses: readonly Exchange[] = [];

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /**
   * `note()` records a response whose stream Node has closed before all bytes were sent. The record is kept until the
   * response has been sent, usually at Node's next write.
   */
  note(exchange: Exchange): void {
    if (this.#responses.length === 0) startImmediate(() => this.remaining());
    this.#responses = [...this.#responses.slice(1 - most), exchange];
  }

  /**
   * `remaining()` returns the responses of which some bytes are possibly still unsent. It drops the records of all
   * other responses.
   */
  remaining(): readonly Exchange[] {
    if ((queuedBytes(this.#socket) ?? 0) === 0) this.#responses = [];
    return this.#responses;
  }
}
