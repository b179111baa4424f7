// One HTTP/2 session, in which each stream is a request. The server ends the session with a GOAWAY.
import type { IncomingHttpHeaders } from 'node:http';
import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { type Clock, startImmediate } from '../../clock.ts';
import type { Connection } from '../connection.ts';
import { longestBodyAfterResponse, atOnce, type Exchange, type HttpExchange, type OwnHold } from '../exchange.ts';
import type { Hold } from '../in-flight/hold.ts';
import { streamsOf } from '../../node-internals.ts';
import { Http2Exchange } from './exchange.ts';
import { Goaway, quiet } from './goaway.ts';
import { methodOf, urlOf } from './stream-response.ts';
import { UnsentResponses } from './unsent-responses.ts';

// How long the client of an ending session may take, in milliseconds, to read the responses of lameduck itself. The
// time begins when no request of the program is left on the session.
const longestOwn = 1_000;

// How long a client may take, in milliseconds, to open the first stream of a session that was accepted after
// NotAcceptingNewRequest. The first request of an HTTP/1.1 connection has the same time limit.
const longestSilence = 1_000;

const record = Symbol('lameduck.session');

interface Tracked {
  [record]?: Session;
}

/**
 * sessionOf returns lameduck's record of an HTTP/2 session, or undefined if there is none. It does not look for the
 * socket of the session, because Node returns this socket as a Proxy, which takes longer.
 */
export function sessionOf(session: object | undefined): Session | undefined {
  return (session as Tracked | undefined)?.[record];
}

const arrival = Symbol('lameduck.arrival');

interface Arrival {
  readonly headers: IncomingHttpHeaders;
  readonly at: number;
}

/** Noted is a stream of which `note` has recorded the headers and the arrival time. */
interface Noted extends ServerHttp2Stream {
  [arrival]?: Arrival | undefined;
}

export interface SessionOptions {
  readonly clock: Clock;
  /** random returns a number from 0 up to, but not including, 1. */
  readonly random: () => number;
  /**
   * goawayChance is the probability, for each stream that a client opens, that the server ends the session with a
   * GOAWAY.
   */
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
  /** `#streams` is Node's own map of the session's open streams. */
  readonly #streams: ReadonlyMap<number, ServerHttp2Stream>;
  /** `#newest` describes the newest stream that `note` has recorded. It does not keep the stream in memory. */
  readonly #newest = { method: '', url: '', at: 0 };
  /** `#hasNewest` is true if `note` has recorded a stream since the last call of `takeNoted`. */
  #hasNewest = false;
  /**
   * #changedAt is the time of the last change of the session's streams: the client opened a stream, or lameduck saw
   * that a stream had ended.
   */
  #changedAt: number;
  #hasReleased = false;
  /**
   * #aloneSince is the time at which lameduck first saw that the program had no stream left in the ending session. If
   * the session still has open streams, lameduck itself answers all of them, for example probes.
   */
  #aloneSince: number | undefined;

  constructor(connection: Connection, session: ServerHttp2Session & Tracked, options: SessionOptions) {
    const { clock } = options;
    session[record] = this;
    this.connection = connection;
    this.#session = session;
    this.#clock = clock;
    this.#options = options;
    this.#goaway = new Goaway(session, connection.socket, clock);
    this.#unsent = new UnsentResponses(connection.socket);
    this.#streams = streamsOf(session);
    this.#changedAt = clock.now();
  }

  /**
   * `hold` delays each stream that the client opens shortly before the server sends the GOAWAY of this session. When
   * the GOAWAY has been sent, these streams continue.
   */
  get hold(): Hold {
    return this.#goaway.hold;
  }

  /**
   * isHolding is true if lameduck delays a stream that opens now until the server has sent the GOAWAY of this session.
   * In a session that was accepted after NotAcceptingNewRequest, lameduck delays every stream, and refuses it after the
   * GOAWAY.
   */
  get isHolding(): boolean {
    return this.connection.isLate || this.hold.isOn;
  }

  /**
   * ownHold delays each stream of this session until the server has sent the GOAWAY. It delays no stream of a session
   * that was accepted after NotAcceptingNewRequest. lameduck refuses the streams of such a session anyway, and the
   * drain would have to wait for delayed streams.
   */
  get ownHold(): OwnHold {
    return this.connection.isLate ? atOnce : this.hold;
  }

  /** `unsent` lists the exchanges whose response the program has ended, but Node has not sent completely. */
  get unsent(): readonly Exchange[] {
    return this.#unsent.remaining();
  }

  // All requests on a connection with an HTTP/2 session are HTTP/2 requests.
  get #exchanges(): readonly Http2Exchange[] {
    return this.connection.exchanges as readonly Http2Exchange[];
  }

  /**
   * `note()` records only the headers and the arrival time of a stream, and does not count its request. `takeNoted`
   * finds the stream later in Node's map of open streams. If the stream is not in this map, `note()` returns false, and
   * the caller must count the request at once. Counting each request at its arrival would need several objects and a
   * listener for the end of the stream.
   */
  note(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, now: number): boolean {
    if (stream.id === undefined || this.#streams.get(stream.id) !== stream) return false;
    (stream as Noted)[arrival] = { headers, at: now };
    const newest = this.#newest;
    newest.method = methodOf(headers);
    newest.url = urlOf(headers);
    newest.at = now;
    this.#hasNewest = true;
    return true;
  }

  /**
   * takeNoted calls `enrol` for the request of each open stream that `note` has recorded, once. `note` does not record
   * the end of a stream. So for the pause before the GOAWAY, a stream counts as just ended. If no stream is open,
   * unsent bytes of the socket count as the response of the newest stream.
   */
  takeNoted(now: number, enrol: (exchange: Http2Exchange) => void): void {
    for (const stream of this.#streams.values() as Iterable<Noted>) {
      const { [arrival]: noted } = stream;
      if (noted === undefined) continue;
      stream[arrival] = undefined;
      enrol(Http2Exchange.received(this.connection, stream, noted.at, noted.headers));
    }
    const { at, ...request } = this.#newest;
    if (this.#hasNewest && this.#streams.size === 0) this.#unsent.noteEnded(request, at);
    this.#hasNewest = false;
    this.#changedAt = now;
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
    const { connection } = this;
    if (connection.isBusy)
      (connection.exchangeFor(request) as Http2Exchange | undefined)?.noteCompatible(request, response);
  }

  /**
   * `look()` begins the GOAWAY when the close time of the session has come. If the GOAWAY could refuse a stream,
   * `look()` first waits until the client has opened no stream for some time. During the drain, `look()` also ends a
   * request body that the client still sends long after the complete response.
   */
  look(now: number, isDraining: boolean): void {
    const { closeAt, closeBy } = this.connection;
    if (this.#hasReleased) this.#changedAt = now;
    this.#hasReleased = false;
    const isQuiet = now - this.#changedAt >= quiet || now >= closeBy;
    if (now >= closeAt && (isQuiet || this.#goaway.canAnnounce)) this.#beginGoaway();
    this.#endOwn(now);
    if (!isDraining) return;
    for (const exchange of this.#exchanges) exchange.endUpload(now, longestBodyAfterResponse);
    if (this.#isUnused(now)) this.connection.end();
  }

  #beginGoaway(): void {
    const { connection } = this;
    if (connection.isClosing) return;
    // If the HTTP/2 session has already closed, for example because the client has closed it, no GOAWAY is needed.
    if (this.#session.closed || this.#session.destroyed) connection.end();
    // A session that was accepted after NotAcceptingNewRequest usually ends in `endBefore`, when the client opens its
    // first stream. If the client opens no stream for a second, `#endIfSilent` ends the session.
    else if (connection.isLate) this.#endIfSilent();
    // `send()` delays the GOAWAY until the client opens no more streams and only waits for responses. The GOAWAY then
    // refuses no stream that the client has sent. The client's HTTP/2 library may still let a request fail that it has
    // not sent yet.
    else {
      void this.#goaway.send(() => {
        connection.end();
      });
    }
  }

  // Tells whether the client has not sent a byte on the connection for a second after its accept and after the beginning
  // of the shutdown. Such a client answers no ping, so the GOAWAY would come much later (P-011).
  #isUnused(now: number): boolean {
    const { isClosing, quietSince, socket } = this.connection;
    return !isClosing && socket.bytesRead === 0 && now - quietSince >= longestSilence;
  }

  #endIfSilent(): void {
    if (this.#clock.now() - this.#changedAt >= longestSilence) this.connection.end();
  }

  /**
   * endBefore ends a session that was accepted after NotAcceptingNewRequest. It waits for one round trip and a short
   * pause, sends the GOAWAY, and then calls `answer`, which responds to a stream of this session. A client often opens
   * several streams at once. A GOAWAY right after the first stream would refuse the client's other streams. curl gives
   * up on a request that five sessions have refused.
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
    // Reset each stream before the session is destroyed. Destroying the session sends a GOAWAY, and after this GOAWAY,
    // Node sends no reset of a stream.
    if (this.connection.isBusy) startImmediate(() => this.#destroy());
    else this.#destroy();
  }

  // Destroys the HTTP/2 session and its socket. If only the session were destroyed, Node would wait until the peer
  // closes the TCP connection.
  #destroy(): void {
    this.#session.destroy();
    this.connection.socket.destroy();
  }

  // Destroys lameduck's own responses, such as responses to probes, if the client does not read them. They would
  // otherwise delay the end of the session (P-078).
  #endOwn(now: number): void {
    const { isClosing, isBusy, unansweredCount } = this.connection;
    if (!isClosing || !isBusy || unansweredCount > 0) this.#aloneSince = undefined;
    else if (now - (this.#aloneSince ??= now) >= longestOwn) for (const own of this.#exchanges) own.response.destroy();
  }
}
