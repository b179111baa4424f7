// Ends an HTTP/2 session. Decides when to send GOAWAY, and whether to send one GOAWAY or two, so that no stream is
// refused.
import type { ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import { wait, type Clock } from '../../clock.ts';
import { Hold } from '../in-flight/hold.ts';
import { queuedBytes } from '../../node-internals.ts';
import { ignoreResets } from '../responses/socket-errors.ts';

/**
 * How long, in milliseconds, the server waits for the next stream of a client, in addition to one round trip. It waits
 * after each response. It also waits after a first GOAWAY, for streams that the client opened before it received this
 * GOAWAY. A round trip alone is too short: one thread of the client may answer the server's ping while another thread
 * still waits for a processor.
 */
export const quiet = 100;

// The pause after a round trip, in milliseconds, if the client has opened streams in each of the first `roundTrips`
// round trips. Otherwise, the pause is `quiet`.
const shortestPause = 20;

// The time, in milliseconds, after which lameduck no longer waits for a pause of a client that opens streams without
// waiting for responses. lameduck first lets `roundTrips` round trips pass, because it cannot recognize such a client
// sooner. If the round trips are slow, it waits at most `longestRoundTrips` milliseconds.
const longestSettling = 500;
const roundTrips = 4;
const longestRoundTrips = 3_000;

// The longest time, in milliseconds, to wait until an HTTP/2 session has sent all its bytes. During this wait, lameduck
// delays new streams of the client.
const longestWaitForRoom = 500;

// The pause between two checks whether a session still has bytes to send, in milliseconds.
const pause = 20;

// lameduck writes a GOAWAY frame directly to the socket only if at most this many bytes are unacknowledged. Even the
// smallest send buffer of a kernel then has room for the frame.
const mostUnacknowledged = 16_384;

// The bytes of a GOAWAY frame with NO_ERROR and the highest possible stream identifier. Such a frame announces the end
// of the session and refuses no stream (RFC 9113, 6.8).
const announcement = Buffer.from([0, 0, 8, 7, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0]);

/**
 * Goaway ends an HTTP/2 session with a GOAWAY that, if possible, refuses no stream (P-043). Before the first GOAWAY, it
 * delays the requests on new streams until the client opens no more streams and only waits for responses. Without TLS,
 * the session gets two GOAWAYs, and streams that the client opens between them are served. Over TLS, Node allows only
 * one GOAWAY.
 */
export class Goaway {
  /**
   * `hold` delays the requests on new streams of the session. The delay begins before the server sends the session's
   * first GOAWAY, and ends when this GOAWAY has been sent.
   */
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
   * canAnnounce tells whether the session runs without TLS. Only then can `announce` write a first GOAWAY to the
   * socket.
   */
  get canAnnounce(): boolean {
    return this.#session.encrypted !== true;
  }

  /** noteChange counts a change of the session's streams: the client has opened a stream, or a stream has ended. */
  noteChange(): void {
    this.#changes++;
  }

  /**
   * A session gets one or two GOAWAY frames. If it gets two, `send()` itself sends the first. `send()` then calls
   * `end`, which sends the last GOAWAY. If `send()` or `sendSoon()` was called before, `send()` does nothing.
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
   * sendSoon delays new streams for one round trip and a short pause. It then calls `end`, which sends the only GOAWAY.
   * If the client answers no ping, the round trip counts as `longest` milliseconds. If `send()` or `sendSoon()` was
   * called before, sendSoon does nothing.
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
   * `settle()` delays new streams of the client. It waits for a round trip and a short pause. If a stream opens or ends
   * meanwhile, it waits again, up to a time limit. It then calls `callback`. When the promise of `callback` has
   * resolved, `settle()` continues the delayed streams and resolves with the value of `callback`.
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
   * `announce()` sends the first of two GOAWAYs, and resolves with true one round trip later. All streams that the
   * client had sent have then arrived. Node's nghttp2 cannot send such a GOAWAY, so `announce()` writes the bytes of
   * the frame to the socket itself. If the socket never has room for the frame, `announce()` sends nothing and resolves
   * with false.
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

  // Tells whether lameduck can write a frame directly to the socket, which requires two conditions. The kernel must
  // have room for the frame, because Node aborts the process if such a direct write has to wait. Node must have no
  // queued bytes, because lameduck's frame could otherwise split a frame of Node.
  #hasRoom(acknowledged: number): boolean {
    if (this.#hasEnded || this.#socket.destroyed) return false;
    const { outboundQueueSize = 0 } = this.#session.state;
    const queued = (queuedBytes(this.#socket) ?? 1) + this.#socket.writableLength + outboundQueueSize;
    return queued === 0 && this.#socket.bytesWritten - acknowledged <= mostUnacknowledged;
  }

  get #hasEnded(): boolean {
    return this.#session.closed || this.#session.destroyed;
  }

  // Sends a ping and resolves with true when the client has answered it. All frames that the client sent before its
  // answer have then arrived. If there is no answer within `milliseconds`, resolves with false.
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
