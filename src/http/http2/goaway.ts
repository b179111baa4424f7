// Ends an HTTP/2 session. Decides when to send GOAWAY, and whether to send one or two, so that no stream is refused.
import type { ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import { wait, type Clock } from '../../clock.ts';
import { Hold } from '../in-flight/hold.ts';
import { queuedBytes } from '../../node-internals.ts';
import { ignoreResets } from '../responses/socket-errors.ts';

/**
 * `quiet` is how long a busy client may take, in milliseconds beyond a round trip, to open its next stream after a
 * response. `quiet` is also how long streams may arrive that the client opened before it received the GOAWAY. A round
 * trip alone is too short: one thread of the client may answer lameduck's ping while another thread still waits for a
 * processor.
 */
export const quiet = 100;

// Replaces `quiet` after `roundTrips` round trips in which the client has opened streams, in milliseconds.
const shortestPause = 20;

// The longest wait, in milliseconds, for a client that keeps opening streams without waiting for responses. lameduck
// needs at least three round trips to recognize such a client. If these three take longer than this limit, lameduck
// waits for all three.
const longestSettling = 500;
const roundTrips = 4;
const longestRoundTrips = 3_000;

// The longest wait until a session has no bytes to send, and the pause between two checks, in milliseconds. During this
// wait, lameduck holds new streams of the client.
const longestWaitForRoom = 500;
const pause = 20;

// lameduck writes a GOAWAY to the socket itself only if at most this many bytes are unacknowledged. Even the smallest
// send buffer of a kernel then has room.
const mostUnacknowledged = 16_384;

// The bytes of a GOAWAY frame with NO_ERROR and the highest possible stream identifier. It announces the end of the
// session and refuses no stream (RFC 9113, 6.8).
const announcement = Buffer.from([0, 0, 8, 7, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0]);

/**
 * Goaway ends a session with GOAWAY. First it holds the streams that the client opens, until the client opens no more
 * streams and waits for all responses. A GOAWAY then refuses no stream. Without TLS, Goaway then sends two GOAWAYs,
 * and serves streams that the client sends between them (P-043). Over TLS, Node allows only one GOAWAY.
 */
export class Goaway {
  /** `hold` contains the streams that the client has opened and that wait until the GOAWAY is sent. */
  readonly hold = new Hold();
  readonly #session: ServerHttp2Session;
  readonly #socket: Socket;
  readonly #clock: Clock;
  #changes = 0;
  #isSending = false;

  constructor(session: ServerHttp2Session, socket: Socket, clock: Clock) {
    this.#session = session;
    this.#socket = socket;
    this.#clock = clock;
  }

  /**
   * canAnnounce tells whether the session runs without TLS, so that `announce` can write a first GOAWAY to its socket.
   */
  get canAnnounce(): boolean {
    return this.#session.encrypted !== true;
  }

  /** noteChange records that a stream was opened or has ended. */
  noteChange(): void {
    this.#changes++;
  }

  /**
   * `send()` sends the client every GOAWAY except the last, and then calls `end`, which sends the last. Only the first
   * call of `send()` or `sendSoon()` has an effect.
   */
  async send(end: () => void): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    const isAnnounced = await this.settle(async () => {
      if (this.canAnnounce && (await this.announce())) return true;
      end();
      return false;
    });
    if (!isAnnounced) return;
    await wait(this.#clock, quiet);
    end();
  }

  /**
   * sendSoon holds new streams for one round trip and a short pause. A client that answers no ping counts as having a
   * round trip of `longest` milliseconds. sendSoon then calls `end`, which sends the only GOAWAY. Only the first call
   * of `send()` or `sendSoon()` has an effect.
   */
  async sendSoon(end: () => void, longest: number): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    this.hold.begin();
    await this.#roundTrip(longest);
    await wait(this.#clock, quiet);
    end();
    this.hold.end();
  }

  /**
   * `settle()` holds new streams and calls `callback` when no stream has been opened or ended for a round trip and a
   * short pause. It releases the held streams when the promise of `callback` has resolved, and resolves with the value
   * of `callback`.
   */
  async settle<Result>(callback: () => Result | Promise<Result>): Promise<Result> {
    this.hold.begin();
    const since = this.#clock.now();
    let elapsed = 0;
    for (let count = 1; ; count++) {
      const before = this.#changes;
      await this.#roundTrip(longestRoundTrips - elapsed);
      await wait(this.#clock, count <= roundTrips ? quiet : shortestPause);
      elapsed = this.#clock.now() - since;
      if (before === this.#changes || this.#session.closed) break;
      if (elapsed >= (count < roundTrips ? longestRoundTrips : longestSettling)) break;
    }
    const result = await callback();
    this.hold.end();
    return result;
  }

  /**
   * `announce()` sends the first GOAWAY, and resolves with true one round trip later. All streams that were in transit
   * have then arrived. Node's nghttp2 cannot send such a GOAWAY, so `announce()` writes the bytes of the frame to the
   * socket itself. If the socket never has room for them, `announce()` sends nothing and resolves with false.
   */
  async announce(): Promise<boolean> {
    const until = this.#clock.now() + longestWaitForRoom;
    for (;;) {
      const { bytesWritten } = this.#socket;
      const isHeard = await this.#roundTrip(until - this.#clock.now());
      if (isHeard && this.#hasRoom(bytesWritten)) break;
      await wait(this.#clock, pause);
      if (this.#clock.now() >= until || this.#hasEnded) return false;
    }
    ignoreResets(this.#socket);
    this.#socket.write(announcement);
    await this.#roundTrip(longestRoundTrips);
    return true;
  }

  // Tells whether the socket accepts bytes without waiting. Node aborts the process if a raw write has to wait for the
  // kernel. While Node has no queued bytes, a raw write cannot land inside a frame.
  #hasRoom(acknowledged: number): boolean {
    if (this.#hasEnded || this.#socket.destroyed) return false;
    const { outboundQueueSize = 0 } = this.#session.state;
    const queued = (queuedBytes(this.#socket) ?? 1) + this.#socket.writableLength + outboundQueueSize;
    return queued === 0 && this.#socket.bytesWritten - acknowledged <= mostUnacknowledged;
  }

  get #hasEnded(): boolean {
    return this.#session.closed || this.#session.destroyed;
  }

  // Sends a ping. Resolves with true when the client has answered it. All frames that the client sent before its answer
  // have then arrived. Resolves with false if there is no answer after `milliseconds`.
  #roundTrip(milliseconds: number): Promise<boolean> {
    return new Promise((resolve) => {
      if (this.#session.destroyed) {
        resolve(false);
        return;
      }
      const cancel = this.#clock.after(Math.max(0, milliseconds), () => {
        resolve(false);
      });
      this.#session.ping((error) => {
        cancel();
        resolve(error === null);
      });
    });
  }
}
