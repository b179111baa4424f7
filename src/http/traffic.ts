// All connections of all servers of one lifecycle: their records, from accept to close.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '../clock.ts';
import { socketOf } from '../message.ts';
import type { TrafficCounts, UnfinishedRequest } from '../observer.ts';
import { Connection, connectionOf } from './connection.ts';
import { handshake, http, type Spoken } from './connection-state.ts';
import { socketUnder, tcpSocketOf } from './node-internals.ts';
import { Admission, type AdmissionOptions, type Records } from './admission/admission.ts';
import { isLimited, type Overload } from './admission/overload.ts';
import type { Hold } from './in-flight/hold.ts';
import { OwnConnections } from './self-requests/own-connections.ts';
import type { HttpExchange } from './exchange.ts';
import { Requests, type Ended, type RequestsOptions } from './in-flight/requests.ts';
import type { Proceed, SeamEvents } from './seam.ts';
import type { Server } from './server.ts';
import { Session } from './http2/session.ts';
import { describeUnfinished } from './in-flight/unfinished.ts';
import { takeUpgrade } from './upgraded/upgrade.ts';

// The fewest connections at which one more makes Traffic look for those that have ended.
const fewestToLookAt = 100;

/** Leaving is the time in which connections draw the moment after which they tell their clients to close. */
export interface Leaving {
  readonly since: number;
  /** The length of that time in milliseconds. If it is 0, the moment is `since`. */
  readonly window: number;
}

/** TrafficOptions is what Traffic reads and calls. */
export interface TrafficOptions
  extends Omit<RequestsOptions, 'isLimited'>, Pick<AdmissionOptions, 'answer' | 'limits'> {
  readonly onListening: (server: Server) => void;
  /** Returns true to keep the event `close` of a server from the program for now. */
  readonly onClose: (server: Server) => boolean;
}

/** Traffic has the records of all connections. Admission decides of the requests on them, and the drain ends them. */
export class Traffic implements SeamEvents, Records, Ended {
  readonly connections = new Set<Connection>();
  readonly own = new OwnConnections();
  readonly requests: Requests;
  /** Called during a shutdown when a request or a connection has ended. */
  onIdle: () => void = () => undefined;
  connectionsAccepted = 0;
  readonly onListening: TrafficOptions['onListening'];
  readonly onClose: TrafficOptions['onClose'];
  readonly onThrow: SeamEvents['onThrow'];
  readonly #options: TrafficOptions;
  readonly #clock: Clock;
  readonly #admission: Admission;
  #leaving: Leaving | undefined;
  #refusesLate = false;
  /** How many connections there are when the next look at them is due. */
  #lookAt = fewestToLookAt;

  constructor(options: TrafficOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.onListening = options.onListening;
    this.onClose = options.onClose;
    this.requests = new Requests({ ...options, isLimited: isLimited(options.limits) }, this);
    this.onThrow = options.audit && this.requests.noteThrow.bind(this.requests);
    this.#admission = new Admission(options, this.requests, this);
  }

  /** The limits of requests in flight, with what was rejected. */
  get overload(): Overload | undefined {
    return this.#admission.overload;
  }

  /** Holds requests while the listener closes. */
  get hold(): Hold {
    return this.#admission.hold;
  }

  get counts(): TrafficCounts {
    this.requests.list(this.connections);
    this.forgetEnded();
    const { serving, longRunning } = this.requests.inFlight;
    return { connections: this.connections.size, requestsInFlight: serving, longRunningRequests: longRunning };
  }

  /**
   * leave begins the shutdown for every connection, present and future: each draws its moment once. Resolves when the
   * event streams among the requests in flight have been recognized.
   */
  leave(leaving: Leaving): Promise<void> {
    this.#leaving = leaving;
    for (const connection of this.connections) {
      draw(connection, leaving);
      connection.beginSilence(leaving.since);
    }
    this.requests.leave(this.connections);
    return this.recognize();
  }

  /** recognize lets event streams among the requests in flight be counted as what they are. */
  recognize(): Promise<void> {
    return this.requests.recognize(this.connections);
  }

  /**
   * stopAccepting refuses upgrades from now on (P-041). With retry-after, it also refuses every request on a connection that is
   * accepted from now on. Requests on older connections are served.
   */
  stopAccepting(sendRetryAfter: boolean): void {
    this.#admission.refuseUpgrades();
    this.#refusesLate = sendRetryAfter;
  }

  onConnection(socket: Socket): void {
    this.connectionsAccepted++;
    this.#track(socket, http);
  }

  onHandshake(socket: Socket): void {
    this.connectionsAccepted++;
    this.#track(socket, handshake);
  }

  // From now on the record belongs to the TLS socket, not to the TCP socket under it.
  onSecureConnection(socket: Socket): void {
    const connection = connectionOf(tcpSocketOf(socket));
    if (connection === undefined) {
      this.#track(socket, http);
      return;
    }
    connection.secure(socket, this.#clock.now(), this.#isLate(socket));
    this.#watch(connection);
  }

  onRequest(request: IncomingMessage, response: ServerResponse, event: string, proceed: Proceed): boolean {
    return this.#admission.onRequest(request, response, event, proceed);
  }

  onStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, proceed: () => void): boolean {
    return this.#admission.onStream(stream, headers, proceed);
  }

  onUpgrade(request: IncomingMessage, socket: Duplex): boolean {
    const connection = connectionOf(request.socket) ?? this.adopt(request.socket);
    // Fastify listens on a second address with a second server, and emits its events on the first server, too.
    if (connection === undefined || connection.upgraded !== undefined) return false;
    if (this.#admission.onUpgrade(connection)) return true;
    takeUpgrade(connection, request, socket, {
      now: this.#clock.now(),
      count: this.requests.longRunning.add.bind(this.requests.longRunning),
      audit: this.#options.audit,
    });
    return false;
  }

  // A session that is older than the seam has no record yet.
  onSession(session: ServerHttp2Session): Session {
    const socket = socketUnder(session);
    const connection = connectionOf(socket) ?? this.#track(socket, http);
    const begun = connection.session ?? new Session(connection, session, this.#clock);
    connection.enter({ is: 'session', session: begun });
    return begun;
  }

  onCompatible(request: object, response: object): void {
    connectionOf(socketOf(request))?.session?.noteCompatible(request, response);
  }

  /** forget drops a connection with everything on it. */
  forget(connection: Connection): void {
    connection.enter({ is: 'closed' });
    this.requests.releaseAll(connection);
    this.connections.delete(connection);
    if (this.#leaving !== undefined) this.onIdle();
  }

  /**
   * forgetIfEnded drops a connection that has closed, and responses on it that have ended. Node reports both by `close`,
   * but a program can remove the listeners, and a socket that is sent to another process emits no event.
   */
  forgetIfEnded(connection: Connection): void {
    if (connection.isGone) this.forget(connection);
    else if (connection.isBusy) {
      for (const exchange of connection.exchanges.filter(({ hasEnded }) => hasEnded)) this.onEnd(exchange);
    }
  }

  /** forgetEnded does so for every connection. */
  forgetEnded(): void {
    for (const connection of this.connections) this.forgetIfEnded(connection);
  }

  /** unfinished lists the requests that have no complete answer, oldest first. */
  unfinished(): UnfinishedRequest[] {
    return describeUnfinished(this.connections, this.#clock.now(), this.#options.functions.route);
  }

  /** adopt returns undefined for what is no real socket: a request on it was injected in the process, and is not drained. */
  adopt(socket: unknown): Connection | undefined {
    return socket instanceof Socket ? this.#track(socket, http) : undefined;
  }

  #track(socket: Socket, spoken: Spoken): Connection {
    // A program that removes `close` listeners from all its sockets would otherwise leak a record for each.
    if (this.connections.size >= this.#lookAt) {
      this.forgetEnded();
      this.#lookAt = Math.max(fewestToLookAt, 2 * this.connections.size);
    }
    const connection = new Connection(socket, spoken, this.#clock.now(), this.#isLate(socket));
    this.connections.add(connection);
    if (this.#leaving !== undefined) draw(connection, this.#leaving);
    this.#watch(connection);
    return connection;
  }

  #isLate(socket: Socket): boolean {
    return this.#refusesLate && !this.own.has(socket);
  }

  // A TCP socket may close before the TLS socket on it, which has the requests.
  #watch(connection: Connection): void {
    const { socket } = connection;
    socket.on('close', () => {
      if (connection.socket === socket) this.forget(connection);
    });
  }

  /** onEnd releases a request whose response has ended. */
  onEnd(exchange: HttpExchange): void {
    if (!this.requests.release(exchange) || this.#leaving === undefined) return;
    exchange.connection.beginSilence(this.#clock.now());
    this.onIdle();
  }
}

// Each connection draws its moment once, so that clients do not leave together.
function draw(connection: Connection, { since, window }: Leaving): void {
  connection.leaveFrom(since + Math.random() * window, since + window);
}
