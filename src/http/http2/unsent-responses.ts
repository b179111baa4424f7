// Records HTTP/2 responses that Node has finished but the kernel has not accepted, because the client reads slowly or
// not at all.
import type { Socket } from 'node:net';
import { startImmediate } from '../../clock.ts';
import { serving, type Exchange } from '../exchange.ts';
import { queuedBytes } from '../../node-internals.ts';

// The largest number of unsent responses that are recorded for the log. If a client never reads, their number would
// grow without bound.
const most = 100;

function ignore(): void {
  return undefined;
}

/**
 * UnsentResponses records the most recent responses whose stream has ended before all bytes were sent. Node may close
 * an HTTP/2 stream before it has sent the last bytes of the response.
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
   * noteEnded records a response whose stream had already ended when lameduck looked for it. Only the method and the
   * path of its request are known.
   */
  noteEnded(request: { readonly method: string; readonly url: string }, arrivedAt: number): void {
    if ((queuedBytes(this.#socket) ?? 0) === 0) return;
    this.note({
      state: serving,
      request: { ...request, headers: {}, httpVersion: '2.0', complete: true, socket: this.#socket, resume: ignore },
      arrivedAt,
      isWhole: false,
      head: '',
      onEnd: ignore,
    });
  }

  /**
   * `remaining()` returns the recorded responses that may still have unsent bytes. It forgets all other recorded
   * responses.
   */
  remaining(): readonly Exchange[] {
    if ((queuedBytes(this.#socket) ?? 0) === 0) this.#responses = [];
    return this.#responses;
  }
}
