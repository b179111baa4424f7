// One HTTP/2 session: its streams are its requests, and it leaves by GOAWAY.
import type { ServerHttp2Session } from 'node:http2';
import { type Clock, startImmediate } from '../../clock.ts';
import type { Connection } from '../connection.ts';
import type { Exchange, HttpExchange } from '../exchange.ts';
import { longestBehindAnswer } from '../http1/half-request.ts';
import type { Hold } from '../in-flight/hold.ts';
import type { Http2Exchange } from './exchange.ts';
import { Goaway, quiet } from './goaway.ts';
import { Unsent } from './unsent.ts';

// How many milliseconds a client has to take the rest of what lameduck has answered itself, where that is all that is left.
const longestOwn = 1_000;

// How many milliseconds a late session may take to open a stream, as a connection of HTTP/1.1 may to send a request.
const longestSilence = 1_000;

/** Session is what a connection that speaks HTTP/2 does in a way of its own. */
export class Session {
  readonly connection: Connection;
  readonly #session: ServerHttp2Session;
  readonly #clock: Clock;
  readonly #goaway: Goaway;
  readonly #unsent: Unsent;
  /** When a stream was last opened, or seen to have ended. */
  #changedAt: number;
  #hasReleased = false;
  /** Since when nothing but answers of lameduck's is left on a session that is to end. */
  #aloneSince: number | undefined;

  constructor(connection: Connection, session: ServerHttp2Session, clock: Clock) {
    this.connection = connection;
    this.#session = session;
    this.#clock = clock;
    this.#goaway = new Goaway(session, connection.socket, clock);
    this.#unsent = new Unsent(connection.socket);
    this.#changedAt = clock.now();
  }

  /** Keeps the streams that the client opens while it is about to be told. */
  get hold(): Hold {
    return this.#goaway.hold;
  }

  /** What has ended for the program, but not for its client. */
  get unsent(): readonly Exchange[] {
    return this.#unsent.list();
  }

  // No other protocol adds to a connection after its session has begun.
  get #exchanges(): readonly Http2Exchange[] {
    return this.connection.exchanges as readonly Http2Exchange[];
  }

  /**
   * noteOpened asks the client to leave with the first stream that it opens after the drawn moment (P-042, P-043): the GOAWAY
   * is ahead of the answer, for which a client waits before it asks the next thing.
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
   * look asks a client to leave that opens no stream: where that could refuse a stream, as soon as the client is not about to
   * open one. Once the delay is over, it ends bodies that clients go on sending for too long after the whole response.
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
    // The client may have ended it itself.
    if (this.#session.closed || this.#session.destroyed) connection.end();
    // The first stream of a late session is refused at once, and ends it. To hold that stream would hold the drain.
    else if (connection.isLate) this.#endIfSilent();
    // While the client waits for responses: its library may refuse by itself what its program has opened and the library has
    // not sent yet.
    else {
      void this.#goaway.tell(() => {
        connection.end();
      });
    }
  }

  #endIfSilent(): void {
    if (this.#clock.now() - this.#changedAt >= longestSilence) this.connection.end();
  }

  /** close sends the last GOAWAY; the session ends behind its last stream. */
  close(): void {
    this.#session.close();
  }

  /** destroy ends the session at once, with a reset for each stream that is left. */
  destroy(): void {
    for (const { response } of this.#exchanges) response.destroy();
    // Node sends no reset behind the GOAWAY of a session that is destroyed, so that of its streams goes ahead of it.
    if (this.connection.isBusy) startImmediate(() => this.#destroy());
    else this.#destroy();
  }

  // Node would wait for the peer to end its side.
  #destroy(): void {
    this.#session.destroy();
    this.connection.socket.destroy();
  }

  // An answer of lameduck's that its client does not take would keep the session, and nobody waits for that (P-078).
  #endOwn(now: number): void {
    const { isLeaving, isBusy, unansweredCount } = this.connection;
    if (!isLeaving || !isBusy || unansweredCount > 0) this.#aloneSince = undefined;
    else if (now - (this.#aloneSince ??= now) >= longestOwn) for (const own of this.#exchanges) own.response.destroy();
  }
}
