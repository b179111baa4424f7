// The drain: ends each connection at its moment, and knows when no request is in flight and none can come.
import type { Clock } from '../clock.ts';
import type { Deadline } from '../deadline.ts';
import type { Connection } from './connection.ts';
import { askWhetherGone } from './half-open.ts';
import type { Traffic } from './traffic.ts';

/** linger is how many milliseconds of silence end a connection, so that a request on its way is still served. */
export const linger = 1_000;

// How long the peer has to answer our FIN before the socket is destroyed (P-006).
const patience = 1_000;

const interval = 50;

// The apiserver's floor for ending watches, for the idle: their clients reconnect elsewhere (P-007).
const idlesPerSecond = 200;

/**
 * Drain sweeps over the connections every 50 ms with one timer. From `endIdles` on it ends, by FIN, each that has been
 * silent for a second, as late as possible: once no request is in flight, or a linger ahead of the deadline. It sweeps
 * behind a turn of the event loop in which every socket has been read, so that no request waits unseen where a FIN goes
 * out, however long the loop was blocked.
 */
export class Drain {
  /** Resolves when no request is in flight and no connection is left on which one would be admitted. */
  readonly drained: Promise<void>;
  #resolve!: () => void;
  readonly #traffic: Traffic;
  readonly #clock: Clock;
  #cancel: () => void = () => undefined;
  #isStopped = false;
  #deadline: Deadline | undefined;
  #idlesPerSweep = 0;
  #whenEmpty: (() => void) | undefined;

  constructor(traffic: Traffic, clock: Clock) {
    this.#traffic = traffic;
    this.#clock = clock;
    this.drained = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** start begins to watch over connections that leave; none that is silent is ended yet. */
  start(): void {
    this.#traffic.onIdle = () => {
      if (this.#traffic.requestsInFlight === 0 && this.#traffic.connections.size === 0) this.#noteProgress();
    };
    this.#schedule();
  }

  /** endIdles lets silent connections be ended; `deadline` is when whatever is left will be destroyed. */
  endIdles(deadline: Deadline): void {
    this.#deadline = deadline;
    this.#sweepSoon();
    this.#noteProgress();
  }

  /** cutOff destroys every connection and takes the drain for done (P-023, P-025). Resolves when handlers know it. */
  async cutOff(): Promise<void> {
    const closed = [...this.#traffic.connections].map(async ({ socket }) => {
      socket.destroy();
      await new Promise((resolve) => socket.once('close', resolve));
    });
    this.#resolve();
    await Promise.all(closed);
  }

  /** empty resolves when every connection is gone: after the linger and the patience with its peer at most. */
  async empty(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#whenEmpty = resolve;
      this.#noteProgress();
    });
  }

  /** stop ends the sweeping, and with it the drain's hold on the process. */
  stop(): void {
    this.#isStopped = true;
    this.#cancel();
    this.#traffic.onIdle = () => undefined;
  }

  #schedule(): void {
    this.#cancel();
    this.#cancel = this.#clock.after(interval, () => {
      this.#sweepSoon();
    });
  }

  #sweepSoon(): void {
    setImmediate(() => {
      if (!this.#isStopped) this.#sweep();
    });
  }

  #sweep(): void {
    const now = this.#clock.now();
    const silent: Connection[] = [];
    for (const connection of this.#traffic.connections) {
      connection.hear(now);
      askWhetherGone(connection, now);
      if (connection.isOver && connection.isStale(now, patience)) connection.socket.destroy();
      else if (this.#canEnd(connection, now)) silent.push(connection);
    }
    this.#idlesPerSweep = Math.max(this.#idlesPerSweep, perSweep(silent.length));
    for (const connection of silent.slice(0, this.#idlesPerSweep)) connection.end();
    this.#schedule();
    this.#noteProgress();
  }

  #canEnd(connection: Connection, now: number): boolean {
    if (this.#deadline === undefined || connection.isOver || connection.isBusy) return false;
    const isLastCall = this.#traffic.requestsInFlight === 0 || now >= this.#deadline.at - linger;
    return isLastCall && (connection.isUpgraded || now - connection.quietSince >= linger);
  }

  #noteProgress(): void {
    const { connections, requestsInFlight } = this.#traffic;
    if (connections.size === 0) this.#whenEmpty?.();
    if (this.#deadline === undefined || requestsInFlight > 0) return;
    for (const { isOver, isLate } of connections) if (!isOver && !isLate) return;
    this.#resolve();
  }
}

function perSweep(idles: number): number {
  return Math.ceil((Math.max(idlesPerSecond, idles / (linger / 1_000)) * interval) / 1_000);
}
