// Responses that Node has finished but the kernel has not accepted, because the client reads slowly or not at all.
import type { Socket } from 'node:net';
import { startImmediate } from '../../clock.ts';
import type { Exchange } from '../exchange.ts';
import { queuedBytes } from '../node-internals.ts';

// The most responses to remember for the log. For a client that never catches up, their number would grow without bound.
const most = 100;

/** Unsent remembers the last responses whose HTTP/2 stream Node has closed before their bytes were sent. */
export class Unsent {
  readonly #socket: Socket;
  #answered: readonly Exchange[] = [];

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** note remembers a response until it has been sent. For most responses, this is the next write of Node. */
  note(answered: Exchange): void {
    if (this.#answered.length === 0) startImmediate(() => this.list());
    this.#answered = [...this.#answered.slice(1 - most), answered];
  }

  /** list returns the responses whose bytes may still be in the process. It forgets all others. */
  list(): readonly Exchange[] {
    if ((queuedBytes(this.#socket) ?? 0) === 0) this.#answered = [];
    return this.#answered;
  }
}
