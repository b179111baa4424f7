// The record of one HTTP/2 session: its streams are its requests, and it leaves by GOAWAY.
import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { type Clock, startImmediate } from '../../clock.ts';
import { Connection, connectionOf, type Leaving } from '../connection.ts';
import type { Exchange } from '../exchange.ts';
import { longestBehindAnswer } from '../http1/half-request.ts';
import type { Hold } from '../admission/hold.ts';
import type { Http2Exchange } from './exchange.ts';
import { Goaway, quiet } from './goaway.ts';
import { Unsent } from './unsent.ts';

// How many milliseconds a client has to take the rest of what lameduck has answered itself, where that is all that is left.
const longestOwn = 1_000;

// How many milliseconds a late session may take to open a stream, as a connection of HTTP/1.1 may to send a request.
const longestSilence = 1_000;

/** sessionOn returns the record of a socket if it speaks HTTP/2. */
export function sessionOn(socket: object | undefined): Session | undefined {
  const connection = connectionOf(socket);
  return connection instanceof Session ? connection : undefined;
}

/** Session is a Connection that speaks HTTP/2. */
export class Session extends Connection {
  declare readonly exchanges: Http2Exchange[];
  override readonly protocol = 'http2';
  readonly #session: ServerHttp2Session;
  readonly #clock: Clock;
  readonly #goaway: Goaway;
  readonly #unsent: Unsent;
  #leaveBy = Infinity;
  /** When a stream was last opened, or seen to have ended. */
  #changedAt: number;
  #hasReleased = false;
  /** Since when nothing but answers of lameduck's is left on a session that is to end. */
  #aloneSince: number | undefined;

  constructor(session: ServerHttp2Session, socket: Socket, clock: Clock) {
    super(socket, clock.now());
    this.#session = session;
    this.#clock = clock;
    this.#goaway = new Goaway(session, socket, clock);
    this.#unsent = new Unsent(socket);
    this.#changedAt = clock.now();
  }

  /** Keeps the streams that the client opens while it is about to be told. */
  get hold(): Hold {
    return this.#goaway.hold;
  }

  override draw(leaving: Leaving): void {
    super.draw(leaving);
    this.#leaveBy = leaving.since + leaving.window;
  }

  override exchangeFor(request: object): Http2Exchange | undefined {
    const { stream = request } = request as { stream?: ServerHttp2Stream };
    return this.exchanges.find((exchange) => exchange.stream === stream);
  }

  /**
   * add asks the client to leave with the first stream that it opens after the drawn moment (P-042, P-043): the GOAWAY
   * is ahead of the answer, for which a client waits before it asks the next thing.
   */
  override add(exchange: Http2Exchange, now: number): void {
    super.add(exchange, now);
    this.#changedAt = now;
    this.#goaway.noteChange();
    if (now >= this.leaveAt) this.#leaveNow();
  }

  override remove(exchange: Http2Exchange): void {
    this.#hasReleased = true;
    this.#goaway.noteChange();
    super.remove(exchange);
    if (exchange.state.is !== 'ours' && exchange.response.isClosedAhead) this.#unsent.note(exchange);
  }

  /** unfinished also lists what has ended for the program, but not for its client. */
  override unfinished(): Exchange[] {
    return [...super.unfinished(), ...this.#unsent.list()];
  }

  /**
   * look asks a client to leave that opens no stream: where that could refuse a stream, as soon as the client is not about to
   * open one. Once the delay is over, it ends bodies that clients go on sending for too long after the whole response.
   */
  override look(now: number, isDraining: boolean): void {
    if (this.#hasReleased) this.#changedAt = now;
    this.#hasReleased = false;
    const isQuiet = now - this.#changedAt >= quiet || now >= this.#leaveBy;
    if (now >= this.leaveAt && (isQuiet || this.#goaway.canAnnounce)) this.#leaveNow();
    this.#endOwn(now);
    if (isDraining) for (const exchange of this.exchanges) exchange.endUpload(now, longestBehindAnswer);
  }

  #leaveNow(): void {
    if (this.isOver) return;
    if (this.#hasEnded) this.isOver = true;
    // The first stream of a late session is refused at once, and ends it. To hold that stream would hold the drain.
    else if (this.isLate) this.#endIfSilent();
    // While the client waits for responses: its library may refuse by itself what its program has opened and the library has
    // not sent yet.
    else {
      void this.#goaway.tell(() => {
        this.end();
      });
    }
  }

  #endIfSilent(): void {
    if (this.#clock.now() - this.#changedAt >= longestSilence) this.end();
  }

  // The client may have ended it itself.
  get #hasEnded(): boolean {
    return this.#session.closed || this.#session.destroyed;
  }

  /** end sends the last GOAWAY; the session ends behind its last stream. */
  override end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#session.close();
  }

  override get endsBySilence(): boolean {
    return false;
  }

  override destroy(): void {
    for (const { response } of this.exchanges) response.destroy();
    // Node sends no reset behind the GOAWAY of a session that is destroyed, so that of its streams goes ahead of it.
    if (this.isBusy) startImmediate(() => this.#destroy());
    else this.#destroy();
  }

  // Node would wait for the peer to end its side.
  #destroy(): void {
    this.#session.destroy();
    this.socket.destroy();
  }

  // An answer of lameduck's that its client does not take would keep the session, and nobody waits for that (P-078).
  #endOwn(now: number): void {
    if (!this.isOver || !this.isBusy || this.unansweredCount > 0) this.#aloneSince = undefined;
    else if (now - (this.#aloneSince ??= now) >= longestOwn) for (const own of this.exchanges) own.response.destroy();
  }
}
