// All connections of all servers of one lifecycle, from their accept until they have closed.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { Socket, type Server as NetServer } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '../clock.ts';
import type { TrafficCounts, UnfinishedRequest } from '../observer.ts';
import { Connection, connectionOf } from './connection.ts';
import { handshake, http, type Spoken } from './connection-state.ts';
import { socketUnder, streamsOf, tcpSocketOf } from '../node-internals.ts';
import { Admission, type AdmissionOptions, type Records } from './admission/admission.ts';
import { isLimited } from './admission/overload-limits.ts';
import type { Hold } from './in-flight/hold.ts';
import { FrontSockets } from './http1/front-sockets.ts';
import { OwnConnections } from './self-requests/own-connections.ts';
import type { HttpExchange } from './exchange.ts';
import { Requests, type Ended, type RequestsOptions } from './in-flight/requests.ts';
import type { Proceed, ServerEvents } from './server-events.ts';
import type { Server } from './server.ts';
import { Http2Exchange } from './http2/exchange.ts';
import { Session, sessionOf, type SessionOptions } from './http2/session.ts';
import { describeUnfinished } from './in-flight/unfinished.ts';
import { takeUpgrade } from './upgraded/upgrade.ts';
import { visitEach } from './visit-each.ts';

// The smallest number of records at which Traffic looks for connections that have closed without the event `close`. It
// deletes the records of these connections.
const fewestToLookAt = 100;

/**
 * CloseWindow is a period during the shutdown. For each connection, lameduck chooses a random time in this period.
 * Responses after that time tell the client to close the connection.
 */
export interface CloseWindow {
  readonly since: number;
  /**
   * `window` is the length, in milliseconds, of the period that begins at `since`. lameduck begins to close each
   * connection at a random time in this period. If `window` is 0, this time is `since` for every connection.
   */
  readonly window: number;
}

export interface TrafficOptions
  extends
    Omit<RequestsOptions, 'isLimited'>,
    Pick<AdmissionOptions, 'answer' | 'limits' | 'refusesUpgrades'>,
    Pick<SessionOptions, 'goawayChance'> {
  /**
   * signOfLife is called for each event of a server, because the event shows that the event loop is running. If no
   * thread watches the event loop, signOfLife is undefined.
   */
  readonly signOfLife?: ServerEvents['signOfLife'];
  /**
   * refusesLate is called when a connection is accepted. It returns true if the connection was accepted so late in the
   * shutdown that lameduck must refuse every request on it.
   */
  readonly refusesLate: () => boolean;
  readonly onListening: (server: Server) => void;
  /** onClose is called when a server emits `close`. It returns true if the program must not receive the event yet. */
  readonly onClose: (server: NetServer) => boolean;
  /** onFront is called for each server of the program that passes its accepted sockets to one of the HTTP servers. */
  readonly onFront: (front: NetServer) => void;
}

/**
 * Traffic contains lameduck's records of all connections of a lifecycle. The class Admission decides for each request
 * when the program receives it, if at all. The drain ends the connections.
 */
export class Traffic implements ServerEvents, Records, Ended {
  readonly connections = new Set<Connection>();
  readonly own = new OwnConnections();
  readonly fronts = new Set<NetServer>();
  readonly requests: Requests;
  /** onIdle is called during a shutdown each time a request or a connection has ended. */
  onIdle: () => void = () => undefined;
  connectionsAccepted = 0;
  /**
   * acceptedByFronts is the number of connections that the servers in `fronts` have accepted. It includes connections
   * that these servers have not passed to an HTTP server yet, for example during a TLS handshake.
   */
  acceptedByFronts = 0;
  /** frontSockets are the sockets that the servers in `fronts` have accepted but not yet passed to an HTTP server. */
  readonly frontSockets = new FrontSockets();
  readonly onListening: TrafficOptions['onListening'];
  readonly onClose: TrafficOptions['onClose'];
  readonly onThrow: ServerEvents['onThrow'];
  readonly onFailure: TrafficOptions['onFailure'];
  readonly signOfLife: ServerEvents['signOfLife'];
  readonly #options: TrafficOptions;
  readonly #clock: Clock;
  readonly #admission: Admission;
  /**
   * #closeWindow is the period in which each connection gets its random close time. It is undefined before the shutdown
   * begins.
   */
  #closeWindow: CloseWindow | undefined;
  /**
   * #lookAt is the number of records of connections at which Traffic next looks for connections that have closed
   * without the event `close`.
   */
  #lookAt = fewestToLookAt;

  constructor(options: TrafficOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.signOfLife = options.signOfLife;
    this.onListening = (server) => {
      this.own.noteContext(server);
      options.onListening(server);
    };
    this.onClose = options.onClose;
    this.onFailure = options.onFailure;
    this.requests = new Requests({ ...options, isLimited: isLimited(options.limits) }, this);
    this.onThrow = options.audit && this.requests.noteThrow.bind(this.requests);
    this.#admission = new Admission(options, this.requests, this);
  }

  /**
   * While the listening socket closes, `hold` delays new requests. The clients of these requests wait for the
   * responses, and open no new connection.
   */
  get hold(): Hold {
    return this.#admission.hold;
  }

  get counts(): TrafficCounts {
    this.requests.enrolNoted(this.connections);
    this.forgetEnded();
    const { serving, longRunning } = this.requests.inFlight;
    return { connections: this.connections.size, requestsInFlight: serving, longRunningRequests: longRunning };
  }

  /**
   * beginShutdown begins the shutdown for all open connections and for all later connections. Each connection gets a
   * random time, after which its responses tell the client to close the connection. The promise resolves when the event
   * streams among the requests in flight have been recognized.
   */
  beginShutdown(closeWindow: CloseWindow): Promise<void> {
    this.#closeWindow = closeWindow;
    const begin = (connection: Connection): void => {
      this.#draw(connection, closeWindow);
      connection.beginSilence(closeWindow.since);
    };
    visitEach(this.connections, begin, this.onFailure);
    this.frontSockets.beginSilence(closeWindow.since);
    this.requests.beginShutdown(this.connections);
    return this.recognize();
  }

  /** recognize finds the requests in flight whose response is an event stream, and makes them count as long-running. */
  recognize(): Promise<void> {
    return this.requests.recognize(this.connections);
  }

  onConnection(socket: Socket): void {
    // The program may pass a socket from one of the lifecycle's servers to another one, for example in a listener of
    // `unknownProtocol`. The connection must not be counted twice.
    const older = connectionOf(socket);
    if (older !== undefined && this.connections.has(older)) return;
    this.connectionsAccepted++;
    this.#track(socket, http);
  }

  onOlderConnection(socket: Socket): void {
    this.connectionsAccepted++;
    this.requests.enrolOlder(this.#track(socket, http));
  }

  onHandshake(socket: Socket): void {
    this.connectionsAccepted++;
    this.#track(socket, handshake);
  }

  // After the TLS handshake, moves lameduck's record of the connection from the TCP socket to the TLS socket.
  onSecureConnection(socket: Socket): void {
    const connection = connectionOf(tcpSocketOf(socket));
    if (connection === undefined) {
      this.#track(socket, http);
      return;
    }
    connection.secure(socket, this.#clock.now(), this.#isLate(socket));
    this.#watch(connection);
  }

  onFront(front: NetServer): void {
    // `fronts` contains the listening servers that pass their sockets to the program's HTTP servers. Remove those that
    // the program has closed, so that `fronts` does not keep them in memory.
    for (const one of this.fronts) if (!one.listening) this.fronts.delete(one);
    this.fronts.add(front);
    this.#options.onFront(front);
  }

  onFrontEvent(front: NetServer, event: string | symbol, socket: unknown): boolean {
    if (event === 'connection') {
      this.acceptedByFronts++;
      // With `shutdownSendRetryAfter`, new connections arrive during the whole drain. The drain must not wait for them.
      if (socket instanceof Socket && !this.#isLate(socket)) this.frontSockets.add(socket, this.#clock.now());
    }
    return event === 'close' && this.onClose(front);
  }

  onRequest(request: IncomingMessage, response: ServerResponse, event: string, proceed: Proceed): boolean {
    return this.#admission.onRequest(request, response, event, proceed);
  }

  onStream(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    flags: number,
    rawHeaders: readonly string[],
    proceed: Proceed,
  ): boolean {
    return this.#admission.onStream(stream, headers, flags, rawHeaders, proceed);
  }

  onUpgrade(request: IncomingMessage, socket: Duplex, goOn: () => void): boolean {
    const connection = connectionOf(request.socket) ?? this.adopt(request.socket);
    // If lameduck has already seen this upgrade, ignore it. The same upgrade can arrive twice under Fastify. To listen
    // on a second address, Fastify creates a second server, whose events it also emits on the first server.
    if (connection === undefined || connection.upgraded !== undefined) return false;
    if (this.#admission.onUpgrade(connection)) return true;
    takeUpgrade(connection, request, socket, {
      now: this.#clock.now(),
      count: this.requests.longRunning.add.bind(this.requests.longRunning),
      audit: this.#options.audit,
    });
    // lameduck may still delay a request that arrived before the upgrade in the same packet. The program must get that
    // request first, so that it also answers it first.
    const before = connection.exchanges.at(-1);
    if (before?.isHeld !== true) return false;
    before.ownHold.pass(goOn);
    return true;
  }

  // Creates the record of an HTTP/2 session. If the session began before lameduck replaced `emit` of the server, its
  // open streams have not been counted. In this case, onSession counts all of them except `arriving`, which Admission
  // counts (P-053).
  onSession(session: ServerHttp2Session, arriving?: ServerHttp2Stream): Session {
    const socket = socketUnder(session);
    const connection = connectionOf(socket) ?? this.#track(socket, http);
    if (connection.session !== undefined) return connection.session;
    const begun = new Session(connection, session, this.#options);
    connection.enter({ is: 'session', session: begun });
    for (const stream of streamsOf(session).values()) {
      if (stream === arriving) continue;
      this.requests.enrolStream(Http2Exchange.received(connection, stream, this.#clock.now()), false);
    }
    return begun;
  }

  onCompatible(request: Partial<Http2ServerRequest>, response: object): void {
    // If the program itself has called `server.emit('request', …)`, the request may have no stream.
    sessionOf(request.stream?.session)?.noteCompatible(request, response);
  }

  /** forget removes lameduck's record of a connection, and stops counting the requests on this connection. */
  forget(connection: Connection): void {
    connection.enter({ is: 'closed' });
    this.requests.releaseAll(connection);
    this.connections.delete(connection);
    if (this.#closeWindow !== undefined) this.onIdle();
  }

  /**
   * forgetIfEnded removes the record of a connection that has closed. On an open connection, it stops counting each
   * request whose response has ended. Usually, lameduck learns of these ends from the event `close`. But a program can
   * remove the listeners of this event, and a socket that is sent to another process emits no event.
   */
  forgetIfEnded(connection: Connection): void {
    if (connection.isGone) this.forget(connection);
    else if (connection.isBusy) {
      for (const exchange of connection.exchanges.filter(({ hasEnded }) => hasEnded)) this.onEnd(exchange);
    }
  }

  forgetEnded(): void {
    visitEach(this.connections, this.forgetIfEnded.bind(this), this.onFailure);
  }

  /** unfinished returns the requests whose response is not complete. The oldest is the first. */
  unfinished(): UnfinishedRequest[] {
    this.requests.enrolNoted(this.connections);
    return describeUnfinished(this.connections, this.#clock.now(), this.#options.functions.route);
  }

  /**
   * adopt creates the record of the connection to which a socket belongs. If a test has injected its request in the
   * process, the socket is not a real socket. adopt then returns undefined, and the drain does not wait for the
   * request.
   */
  adopt(socket: unknown): Connection | undefined {
    return socket instanceof Socket ? this.#track(socket, http) : undefined;
  }

  #track(socket: Socket, spoken: Spoken): Connection {
    // Look for connections that have closed without the event `close`, because a program may remove the `close`
    // listeners of its sockets. Without this check, the record of each such connection would stay in memory.
    if (this.connections.size >= this.#lookAt) {
      this.forgetEnded();
      this.#lookAt = Math.max(fewestToLookAt, 2 * this.connections.size);
    }
    this.frontSockets.passedOn(tcpSocketOf(socket));
    const connection = new Connection(socket, spoken, this.#clock.now(), this.#isLate(socket));
    this.connections.add(connection);
    if (this.#closeWindow !== undefined) this.#draw(connection, this.#closeWindow);
    this.#watch(connection);
    return connection;
  }

  // Chooses the random close time of a connection, once. Because the times differ, the clients do not all disconnect
  // together.
  #draw(connection: Connection, { since, window }: CloseWindow): void {
    connection.setCloseTimes(since + this.#options.random() * window, since + window);
  }

  #isLate(socket: Socket): boolean {
    return this.#options.refusesLate() && !this.own.has(socket);
  }

  // Removes the record of a connection when its socket closes. If the connection uses TLS, the underlying TCP socket
  // may close first, but the requests belong to the TLS socket.
  #watch(connection: Connection): void {
    const { socket } = connection;
    socket.on('close', () => {
      if (connection.socket === socket) this.forget(connection);
    });
  }

  /** onEnd stops counting a request whose response has ended. */
  onEnd(exchange: HttpExchange): void {
    if (!this.requests.release(exchange) || this.#closeWindow === undefined) return;
    exchange.connection.beginSilence(this.#clock.now());
    this.onIdle();
  }
}
