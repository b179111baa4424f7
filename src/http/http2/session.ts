// One HTTP/2 session: its streams are its requests, and it ends by GOAWAY.
import type { ServerHttp2Session } from 'node:http2';
import { type Clock, startImmediate } from '../../clock.ts';
import type { Connection } from '../connection.ts';
import type { Exchange, HttpExchange } from '../exchange.ts';
import { longestBehindAnswer } from '../http1/half-request.ts';
import type { Hold } from '../in-flight/hold.ts';
import type { Http2Exchange } from './exchange.ts';
import { Goaway, quiet } from './goaway.ts';
import { Unsent } from './unsent.ts';

// How long a client may take to read the rest of lameduck's own responses if no other stream is left, in milliseconds.
const longestOwn = 1_000;

// How long a late session may take to open a stream, in milliseconds. A late connection of HTTP/1.1 may take as long.
const longestSilence = 1_000;

/** Session is the part of a connection that is special to HTTP/2. */
export class Session {
  readonly connection: Connection;
  readonly #session: ServerHttp2Session;
  readonly #clock: Clock;
  readonly #goaway: Goaway;
  readonly #unsent: Unsent;
  /** When a stream was last opened, or seen to have ended. */
  #changedAt: number;
  #hasReleased = false;
  /** Since when only lameduck's own responses are left on a session that is to end. */
  #aloneSince: number | undefined;

  constructor(connection: Connection, session: ServerHttp2Session, clock: Clock) {
    this.connection = connection;
    this.#session = session;
    this.#clock = clock;
    this.#goaway = new Goaway(session, connection.socket, clock);
    this.#unsent = new Unsent(connection.socket);
    this.#changedAt = clock.now();
  }

  /** Holds the streams that the client opens before the GOAWAY is sent. */
  get hold(): Hold {
    return this.#goaway.hold;
  }

  /** The exchanges that have ended for the program while a part of the response has not been sent yet. */
  get unsent(): readonly Exchange[] {
    return this.#unsent.list();
  }

  // No other protocol adds to a connection after its session has begun.
  get #exchanges(): readonly Http2Exchange[] {
    return this.connection.exchanges as readonly Http2Exchange[];
  }

  /**
   * noteOpened begins the GOAWAY with the first stream that the client opens after the drawn moment (P-042, P-043). The GOAWAY
   * is sent before the response, so the client receives it before it sends its next request.
   */
  noteOpened(now: number): void {
    this.#changedAt = now;
    this.#goaway.noteChange();
    if (now >= this.connection.leaveAt) this.#leaveNow();
  }

  noteReleased(exchange: HttpExchange): void {
    this.#hasReleased = true;
    this.#goaway.noteChange();
    const { state, response } = exchange as Http2Exchange;
    if (state.is !== 'ours' && response.isClosedAhead) this.#unsent.note(exchange);
  }

  /** noteCompatible is called when the compatibility API has made a request and a response of a stream. */
  noteCompatible(request: object, response: object): void {
    (this.connection.exchangeFor(request) as Http2Exchange | undefined)?.noteCompatible(request, response);
  }

  /**
   * look begins the GOAWAY for a client that opens no stream. If the GOAWAY could refuse a stream, look waits until the client is
   * quiet. In the drain, look also ends bodies that clients send for too long after the whole response.
   */
  look(now: number, isDraining: boolean): void {
    const { leaveAt, leaveBy } = this.connection;
    if (this.#hasReleased) this.#changedAt = now;
    this.#hasReleased = false;
    const isQuiet = now - this.#changedAt >= quiet || now >= leaveBy;
    if (now >= leaveAt && (isQuiet || this.#goaway.canAnnounce)) this.#leaveNow();
    this.#endOwn(now);
    if (isDraining) for (const exchange of this.#exchanges) exchange.endUpload(now, longestBehindAnswer);
  }

  #leaveNow(): void {
    const { connection } = this;
    if (connection.isLeaving) return;
    // The client may have ended the session itself.
    if (this.#session.closed || this.#session.destroyed) connection.end();
    // The first stream of a late session is refused at once, and ends it. To hold that stream would hold the drain.
    else if (connection.isLate) this.#endIfSilent();
    // The client is waiting for responses. Its library may itself refuse streams that the client has opened but not yet sent.
    else {
      void this.#goaway.tell(() => {
        connection.end();
      });
    }
  }

  #endIfSilent(): void {
    if (this.#clock.now() - this.#changedAt >= longestSilence) this.connection.end();
  }

  /** close sends the last GOAWAY. The session ends after its last stream. */
  close(): void {
    this.#session.close();
  }

  /** destroy ends the session immediately, with a reset for each remaining stream. */
  destroy(): void {
    for (const { response } of this.#exchanges) response.destroy();
    // Send the resets of the streams first. Node sends no reset after the GOAWAY of a destroyed session.
    if (this.connection.isBusy) startImmediate(() => this.#destroy());
    else this.#destroy();
  }

  // Destroy the socket too. Otherwise Node would wait for the peer to close its side.
  #destroy(): void {
    this.#session.destroy();
    this.connection.socket.destroy();
  }

  // Destroy lameduck's own responses that the client does not read, so that they do not delay the end of the session (P-078).
  #endOwn(now: number): void {
    const { isLeaving, isBusy, unansweredCount } = this.connection;
    if (!isLeaving || !isBusy || unansweredCount > 0) this.#aloneSince = undefined;
    else if (now - (this.#aloneSince ??= now) >= longestOwn) for (const own of this.#exchanges) own.response.destroy();
  }
}
