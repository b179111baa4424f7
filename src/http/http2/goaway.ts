// How an HTTP/2 session leaves: when GOAWAY is sent, and in how many steps, so that no stream is refused.
import type { ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import { wait, type Clock } from '../../clock.ts';
import { Hold } from '../in-flight/hold.ts';
import { queuedBytes } from '../node-internals.ts';
import { ignoreResets } from '../responses/socket-errors.ts';

/**
 * quiet is how long a busy client may take, in milliseconds beyond a round trip, to open its next stream after a response. In
 * the same time, it sends the streams that it opened before it received the GOAWAY. Its thread may have to wait for a
 * processor, even if another thread of the client has already answered the ping.
 */
export const quiet = 100;

// The pause, in milliseconds, that replaces `quiet` for a client that has not been quiet for several round trips.
const shortestPause = 20;

// The longest wait, in milliseconds, for a client that opens streams without waiting for responses. If a few round trips take
// longer, they are the limit. Before that, such a client looks the same as a client that waits for responses.
const longestSettling = 500;
const roundTrips = 4;
const longestRoundTrips = 3_000;

// How long to wait for a session that always has bytes to send, and the time between two checks, in milliseconds. New streams
// of the client are held in that time.
const longestWaitForRoom = 500;
const pause = 20;

// How many unacknowledged bytes leave room in the smallest buffer that a kernel gives a connection.
const mostUnacknowledged = 16_384;

// GOAWAY, NO_ERROR, with the highest stream identifier there is: it announces the end, and refuses nothing yet (RFC 9113, 6.8).
const announcement = Buffer.from([0, 0, 8, 7, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0]);

/**
 * Goaway ends a session by GOAWAY. First it holds the streams that the client opens, until the client waits for the responses
 * to all of them. A GOAWAY before these responses refuses no stream. In clear text, there are then two GOAWAYs, and streams
 * that the client sends between them are served (P-043). Over TLS, Node allows only one.
 */
export class Goaway {
  /** Holds the streams that the client opens before the GOAWAY is sent. */
  readonly hold = new Hold();
  readonly #session: ServerHttp2Session;
  readonly #socket: Socket;
  readonly #clock: Clock;
  #changes = 0;
  #isTelling = false;

  constructor(session: ServerHttp2Session, socket: Socket, clock: Clock) {
    this.#session = session;
    this.#socket = socket;
    this.#clock = clock;
  }

  /** Whether a GOAWAY that refuses nothing can be written before the last one. */
  get canAnnounce(): boolean {
    return this.#session.encrypted !== true;
  }

  /** noteChange says that a stream was opened or has ended. */
  noteChange(): void {
    this.#changes++;
  }

  /** tell tells the client once, and calls `end` when the last GOAWAY is due. */
  async tell(end: () => void): Promise<void> {
    if (this.#isTelling) return;
    this.#isTelling = true;
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
   * settle calls back once nothing was opened and nothing ended for a round trip and a little more. It lets go when the
   * callback's promise has resolved, and resolves with the same.
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
   * announce tells the client to open no more streams, and gives it a round trip in which those that it has on its way
   * arrive. nghttp2 has no such GOAWAY in Node, so the bytes go onto the socket beside it. Resolves with false, and has told
   * nothing, when the socket never had room for them.
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

  // Node aborts the process if a raw write has to wait for the kernel. A raw write that does not wait is sent between two
  // frames, if Node has no queued bytes.
  #hasRoom(acknowledged: number): boolean {
    if (this.#hasEnded || this.#socket.destroyed) return false;
    const { outboundQueueSize = 0 } = this.#session.state;
    const queued = (queuedBytes(this.#socket) ?? 1) + this.#socket.writableLength + outboundQueueSize;
    return queued === 0 && this.#socket.bytesWritten - acknowledged <= mostUnacknowledged;
  }

  get #hasEnded(): boolean {
    return this.#session.closed || this.#session.destroyed;
  }

  // Resolves with true when the client has answered a ping, and with false after `milliseconds`. After the answer, all frames
  // that the client sent before it have arrived, and the client has received all frames from before the ping.
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
