// Answers that Node has done with and the kernel has not taken, because their client reads slowly or not at all.
import type { Socket } from 'node:net';
import { startImmediate } from '../../clock.ts';
import type { Exchange } from '../exchange.ts';
import { queuedBytes } from '../node-internals.ts';

// Enough to name in the log; of a client that is always behind there would be ever more.
const most = 100;

/** Unsent keeps the last answers on a socket whose streams of HTTP/2 Node has closed ahead of their bytes. */
export class Unsent {
  readonly #socket: Socket;
  #answered: readonly Exchange[] = [];

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** note keeps an answer, until it is known to be out: with most, once Node has made the write that it is in. */
  note(answered: Exchange): void {
    if (this.#answered.length === 0) startImmediate(() => this.list());
    this.#answered = [...this.#answered.slice(1 - most), answered];
  }

  /** list returns those of which a part may still be in the process; it forgets the others. */
  list(): readonly Exchange[] {
    if ((queuedBytes(this.#socket) ?? 0) === 0) this.#answered = [];
    return this.#answered;
  }
}
