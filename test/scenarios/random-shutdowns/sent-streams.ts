// Which streams a client of HTTP/2 has put on the wire: Node's own says also of one that it has kept back that it was refused.
import { Duplex } from 'node:stream';
import type { Socket } from 'node:net';

const prefaceLength = 24;
const headLength = 9;
const headersType = 1;

/** SentStreams is a connection, as it is but for the note of each stream whose HEADERS frame went out on it. */
export class SentStreams extends Duplex {
  readonly ids = new Set<number>();
  readonly #socket: Socket;
  #unread = Buffer.alloc(0);
  #skip = prefaceLength;

  constructor(socket: Socket) {
    super({ allowHalfOpen: false });
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) socket.pause();
    });
    socket.on('end', () => this.push(null));
    socket.on('error', (error) => this.destroy(error));
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    this.#note(chunk);
    this.#socket.write(chunk, callback);
  }

  override _final(callback: () => void): void {
    this.#socket.end(callback);
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#socket.destroy();
    callback(error);
  }

  #note(chunk: Buffer): void {
    this.#unread = Buffer.concat([this.#unread, chunk]);
    for (;;) {
      const skipped = this.#unread.subarray(this.#skip);
      this.#skip -= this.#unread.length - skipped.length;
      this.#unread = skipped;
      if (this.#skip > 0 || skipped.length < headLength) return;
      if (skipped[3] === headersType) this.ids.add(skipped.readUInt32BE(5));
      this.#skip = headLength + skipped.readUIntBE(0, 3);
    }
  }
}
