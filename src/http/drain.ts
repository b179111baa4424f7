// The drain: ends each connection at its moment, and knows when no request is in flight and none can come.
import type { Clock } from '../clock.ts';
import type { Deadline } from '../deadline.ts';
import { leastPerSecond } from '../settings/pace.ts';
import type { Connection } from './connection.ts';
import { askWhetherGone } from './half-open.ts';
import { AnsweredUploads, withoutHalfHeads } from './half-request.ts';
import type { LongRunningDrainOptions } from './long-running.ts';
import type { Traffic } from './traffic.ts';

/**
 * linger is how many milliseconds of silence end a connection, so that a request on its way is still served. In development
 * there is none.
 */
export const linger = 1_000;

// How long the peer has to answer our FIN before the socket is destroyed (P-006).
const patience = 1_000;

const interval = 50;

// Over very many connections a sweep takes long itself; the next one then waits this many times as long as it took.
const pauseFactor = 10;

/**
 * Drain sweeps over the connections every 50 ms with one timer. From `begin` on it ends, by FIN, each that has been
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
  readonly #linger: number;
  #cancel: () => void = () => undefined;
  #isStopped = false;
  #deadline: Deadline | undefined;
  #idlesPerSweep = 0;
  readonly #uploads = new AnsweredUploads();
  #whenEmpty: (() => void) | undefined;

  constructor(traffic: Traffic, clock: Clock, milliseconds = linger) {
    this.#traffic = traffic;
    this.#clock = clock;
    this.#linger = milliseconds;
    this.drained = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** start begins to watch over connections that leave; none that is silent is ended yet. */
  start(): void {
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

  /** cutOff destroys every connection and takes the drain for done (P-023, P-025). Resolves when handlers know it. */
  async cutOff(): Promise<void> {
    const closed = [...this.#traffic.connections].map(async (connection) => {
      // A TLS socket closes at once when the socket under it is reset.
      const hasClosed = new Promise((resolve) => connection.socket.once('close', resolve));
      connection.destroy();
      await hasClosed;
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
    setImmediate(() => {
      if (!this.#isStopped) this.#sweep();
    });
  }

  #sweep(): void {
    const now = this.#clock.now();
    this.#traffic.requests.longRunning.endOverdue(now);
    const silent: Connection[] = [];
    for (const connection of this.#traffic.connections) {
      this.#traffic.forgetIfEnded(connection);
      if (connection.isGone) continue;
      if (!connection.isBusy) connection.hear(now);
      askWhetherGone(connection, now);
      connection.leave(now);
      if (this.#deadline !== undefined) connection.endUploads(now);
      if (connection.isOver && connection.isStale(now, patience)) connection.destroy();
      else if (this.#canEnd(connection, now)) silent.push(connection);
    }
    this.#idlesPerSweep = Math.max(this.#idlesPerSweep, perSweep(silent.length, this.#linger));
    const ending = this.#isLastCall(now) ? silent : withoutHalfHeads(silent);
    for (const connection of ending.slice(0, this.#idlesPerSweep)) connection.end();
    this.#schedule(Math.max(interval, (this.#clock.now() - now) * pauseFactor));
    this.#noteProgress();
  }

  #canEnd(connection: Connection, now: number): boolean {
    if (this.#deadline === undefined || connection.isOver || connection.isBusy) return false;
    if (!connection.endsBySilence) return false;
    if (this.#uploads.isTooLong(connection, now)) return true;
    return (this.#isIdle || this.#isLastCall(now)) && now - connection.quietSince >= this.#linger;
  }

  #isLastCall(now: number): boolean {
    return this.#deadline !== undefined && now >= this.#deadline.at - this.#linger;
  }

  get #isIdle(): boolean {
    return this.#traffic.requests.inFlight === 0 && this.#traffic.requests.longRunning.count === 0;
  }

  #noteProgress(): void {
    const { connections } = this.#traffic;
    if (connections.size === 0) this.#whenEmpty?.();
    if (this.#deadline === undefined || !this.#isIdle) return;
    for (const { isOver, isLate } of connections) if (!isOver && !isLate) return;
    this.#resolve();
  }
}

// The clients of idle connections come back elsewhere like those of watches (P-007).
function perSweep(idles: number, milliseconds: number): number {
  const perSecond = idles / (Math.max(milliseconds, interval) / 1_000);
  return Math.ceil((Math.max(leastPerSecond, perSecond) * interval) / 1_000);
}
