// The drain: ends each connection at its moment, and knows when no request is in flight and none can come.
import { type Clock, startImmediate, wait, withTimeout } from '../../clock.ts';
import type { Deadline } from '../../deadline.ts';
import { leastPerSecond } from '../../settings/pace.ts';
import { Acknowledgement } from './acknowledgement.ts';
import type { Connection } from '../connection.ts';
import { HalfOpen } from '../http1/half-open.ts';
import { AnsweredUploads, isHalfHead } from '../http1/half-request.ts';
import type { LongRunningDrainOptions } from '../long-running/queue.ts';
import type { ReadSocketTable } from './read-socket-table.ts';
import { portOf, type Server } from '../server.ts';
import type { SocketRow } from './socket-table.ts';
import type { Traffic } from '../traffic.ts';

/** linger is how many milliseconds of silence end a connection, so that a request on its way is still served. */
export const linger = 1_000;

// How long the peer has to answer our FIN before the socket is destroyed (P-006).
const patience = 1_000;

// How long to wait for the sockets that have been destroyed to close, in milliseconds; a program may never let them.
const longestClose = 100;

const interval = 50;

// Over very many connections a sweep takes long itself; the next one then waits this many times as long as it took. The
// same holds for a look at the kernel's sockets.
const pauseFactor = 10;

/** DrainOptions are the settings of a drain that depend on the process. */
export interface DrainOptions {
  /**
   * Whether to wait only for requests in flight, as in development. The drain then does not wait for silence, for the rest of
   * a request head, or for the FIN of a peer.
   */
  readonly isHurried?: boolean | undefined;
  /** Reads which bytes the peers have not acknowledged. If undefined, the drain does not wait for acknowledgements. */
  readonly readSocketTable?: ReadSocketTable | undefined;
}

/**
 * Drain checks all connections every 50 ms with one timer. From `begin` on, it sends a FIN on each connection that has been
 * silent for a second. It does so as late as possible: when no request is in flight, or one linger before the deadline.
 *
 * Each check runs after Node has read all sockets in this turn of the event loop. So the drain sends no FIN on a connection
 * whose request has arrived, even if the event loop was blocked.
 */
export class Drain {
  /** Resolves when no request is in flight and no connection is left on which one would be admitted. */
  readonly drained: Promise<void>;
  #resolve!: () => void;
  readonly #traffic: Traffic;
  readonly #clock: Clock;
  readonly #isHurried: boolean;
  readonly #linger: number;
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

  /** `onFailure` is called when a program's own changes to a connection make an attempt to end it throw. */
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
    this.#linger = isHurried ? 0 : linger;
    this.#acknowledgement = new Acknowledgement(readSocketTable ?? (() => Promise.resolve([])), clock);
    this.drained = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** start begins to watch over connections that leave; none that is silent is ended yet. */
  start(servers: readonly Server[]): void {
    // A server that has closed its listener no longer knows its port.
    for (const server of servers) this.#ports.add(portOf(server));
    this.#traffic.onIdle = () => {
      if (this.#isIdle && this.#traffic.connections.size === 0) this.#noteProgress();
    };
    this.#schedule();
  }

  /**
   * begin tells long-running requests to end, one after another, and lets silent connections be ended; `drainBy` is when
   * whatever is left will be destroyed.
   */
  begin(options: LongRunningDrainOptions): void {
    this.#deadline = options.drainBy;
    this.#traffic.requests.longRunning.drain(options);
    this.#sweepSoon();
    this.#noteProgress();
  }

  /**
   * cut destroys the connections with an unfinished request, ends the others and resolves `drained` (P-023, P-025). It
   * resolves when the handlers of the destroyed connections have been notified.
   */
  async cut(): Promise<void> {
    const unfinished: Connection[] = [];
    for (const connection of this.#traffic.connections) {
      if (connection.isBusy || connection.unfinished().length > 0) unfinished.push(connection);
      else if (!connection.isLeaving) connection.end();
    }
    for (const { socket } of unfinished) this.#acknowledgement.abandon(socket);
    this.#resolve();
    await this.#destroyAll(unfinished);
  }

  /** cutOff destroys every connection. It resolves when their handlers have been notified. */
  async cutOff(): Promise<void> {
    await this.#destroyAll([...this.#traffic.connections]);
  }

  /**
   * empty resolves when all connections have closed and each peer has acknowledged the last byte. This includes the peers of
   * connections that closed before. At `by`, empty resolves in any case.
   */
  async empty(by: Deadline): Promise<void> {
    const { connections } = this.#traffic;
    if (connections.size === 0 && this.#ports.size === 0) return;
    await this.#acknowledgement.begin(connections, this.#ports);
    while (connections.size > 0 || this.#acknowledgement.rows.length > 0) {
      const isAwaited = this.#acknowledgement.rows.length > 0;
      const pause = pauseAfter(this.#acknowledgement.took);
      await (isAwaited ? wait(this.#clock, pause, by.signal) : Promise.race([this.#gone(), by.reached]));
      if (by.signal.aborted) return;
      await this.#acknowledgement.look();
    }
  }

  /** The sockets whose peers have not acknowledged every byte of a response, as `empty` last saw them. */
  get unacknowledged(): readonly SocketRow[] {
    return this.#acknowledgement.rows.filter(({ bytes }) => bytes > 0);
  }

  #gone(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenEmpty = resolve;
      this.#noteProgress();
    });
  }

  /** stop ends the sweeping, and with it the drain's hold on the process. */
  stop(): void {
    this.#isStopped = true;
    this.#cancel();
    this.#traffic.requests.longRunning.stop();
    this.#traffic.onIdle = () => undefined;
  }

  #schedule(pause = interval): void {
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
      this.#schedule(pauseAfter(this.#clock.now() - now));
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
        else if (connection.isLeaving && connection.isStale(now, this.#isHurried ? 0 : patience))
          stale.push(connection);
      } catch (error) {
        this.#giveUp(connection, error);
      }
    }
    this.#idlesPerSweep = Math.max(this.#idlesPerSweep, perSweep(silent.length, this.#linger));
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

  /** Moves a connection on, and tells whether it can be ended now, since it is silent. */
  #look(connection: Connection, now: number): boolean {
    this.#traffic.forgetIfEnded(connection);
    if (connection.state.is === 'closed') return false;
    if (!connection.isBusy) connection.hear(now);
    this.#halfOpen.askWhetherGone(connection, now);
    connection.look(now, this.#deadline !== undefined);
    return this.#canEnd(connection, now);
  }

  // Resolves when every socket has emitted `close`, or after 100 ms: a listener that throws keeps the event from later ones.
  async #destroyAll(connections: readonly Connection[]): Promise<void> {
    const closed = connections.map((connection) => {
      // A TLS socket closes at once when the socket under it is reset.
      const hasClosed = new Promise((resolve) => connection.socket.once('close', resolve));
      this.#destroy(connection);
      return hasClosed;
    });
    await withTimeout(this.#clock, Promise.all(closed), longestClose);
    for (const connection of connections) this.#traffic.forget(connection);
  }

  // A connection that throws, because the program has changed it, must not stop the sweep. A request on it is waited for.
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

  // Once a socket is closed, the kernel answers further bytes of the peer by a reset. The peer would then lose the bytes that it
  // has not acknowledged, so such a socket stays open.
  async #endStale(stale: readonly Connection[], now: number): Promise<void> {
    if (stale.length === 0 || now < this.#nextLookAt) return;
    this.#nextLookAt = Infinity;
    const missing = await this.#acknowledgement.missing(stale);
    this.#nextLookAt = this.#clock.now() + pauseAfter(this.#acknowledgement.took);
    for (const connection of stale) {
      if (!missing.has(connection)) this.#destroy(connection);
      else {
        this.#traffic.requests.releaseAll(connection);
        connection.leaveToPeer();
      }
    }
    this.#noteProgress();
  }

  #canEnd(connection: Connection, now: number): boolean {
    if (this.#deadline === undefined || connection.isBusy || !connection.endsBySilence) return false;
    if (this.#uploads.isTooLong(connection, now)) return true;
    if (now - connection.quietSince < this.#linger) return false;
    return this.#isLastCall(now) || (this.#isIdle && (this.#isHurried || !isHalfHead(connection)));
  }

  #isLastCall(now: number): boolean {
    return this.#deadline !== undefined && now >= this.#deadline.at - this.#linger;
  }

  get #isIdle(): boolean {
    return this.#traffic.requests.inFlight.isIdle;
  }

  #noteProgress(): void {
    const { connections } = this.#traffic;
    if (connections.size === 0) this.#whenEmpty?.();
    if (this.#deadline === undefined || !this.#isIdle) return;
    for (const { isLeaving, isLate } of connections) if (!isLeaving && !isLate) return;
    this.#resolve();
  }
}

function pauseAfter(took: number): number {
  return Math.max(interval, took * pauseFactor);
}

// Limit the rate, because the clients of idle connections reconnect to other pods, as those of watches do (P-007).
function perSweep(idles: number, milliseconds: number): number {
  const perSecond = idles / (Math.max(milliseconds, interval) / 1_000);
  return Math.ceil((Math.max(leastPerSecond, perSecond) * interval) / 1_000);
}
