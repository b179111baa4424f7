// All connections of all servers of one lifecycle. This file admits, holds, answers or rejects each request that passes the seam.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '../clock.ts';
import { socketOf, type Answer, type Response } from '../message.ts';
import type { TrafficCounts, UnfinishedRequest } from '../observer.ts';
import { Connection, connectionOf, type Leaving } from './connection.ts';
import { socketUnder, tcpSocketOf } from './node-internals.ts';
import { Hold } from './admission/hold.ts';
import { OwnConnections } from './self-requests/own-connections.ts';
import { answerProbe } from './admission/probe.ts';
import { answerRetryAfter, refuseUpgrade } from './responses/rejection.ts';
import { Requests, type RequestsOptions } from './in-flight/requests.ts';
import type { Proceed, SeamEvents } from './seam.ts';
import type { Server } from './server.ts';
import { Session } from './http2/session.ts';
import { ignoreResets } from './responses/socket-errors.ts';
import { StreamResponse } from './http2/stream-response.ts';
import { describeUnfinished } from './in-flight/unfinished.ts';
import { Upgraded } from './upgraded/socket.ts';

// The fewest connections at which one more makes Traffic look for those that have ended.
const fewestToLookAt = 100;

/** TrafficOptions is what Traffic reads and calls. */
export interface TrafficOptions extends RequestsOptions {
  /** Answers a request for an endpoint of lameduck. The drain neither waits for it nor rejects it (P-078). */
  readonly answer: (url: string, method: string) => Answer | Promise<Answer> | undefined;
  readonly onListening: (server: Server) => void;
  /** Returns true to keep the event `close` of a server from the program for now. */
  readonly onClose: (server: Server) => boolean;
}

/** Traffic admits requests. The drain ends the connections. */
export class Traffic implements SeamEvents {
  readonly connections = new Set<Connection>();
  readonly own = new OwnConnections();
  readonly requests: Requests;
  /** Holds requests, but no probes, while the listener closes: a client that waits for its answer opens no connection. */
  readonly hold = new Hold();
  /** Called during a shutdown when a request or a connection has ended. */
  onIdle: () => void = () => undefined;
  connectionsAccepted = 0;
  readonly onListening: TrafficOptions['onListening'];
  readonly onClose: TrafficOptions['onClose'];
  readonly #options: TrafficOptions;
  readonly #clock: Clock;
  readonly #answer: TrafficOptions['answer'];
  #leaving: Leaving | undefined;
  #refusesLate = false;
  #refusesUpgrades = false;
  /** How many connections there are when the next look at them is due. */
  #lookAt = fewestToLookAt;

  constructor(options: TrafficOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.onListening = options.onListening;
    this.onClose = options.onClose;
    this.#answer = options.answer;
    const release = this.#release.bind(this);
    // One function for every response, so that a request costs no closure.
    const onClose = function (this: Response): void {
      release(this);
    };
    this.requests = new Requests(options, (response) => response.on('close', onClose), this);
  }

  get counts(): TrafficCounts {
    this.requests.list(this.connections);
    this.forgetEnded();
    const { inFlight, longRunning } = this.requests;
    return { connections: this.connections.size, requestsInFlight: inFlight, longRunningRequests: longRunning.count };
  }

  /**
   * leave begins the shutdown for every connection, present and future: each draws its moment once. Resolves when the
   * event streams among the requests in flight have been recognized.
   */
  leave(leaving: Leaving): Promise<void> {
    this.#leaving = leaving;
    for (const connection of this.connections) {
      connection.draw(leaving);
      connection.beginLeaving(leaving.since);
    }
    this.requests.leave(this.connections);
    return this.recognize();
  }

  /** recognize lets event streams among the requests in flight be counted as what they are. */
  recognize(): Promise<void> {
    return this.requests.recognize(this.connections);
  }

  /**
   * stopAccepting begins the time in which only requests on connections that are there already are served: an upgrade is
   * refused (P-041), and with retry-after every request on a connection that is accepted from now on.
   */
  stopAccepting(sendRetryAfter: boolean): void {
    this.#refusesUpgrades = true;
    this.#refusesLate = sendRetryAfter;
  }

  onConnection(socket: Socket): void {
    this.connectionsAccepted++;
    this.#track(socket);
  }

  onHandshake(socket: Socket): void {
    this.connectionsAccepted++;
    this.#track(socket).isHandshake = true;
  }

  onSecureConnection(socket: Socket): void {
    // From now on the record belongs to the TLS socket, not to the TCP socket under it (P-049).
    const raw = connectionOf(tcpSocketOf(socket));
    if (raw !== undefined) this.connections.delete(raw);
    this.#track(socket);
  }

  onRequest(request: IncomingMessage, response: ServerResponse, event: string, proceed: Proceed): boolean {
    const connection = connectionOf(request.socket) ?? this.#adopt(request.socket);
    // A program may emit a request again, as another event, and perhaps after the client has left.
    if (connection?.responses.includes(response) === true) return false;
    if (connection?.isOver === true) {
      request.resume();
      return true;
    }
    const answer = this.#answer(request.url ?? '', request.method ?? '');
    if (connection === undefined || connection.socket.destroyed) {
      if (answer !== undefined) answerProbe(request, response, answer);
      return answer !== undefined;
    }
    this.requests.admit(connection, response, answer !== undefined);
    if (answer !== undefined) answerProbe(request, response, answer);
    else if (this.hold.isOn || connection.isLate) {
      this.#detain(connection, response, () => proceed(event, request, response));
    } else return this.requests.isRejected(connection, response);
    return true;
  }

  onUpgrade(request: IncomingMessage, socket: Duplex): boolean {
    const connection = connectionOf(request.socket);
    // Fastify listens on a second address with a second server, and emits its events on the first server, too.
    if (connection === undefined || connection.isUpgraded) return false;
    connection.isUpgraded = true;
    if (connection.isOver || this.#refusesUpgrades) {
      this.#refuseUpgrade(connection);
      return true;
    }
    this.connections.delete(connection);
    this.requests.upgrade(this.#add(new Upgraded(connection, request, socket, this.#clock.now())), request);
    return false;
  }

  // The record of the connection is replaced by that of its session. A session that is older than the seam has no record yet.
  onSession(session: ServerHttp2Session): Session {
    const socket = socketUnder(session);
    const before = connectionOf(socket);
    if (before !== undefined) this.connections.delete(before);
    return this.#add(new Session(session, socket, this.#clock), before);
  }

  onStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, proceed: () => void): boolean {
    const session = stream.session as ServerHttp2Session | undefined;
    // The client has cancelled the stream already. It cannot be answered, and many handlers would throw.
    if (session === undefined) {
      // The stream may still emit an error, which has no other listener.
      stream.on('error', () => undefined);
      return true;
    }
    const known = connectionOf(session.socket);
    const connection = known instanceof Session ? known : this.onSession(session);
    const response = new StreamResponse(stream, headers, connection.socket);
    const answer = this.#answer(response.req.url, response.req.method);
    this.requests.admit(connection, response, answer !== undefined);
    const isHeld = this.hold.isOn || connection.hold.isOn || connection.isLate;
    if (answer !== undefined || isHeld) response.ignoreErrors();
    if (response.req.method === 'CONNECT') this.requests.markLongRunning(stream);
    if (Math.random() < this.#options.limits.goawayChance) connection.end();
    if (answer !== undefined) answerProbe(response.req, response, answer);
    else if (isHeld) {
      response.deferEvents();
      connection.hold.pass(() => {
        this.#detain(connection, response, proceed);
      });
    } else return this.requests.isRejected(connection, response);
    return true;
  }

  onCompatible(request: object, response: object): void {
    const stream = connectionOf(socketOf(request))?.responseTo(request);
    if (!(stream instanceof StreamResponse)) return;
    stream.compatible = response;
    stream.req.given = request;
  }

  /** forget drops a connection with everything on it. */
  forget(connection: Connection): void {
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
      const ended = connection.responses.filter((response) => connection.hasEnded(response));
      for (const response of ended) this.#release(response);
    }
  }

  /** forgetEnded does so for every connection. */
  forgetEnded(): void {
    for (const connection of this.connections) this.forgetIfEnded(connection);
  }

  /** unfinished lists the requests that have no complete answer, oldest first. */
  unfinished(): UnfinishedRequest[] {
    return describeUnfinished(this.connections, this.#clock.now(), this.#options.functions.route, this.requests);
  }

  // A connection that is older than the seam may be found only by its first request (P-053). A request that was injected in the
  // process has no real socket, and is not drained (P-031).
  #adopt(socket: unknown): Connection | undefined {
    return socket instanceof Socket ? this.#track(socket) : undefined;
  }

  #track(socket: Socket): Connection {
    return this.#add(new Connection(socket, this.#clock.now()));
  }

  #add<Added extends Connection>(connection: Added, before?: Connection): Added {
    // A program that removes `close` listeners from all its sockets would otherwise leak a record for each.
    if (this.connections.size >= this.#lookAt) {
      this.forgetEnded();
      this.#lookAt = Math.max(fewestToLookAt, 2 * this.connections.size);
    }
    this.connections.add(connection);
    if (this.#leaving !== undefined) connection.draw(this.#leaving);
    connection.isLate = before?.isLate ?? (this.#refusesLate && !this.own.has(connection.socket));
    connection.socket.on('close', () => {
      this.forget(connection);
    });
    return connection;
  }

  // Rejects requests on connections accepted after NotAcceptingNewRequest. Holds all others until the listener has closed.
  #detain(connection: Connection, response: Response, proceed: () => void): void {
    this.hold.pass(() => {
      if (response instanceof StreamResponse) response.allowEvents();
      // If the client has left in the meantime, its request is not executed.
      if (connection.socket.destroyed || (response instanceof StreamResponse && response.stream.closed)) return;
      if (connection.isLate) this.#refuse(connection, response);
      else if (!this.requests.isRejected(connection, response)) proceed();
    });
  }

  // Refuses after earlier pipelined responses have been sent. If one of those says `Connection: close`, no answer is sent.
  #refuseUpgrade(connection: Connection): void {
    const { socket, responses, isLate } = connection;
    ignoreResets(socket);
    socket.resume();
    const refuse = (): void => {
      if (connection.isOver) return;
      this.requests.refused++;
      refuseUpgrade(socket, isLate);
      connection.end();
    };
    const before = responses[responses.length - 1];
    if (before === undefined) refuse();
    else before.once('close', refuse);
  }

  #refuse(connection: Connection, response: Response): void {
    this.requests.refuse(connection, response);
    answerRetryAfter(response.req, response);
    if (connection instanceof Session) connection.end();
  }

  #release(response: Response): void {
    const connection = connectionOf(response.req.socket);
    if (connection === undefined || !this.requests.release(connection, response)) return;
    if (this.#leaving === undefined) return;
    connection.quietSince = this.#clock.now();
    this.onIdle();
  }
}
