// A TCP connection whose bytes and FIN take at least a millisecond in each direction. Without this delay, a client on
// the same machine sees a FIN before it can send another request. The most frequent loss would then never occur: a
// request that is in flight while the server sends its FIN.
import { connect, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { systemClock } from '../../../clock.ts';

/** leastDelay is the shortest one-way delay of a connection, in milliseconds. */
export const leastDelay = 1;

/** DelayedSocket behaves like a net.Socket for the clients of node:http and node:http2. */
export class DelayedSocket extends Duplex {
  /** isConnected becomes true when the server has accepted the connection. */
  isConnected = false;
  /** isEnded becomes true when the server's FIN has reached the client. */
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
    // DelayedSocket pushes response bytes to the client as they arrive. No back-pressure is needed, because the
    // responses in a rehearsal are small.
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

  // Node's HTTP client calls these methods of net.Socket, so a DelayedSocket must have them. They do nothing.
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
