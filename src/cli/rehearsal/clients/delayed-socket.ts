// A TCP connection whose bytes, and whose end, take a millisecond or more in each direction. On bare loopback a client knows of
// a FIN before it can send another request, which hides the most frequent loss.
import { connect, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { systemClock } from '../../../clock.ts';

/** leastDelay is how long a byte takes at least from one end to the other, in milliseconds. */
export const leastDelay = 1;

/** DelayedSocket behaves as a net.Socket for the clients of node:http and node:http2. */
export class DelayedSocket extends Duplex {
  /** Whether the connection was accepted. */
  isConnected = false;
  /** Whether the server has ended its side and the client could know it. */
  isEnded = false;
  readonly #socket: Socket;
  readonly #delay: number;

  constructor(host: string, port: number, delay = leastDelay) {
    super({ allowHalfOpen: false });
    this.#delay = delay;
    this.#socket = connect({ host, port, allowHalfOpen: true, noDelay: true });
    this.#socket.once('connect', () => {
      this.isConnected = true;
      this.emit('connect');
    });
    this.#socket.on('data', (chunk: Buffer) => {
      this.#later(() => this.push(chunk));
    });
    this.#socket.once('end', () => {
      this.#later(() => {
        this.isEnded = true;
        this.push(null);
      });
    });
    this.#socket.once('error', (error) => {
      this.#later(() => this.destroy(error));
    });
    this.#socket.once('close', () => {
      this.#later(() => this.destroy());
    });
  }

  override _read(): void {
    // Bytes are pushed as they come: a rehearsal's responses are small.
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    this.#later(() => {
      if (this.#socket.writable) this.#socket.write(chunk);
    });
    callback();
  }

  override _final(callback: () => void): void {
    this.#later(() => this.#socket.end());
    callback();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#socket.destroy();
    callback(error);
  }

  // The HTTP client of Node calls these methods of its socket.
  setTimeout(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    this.#socket.ref();
    return this;
  }

  unref(): this {
    this.#socket.unref();
    return this;
  }

  destroySoon(): void {
    this.end(() => this.destroy());
  }

  #later(callback: () => void): void {
    systemClock.after(this.#delay, callback);
  }
}
