// All connections and requests of all servers of one lifecycle: admission and counting in one step, for every path in.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '../clock.ts';
import type { Health } from '../health/health.ts';
import type { TrafficCounts, UnfinishedRequest } from '../observer.ts';
import { Connection } from './connection.ts';
import { answerProbe } from './probe.ts';
import { answerRetryAfter, refuseUpgrade } from './retry-after.ts';
import type { Proceed, SeamEvents } from './seam.ts';
import type { Server } from './server.ts';

const record = Symbol('lameduck.connection');

interface Tracked {
  [record]?: Connection;
}

/** Leaving is how connections leave, from ShutdownInitiated on. */
export interface Leaving {
  readonly since: number;
  /** The drawn moments lie in this many milliseconds after `since`; 0 is at once. */
  readonly window: number;
}

/** TrafficOptions is what traffic asks and tells. */
export interface TrafficOptions {
  readonly clock: Clock;
  readonly health: Health;
  readonly onListening: (server: Server) => void;
}

/** Traffic admits, counts and rejects. When it ends connections is the drain's business. */
export class Traffic implements SeamEvents {
  readonly connections = new Set<Connection>();
  /** Called, during a shutdown only, whenever the last request or connection may have gone. */
  onIdle: () => void = () => undefined;
  connectionsAccepted = 0;
  requestsInFlight = 0;
  requestsAnswered = 0;
  requestsRefused = 0;
  readonly #clock: Clock;
  readonly #health: Health;
  readonly #onListening: (server: Server) => void;
  readonly #onResponseClose: (this: ServerResponse) => void;
  readonly #now: () => number;
  #leaving: Leaving | undefined;
  #refusesLate = false;
  #held: (() => void)[] | undefined;

  constructor({ clock, health, onListening }: TrafficOptions) {
    this.#clock = clock;
    this.#health = health;
    this.#onListening = onListening;
    this.#now = () => clock.now();
    const release = this.#release.bind(this);
    // One function for every response, so that a request costs no closure.
    this.#onResponseClose = function () {
      release(this);
    };
  }

  get counts(): TrafficCounts {
    return { connections: this.connections.size, requestsInFlight: this.requestsInFlight };
  }

  /** leave begins the shutdown for every connection, present and future: each draws its moment once. */
  leave(leaving: Leaving): void {
    this.#leaving = leaving;
    for (const connection of this.connections) {
      draw(connection, leaving);
      connection.beginLeaving(leaving.since);
      for (const response of connection.responses) {
        if (!response.headersSent) connection.closeAfter(response, this.#now);
      }
    }
  }

  /** refuseLate answers requests on connections accepted from now on with 429; older ones are served. */
  refuseLate(): void {
    this.#refusesLate = true;
  }

  /**
   * hold keeps requests that arrive from now on, but no probe, until `letGo`. While clients wait for an answer they make
   * no new connection, so that the listener can close between two of them.
   */
  hold(): void {
    this.#held ??= [];
  }

  letGo(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    // Each in a turn of its own, so that a handler that throws takes no other request with it.
    for (const goOn of held) process.nextTick(goOn);
  }

  onListening(server: Server): void {
    this.#onListening(server);
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
    // From here on the TLS socket speaks for the TCP connection under it (P-049).
    const raw = (socket as { _parent?: Socket & Tracked })._parent?.[record];
    if (raw !== undefined) this.connections.delete(raw);
    this.#track(socket);
  }

  onRequest(request: IncomingMessage, response: ServerResponse, event: string, proceed: Proceed): boolean {
    const connection = (request.socket as Tracked | undefined)?.[record] ?? this.#adopt(request.socket);
    if (connection?.isOver === true) {
      request.resume();
      return true;
    }
    const answer = this.#health.answer(request.url ?? '');
    if (connection === undefined) {
      if (answer !== undefined) answerProbe(request, response, answer);
      return answer !== undefined;
    }
    connection.admit(response, this.#clock.now(), answer !== undefined);
    if (answer === undefined) this.requestsInFlight++;
    response.on('close', this.#onResponseClose);
    if (this.#leaving !== undefined) connection.closeAfter(response, this.#now);
    if (answer !== undefined) answerProbe(request, response, answer);
    else if (this.#held !== undefined || connection.isLate) this.#detain(connection, response, event, proceed);
    else return false;
    return true;
  }

  onUpgrade(request: IncomingMessage, socket: Duplex): boolean {
    const connection = (request.socket as Tracked)[record];
    if (connection === undefined) return false;
    if (connection.isOver) {
      socket.destroy();
      return true;
    }
    connection.isUpgraded = true;
    if (!connection.isLate) return false;
    this.requestsRefused++;
    refuseUpgrade(socket);
    return true;
  }

  /** unfinished lists the requests that have no complete answer, oldest first. */
  unfinished(): UnfinishedRequest[] {
    const now = this.#clock.now();
    return [...this.connections]
      .flatMap((connection) =>
        connection.requests().map(({ request: { method = '', url = '', socket }, arrivedAt }) => ({
          method,
          route: url.split('?', 1)[0] as string,
          ageMs: Math.round(now - arrivedAt),
          peer: `${socket.remoteAddress ?? 'unix'}:${String(socket.remotePort ?? '')}`,
        })),
      )
      .sort((a, b) => b.ageMs - a.ageMs);
  }

  // A connection older than the seam that Node did not show is found with its first request (P-053); a request injected in
  // process has no real socket, and is nobody's to drain (P-031).
  #adopt(socket: unknown): Connection | undefined {
    return socket instanceof Socket ? this.#track(socket) : undefined;
  }

  #track(socket: Socket & Tracked): Connection {
    const connection = new Connection(socket, this.#clock.now());
    socket[record] = connection;
    this.connections.add(connection);
    if (this.#leaving !== undefined) draw(connection, this.#leaving);
    connection.isLate = this.#refusesLate;
    socket.on('close', () => {
      this.#forget(connection);
    });
    return connection;
  }

  #forget(connection: Connection): void {
    this.requestsInFlight -= connection.requestsInFlight;
    connection.releaseAll();
    this.connections.delete(connection);
    if (this.#leaving !== undefined) this.onIdle();
  }

  // What came late is refused, and what comes while the listener closes waits until it has.
  #detain(connection: Connection, response: ServerResponse, event: string, proceed: Proceed): void {
    const goOn = (): void => {
      // A client that has left meanwhile could not be answered, so its request is not executed either.
      if (connection.socket.destroyed) return;
      if (connection.isLate) this.#refuse(response);
      else proceed(event, response.req, response);
    };
    if (this.#held === undefined) goOn();
    else this.#held.push(goOn);
  }

  #refuse(response: ServerResponse): void {
    this.requestsRefused++;
    answerRetryAfter(response.req, response);
  }

  #release(response: ServerResponse): void {
    const connection = (response.req.socket as Tracked)[record];
    const kind = connection?.release(response);
    if (connection === undefined || kind === undefined) return;
    if (kind === 'request') this.requestsInFlight--;
    if (this.#leaving === undefined) return;
    if (kind === 'request' && !connection.isLate && response.writableFinished) this.requestsAnswered++;
    connection.quietSince = this.#clock.now();
    this.onIdle();
  }
}

function draw(connection: Connection, { since, window }: Leaving): void {
  connection.leaveAt = since + Math.random() * window;
}
