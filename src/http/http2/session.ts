// One HTTP/2 session, in which each stream is a request. The server ends the session with a GOAWAY.
import type { ServerHttp2Session } from 'node:http2';
import { type Clock, startImmediate } from '../../clock.ts';
import type { Connection } from '../connection.ts';
import { longestBodyAfterResponse, atOnce, type Exchange, type HttpExchange, type OwnHold } from '../exchange.ts';
import type { Hold } from '../in-flight/hold.ts';
import type { Http2Exchange } from './exchange.ts';
import { Goaway, quiet } from './goaway.ts';
import { UnsentResponses } from './unsent-responses.ts';

// How long the client may take, in milliseconds, to read lameduck's own responses when no request of the program is
// left in the session.
const longestOwn = 1_000;

// How long a session that was accepted after NotAcceptingNewRequest may take to open its first stream, in milliseconds.
// An HTTP/1.1 connection has the same time for its first request.
const longestSilence = 1_000;

export interface SessionOptions {
  readonly clock: Clock;
  /** random returns a number from 0 up to, but not including, 1. */
  readonly random: () => number;
  /** goawayChance is the probability that a stream makes the server end its session with a GOAWAY. */
  readonly goawayChance: number;
}

/** Session is the part of a connection's record that only an HTTP/2 connection has. */
export class Session {
  readonly connection: Connection;
  readonly #session: ServerHttp2Session;
  readonly #clock: Clock;
  readonly #options: SessionOptions;
  readonly #goaway: Goaway;
  readonly #unsent: UnsentResponses;
  /** #changedAt is when the client last opened a stream, or when lameduck last saw that a stream had ended. */
  #changedAt: number;
  #hasReleased = false;
  /**
   * #aloneSince is when lameduck first saw that only its own responses, such as responses to probes, still delay the
   * end of the session.
   */
  #aloneSince: number | undefined;

  constructor(connection: Connection, session: ServerHttp2Session, options: SessionOptions) {
    const { clock } = options;
    this.connection = connection;
    this.#session = session;
    this.#clock = clock;
    this.#options = options;
    this.#goaway = new Goaway(session, connection.socket, clock);
    this.#unsent = new UnsentResponses(connection.socket);
    this.#changedAt = clock.now();
  }

  /** `hold` delays the streams that the client opens until the server has sent the GOAWAY. */
  get hold(): Hold {
    return this.#goaway.hold;
  }

  /**
   * isHolding is true if a stream that arrives now must wait until the server has sent the GOAWAY of its session. If
   * the session was accepted after NotAcceptingNewRequest, each of its streams waits for the GOAWAY and is then
   * refused.
   */
  get isHolding(): boolean {
    return this.connection.isLate || this.hold.isOn;
  }

  /**
   * ownHold is the OwnHold for the streams of this session. It delays each stream as `hold` does. If the streams of
   * this session will be refused, ownHold delays none, because the drain waits for delayed streams.
   */
  get ownHold(): OwnHold {
    return this.connection.isLate ? atOnce : this.hold;
  }

  /** `unsent` lists the exchanges whose response the program has ended, but Node has not sent completely. */
  get unsent(): readonly Exchange[] {
    return this.#unsent.remaining();
  }

  // If a connection has an HTTP/2 session, all its exchanges are HTTP/2 exchanges.
  get #exchanges(): readonly Http2Exchange[] {
    return this.connection.exchanges as readonly Http2Exchange[];
  }

  /**
   * noteOpened records that the client has opened a stream. At the first stream after the random time `closeAt`, it
   * begins the GOAWAY (P-042, P-043). The server sends the GOAWAY before the response, so that the client receives the
   * GOAWAY before it sends its next request.
   */
  noteOpened(now: number): void {
    this.#changedAt = now;
    this.#goaway.noteChange();
    if (now >= this.connection.closeAt) this.#beginGoaway();
  }

  /**
   * endByChance ends the session with the probability `goawayChance`, so that its client opens a new connection. It is
   * called for each stream that the client opens.
   */
  endByChance(): void {
    if (this.#options.random() < this.#options.goawayChance) this.connection.end();
  }

  noteReleased(exchange: HttpExchange): void {
    this.#hasReleased = true;
    this.#goaway.noteChange();
    const { state, response } = exchange as Http2Exchange;
    if (state.is !== 'ours' && response.isClosedAhead) this.#unsent.note(exchange);
  }

  /**
   * noteCompatible records the request and response objects that node:http2's compatibility API has created for a
   * stream.
   */
  noteCompatible(request: object, response: object): void {
    (this.connection.exchangeFor(request) as Http2Exchange | undefined)?.noteCompatible(request, response);
  }

  /**
   * `look()` begins the GOAWAY when the close time of the session has come. If the GOAWAY could refuse a stream, `look()`
   * first waits until the client has opened no stream for some time. During the drain, `look()` also ends a request body
   * that the client still sends long after the complete response.
   */
  look(now: number, isDraining: boolean): void {
    const { closeAt, closeBy } = this.connection;
    if (this.#hasReleased) this.#changedAt = now;
    this.#hasReleased = false;
    const isQuiet = now - this.#changedAt >= quiet || now >= closeBy;
    if (now >= closeAt && (isQuiet || this.#goaway.canAnnounce)) this.#beginGoaway();
    this.#endOwn(now);
    if (isDraining) for (const exchange of this.#exchanges) exchange.endUpload(now, longestBodyAfterResponse);
  }

  #beginGoaway(): void {
    const { connection } = this;
    if (connection.isClosing) return;
    // If the session has already ended, for example because the client has ended it, no GOAWAY is needed.
    if (this.#session.closed || this.#session.destroyed) connection.end();
    // `endBefore` ends a session that was accepted after NotAcceptingNewRequest, as soon as that session opens a
    // stream. Here, end such a session only if it has been silent.
    else if (connection.isLate) this.#endIfSilent();
    // Send the GOAWAY when the client waits for responses and opens no stream. The GOAWAY then refuses no stream that
    // the client has sent. The client's own library may still fail streams that the client has not sent.
    else {
      void this.#goaway.send(() => {
        connection.end();
      });
    }
  }

  #endIfSilent(): void {
    if (this.#clock.now() - this.#changedAt >= longestSilence) this.connection.end();
  }

  /**
   * endBefore ends a session that was accepted after NotAcceptingNewRequest. It sends the GOAWAY after one round trip
   * and a short pause. Only then does it call `answer`, which answers a stream. A client often opens several streams at
   * once. A GOAWAY right after the first stream would refuse the others, and curl gives up a request that five sessions
   * refuse.
   */
  endBefore(answer: () => void): void {
    void this.#goaway.sendSoon(() => {
      this.connection.end();
    }, longestSilence);
    this.hold.pass(answer);
  }

  /** `close()` sends the last GOAWAY. Node ends the session when its last stream has ended. */
  close(): void {
    this.#session.close();
  }

  /** `destroy()` ends the session immediately, with a reset for each remaining stream. */
  destroy(): void {
    for (const { response } of this.#exchanges) response.destroy();
    // Before destroying the session, send the resets of the streams: Node sends no reset after the GOAWAY of a
    // destroyed session.
    if (this.connection.isBusy) startImmediate(() => this.#destroy());
    else this.#destroy();
  }

  // Destroys the session and its socket. If only the session were destroyed, Node would wait until the peer closes its
  // side.
  #destroy(): void {
    this.#session.destroy();
    this.connection.socket.destroy();
  }

  // Destroys lameduck's own responses if the client does not read them, so that they do not delay the end of the
  // session (P-078).
  #endOwn(now: number): void {
    const { isClosing, isBusy, unansweredCount } = this.connection;
    if (!isClosing || !isBusy || unansweredCount > 0) this.#aloneSince = undefined;
    else if (now - (this.#aloneSince ??= now) >= longestOwn) for (const own of this.#exchanges) own.response.destroy();
  }
}
