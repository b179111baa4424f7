// The drain: closes all connections before the deadline, and detects when no request is in flight and no new request
// can arrive.
import { type Clock, startImmediate, wait, withTimeout } from '../../clock.ts';
import type { Deadline } from '../../deadline.ts';
import { lowestDrainRate } from '../../settings/drain-rate.ts';
import { Acknowledgement } from './acknowledgement.ts';
import type { Server as NetServer } from 'node:net';
import type { Connection } from '../connection.ts';
import { HalfOpen } from '../http1/half-open.ts';
import { AnsweredUploads, isHalfHead } from '../http1/half-request.ts';
import type { LongRunningDrainOptions } from '../long-running/queue.ts';
import type { ReadSocketTable } from './read-socket-table.ts';
import { portOf } from '../server.ts';
import type { SocketRow } from './socket-table.ts';
import type { Traffic } from '../traffic.ts';
import { visitEach } from '../visit-each.ts';

/**
 * silenceBeforeClose is how long no byte must have arrived on a connection before the drain closes it, in milliseconds.
 * A request that the client has already sent arrives in this time, and is served.
 */
export const silenceBeforeClose = 1_000;

// How long the peer may take to answer the server's FIN, in milliseconds. After that, the drain destroys the socket
// (P-006).
const patience = 1_000;

// How long to wait, in milliseconds, until destroyed sockets have closed. The program may prevent a socket from
// closing.
const longestClose = 100;

const interval = 50;

// The drain pauses between two checks of all connections, and between two reads of the kernel's table of sockets. A
// pause lasts `interval` milliseconds, or `factor` times as long as the check or read before the pause, whichever is
// longer. Requests in flight thus get most of the processor time.
const pace = { interval, factor: 10 };

// The pause between two checks of all connections in development. A first check sends the FIN on a connection, and a
// later check destroys its socket. The pause is short, because a developer waits until the process has exited.
const hurriedPace: typeof pace = { interval: 10, factor: 1 };

/**
 * DrainOptions contains values for the drain that follow from how the process was started. No setting of the user
 * changes them.
 */
export interface DrainOptions {
  /**
   * isHurried is true in development, where a person waits for the end of the process. The drain then waits only for
   * requests in flight. It does not wait for silence on a connection, for the rest of a request head, or for the FIN of
   * a peer.
   */
  readonly isHurried?: boolean | undefined;
  /**
   * readSocketTable reads from the kernel which sockets have unacknowledged bytes. If readSocketTable is undefined, the
   * drain does not wait until peers have acknowledged their responses.
   */
  readonly readSocketTable?: ReadSocketTable | undefined;
}

/**
 * Drain checks all connections with one timer, every 50 ms, or every 10 ms with the option `isHurried`. It ends them in
 * these steps:
 *
 * - From `begin` on, it waits until no request of the program is in flight. This wait ends at the latest one second
 *   before the drain's deadline.
 * - It then sends a FIN on each connection on which no byte has arrived for a second.
 *
 * Each check runs after Node has read all sockets in the same turn of the event loop. lameduck therefore sees every
 * request that arrived before the FIN, even if the event loop was blocked.
 */
export class Drain {
  /**
   * `drained` resolves when no request is in flight and no connection can bring a new request to the program any more.
   */
  readonly drained: Promise<void>;
  #resolve!: () => void;
  readonly #traffic: Traffic;
  readonly #clock: Clock;
  readonly #isHurried: boolean;
  readonly #pace: typeof pace;
  readonly #silenceBeforeClose: number;
  #cancel: () => void = () => undefined;
  #isStopped = false;
  #deadline: Deadline | undefined;
  #idlesPerSweep = 0;
  readonly #halfOpen = new HalfOpen();
  readonly #uploads = new AnsweredUploads();
  #whenEmpty: (() => void) | undefined;
  readonly #acknowledgement: Acknowledgement;
  readonly #ports = new Set<number>();
  #nextLookAt = -Infinity;

  readonly #onFailure: (error: unknown) => void;

  /**
   * If ending a connection throws, `onFailure` is called with the error. Ending a connection throws only if the program
   * has changed the connection.
   */
  constructor(
    traffic: Traffic,
    clock: Clock,
    onFailure: (error: unknown) => void,
    { isHurried = false, readSocketTable }: DrainOptions = {},
  ) {
    this.#traffic = traffic;
    this.#clock = clock;
    this.#onFailure = onFailure;
    this.#isHurried = isHurried;
    this.#pace = isHurried ? hurriedPace : pace;
    this.#silenceBeforeClose = isHurried ? 0 : silenceBeforeClose;
    this.#acknowledgement = new Acknowledgement(readSocketTable ?? (() => Promise.resolve([])), clock);
    this.drained = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** startChecks begins to check the connections at regular intervals. It does not close silent connections yet. */
  startChecks(servers: readonly NetServer[]): void {
    for (const server of servers) this.addServer(server);
    this.#traffic.onIdle = () => {
      if (this.#isIdle && this.#traffic.connections.size === 0) this.#noteProgress();
    };
    this.#schedule();
  }

  /**
   * addServer makes the drain also wait until the clients of this server have acknowledged all bytes that it has sent.
   * addServer reads the port of the server at once, because a server does not report its port after its listening
   * socket has closed.
   */
  addServer(server: NetServer): void {
    this.#ports.add(portOf(server));
  }

  /**
   * `begin()` begins to end the long-running requests one after another, and to close the connections on which nothing
   * arrives. It destroys no connection: the caller does that at the time `drainBy`.
   */
  begin(options: LongRunningDrainOptions): void {
    this.#deadline = options.drainBy;
    this.#traffic.requests.longRunning.drain(options);
    this.#sweepSoon();
    this.#noteProgress();
  }

  /**
   * `cut()` destroys the connections with unfinished requests, ends all other connections and resolves `drained`
   * (P-023, P-025). The promise of `cut()` itself resolves later, when the destroyed sockets have emitted `close`. The
   * handlers of the unfinished requests then know that their connections have ended.
   */
  async cut(): Promise<void> {
    const unfinished: Connection[] = [];
    const endUnlessUnfinished = (connection: Connection): void => {
      if (connection.isBusy || connection.unfinished().length > 0) unfinished.push(connection);
      else if (!connection.isClosing) connection.end();
    };
    visitEach(this.#traffic.connections, endUnlessUnfinished, this.#onFailure);
    for (const { socket } of unfinished) this.#acknowledgement.abandon(socket);
    this.#resolve();
    await this.#destroyAll(unfinished);
  }

  /**
   * cutOff destroys every connection. The promise resolves when the destroyed sockets have emitted `close`, so that the
   * handlers of their requests know of the end.
   */
  async cutOff(): Promise<void> {
    await this.#destroyAll([...this.#traffic.connections]);
  }

  /**
   * `empty()` resolves when every connection has closed and every peer has acknowledged the last byte, including the
   * peers of connections that closed before the call. At the deadline `by`, `empty()` resolves in any case.
   */
  async empty(by: Deadline): Promise<void> {
    const { connections } = this.#traffic;
    if (connections.size === 0 && this.#ports.size === 0) return;
    await this.#acknowledgement.begin(connections, this.#ports);
    while (connections.size > 0 || this.#acknowledgement.rows.length > 0) {
      const isAwaited = this.#acknowledgement.rows.length > 0;
      const pause = this.#pauseAfter(this.#acknowledgement.took);
      await (isAwaited ? wait(this.#clock, pause, by.signal) : Promise.race([this.#gone(), by.reached]));
      if (by.signal.aborted) return;
      await this.#acknowledgement.look();
    }
  }

  /**
   * `unacknowledged` lists the sockets whose peers had not acknowledged every byte when `empty()` last read the
   * kernel's table of sockets.
   */
  get unacknowledged(): readonly SocketRow[] {
    return this.#acknowledgement.rows.filter(({ bytes }) => bytes > 0);
  }

  #gone(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenEmpty = resolve;
      this.#noteProgress();
    });
  }

  /**
   * stopChecks stops the timer with which the drain checks all connections, because this timer would keep the process
   * alive.
   */
  stopChecks(): void {
    this.#isStopped = true;
    this.#cancel();
    this.#traffic.requests.longRunning.stop();
    this.#traffic.onIdle = () => undefined;
  }

  #schedule(pause = this.#pace.interval): void {
    this.#cancel();
    this.#cancel = this.#clock.after(pause, () => {
      this.#sweepSoon();
    });
  }

  #sweepSoon(): void {
    startImmediate(() => {
      if (this.#isStopped) return;
      const now = this.#clock.now();
      try {
        this.#sweep(now);
      } catch (error) {
        this.#onFailure(error);
      }
      this.#schedule(this.#pauseAfter(this.#clock.now() - now));
      this.#noteProgress();
    });
  }

  #sweep(now: number): void {
    this.#traffic.requests.longRunning.endOverdue(now);
    const silent: Connection[] = [];
    const stale: Connection[] = [];
    for (const connection of this.#traffic.connections) {
      try {
        if (this.#look(connection, now)) silent.push(connection);
        else if (connection.isClosing && connection.isStale(now, this.#isHurried ? 0 : patience))
          stale.push(connection);
      } catch (error) {
        this.#giveUp(connection, error);
      }
    }
    this.#idlesPerSweep = Math.max(this.#idlesPerSweep, perSweep(silent.length, this.#silenceBeforeClose));
    const { own, connections } = this.#traffic;
    for (const connection of own.endLast(silent, connections).slice(0, this.#idlesPerSweep)) {
      try {
        connection.end();
      } catch (error) {
        this.#giveUp(connection, error);
      }
    }
    void this.#endStale(stale, now).catch(this.#onFailure);
  }

  /**
   * Begins to end a connection, or continues to end it. Returns true if the connection has been silent long enough to
   * be closed now.
   */
  #look(connection: Connection, now: number): boolean {
    this.#traffic.forgetIfEnded(connection);
    if (connection.state.is === 'closed') return false;
    if (!connection.isBusy) connection.hear(now);
    this.#halfOpen.askWhetherGone(connection, now);
    connection.look(now, this.#deadline !== undefined);
    return this.#canEnd(connection, now);
  }

  // Destroys connections. Resolves when every socket has emitted `close`, but after at most 100 ms. The wait is limited
  // because a socket never emits `close` if a listener of the program has thrown.
  async #destroyAll(connections: readonly Connection[]): Promise<void> {
    const closed = connections.map((connection) => {
      // Listen for `close` before destroying the connection: a TLS socket emits `close` at once when its TCP socket is
      // reset.
      const hasClosed = new Promise((resolve) => connection.socket.once('close', resolve));
      this.#destroy(connection);
      return hasClosed;
    });
    await withTimeout(this.#clock, Promise.all(closed), longestClose);
    for (const connection of connections) this.#traffic.forget(connection);
  }

  // Reports an error that was thrown while the drain ended a connection. The drain then continues with the other
  // connections. lameduck's own code throws such an error only if the program has changed the socket, for example by
  // replacing a method of the socket.
  #giveUp(connection: Connection, error: unknown): void {
    this.#onFailure(error);
    if (!connection.isBusy) this.#destroy(connection);
  }

  #destroy(connection: Connection): void {
    try {
      connection.destroy();
    } catch (error) {
      this.#onFailure(error);
    }
  }

  // Destroys each connection whose peer no longer reacts, if the peer has acknowledged all bytes. A connection with
  // unacknowledged bytes stays open. If it were destroyed, the kernel would answer the peer's next bytes with a reset,
  // and the peer would lose unread bytes.
  async #endStale(stale: readonly Connection[], now: number): Promise<void> {
    if (stale.length === 0 || now < this.#nextLookAt) return;
    this.#nextLookAt = Infinity;
    const missing = await this.#acknowledgement.missing(stale);
    this.#nextLookAt = this.#clock.now() + this.#pauseAfter(this.#acknowledgement.took);
    for (const connection of stale) {
      if (!missing.has(connection)) this.#destroy(connection);
      else {
        this.#traffic.requests.releaseAll(connection);
        connection.restartPeerWait();
      }
    }
    this.#noteProgress();
  }

  #canEnd(connection: Connection, now: number): boolean {
    if (this.#deadline === undefined || connection.isBusy || !connection.endsBySilence) return false;
    if (this.#uploads.isTooLong(connection, now)) return true;
    if (now - connection.quietSince < this.#silenceBeforeClose) return false;
    return this.#isLastCall(now) || (this.#isIdle && (this.#isHurried || !isHalfHead(connection)));
  }

  #isLastCall(now: number): boolean {
    return this.#deadline !== undefined && now >= this.#deadline.at - this.#silenceBeforeClose;
  }

  get #isIdle(): boolean {
    return this.#traffic.requests.inFlight.isIdle;
  }

  #pauseAfter(took: number): number {
    return Math.max(this.#pace.interval, took * this.#pace.factor);
  }

  #noteProgress(): void {
    const { connections } = this.#traffic;
    if (connections.size === 0) this.#whenEmpty?.();
    if (this.#deadline === undefined || !this.#isIdle) return;
    for (const { isClosing, isLate } of connections) if (!isClosing && !isLate) return;
    if (this.#traffic.frontSockets.isAnyAwaited(this.#clock.now(), this.#silenceBeforeClose)) return;
    this.#resolve();
  }
}

// Returns how many silent connections the drain may close in one check of all connections. The number is limited,
// because the clients of the closed connections reconnect to other pods (P-007).
function perSweep(idles: number, milliseconds: number): number {
  const perSecond = idles / (Math.max(milliseconds, interval) / 1_000);
  return Math.ceil((Math.max(lowestDrainRate, perSecond) * interval) / 1_000);
}
