// The long-running requests of a lifecycle, counted apart, and their drain: one after another, at the apiserver's rate.
import type { Clock } from '../clock.ts';
import type { Deadline } from '../deadline.ts';
import { Limiter } from './limiter.ts';
import type { LongRunningRequest } from './long-running-request.ts';

// However many moments have come while the event loop was blocked, one turn of it tells only so many.
const mostPerTurn = 100;

// Nor does the end of the grace period take longer than this, in milliseconds, of one turn.
const longestTurn = 25;

// A handler that is told last still has this long to answer.
const lastWord = 500;

// What is ended for its handler has this long until everything is destroyed.
const reserve = 250;

/** LongRunningDrainOptions is what bounds the drain of the long-running requests, in milliseconds. */
export interface LongRunningDrainOptions {
  readonly grace: number;
  /** When whatever is left will be destroyed. */
  readonly drainBy: Deadline;
  /** What clients of event streams are told to wait, about; 0 tells them nothing. */
  readonly retry: number;
}

/** LongRunning has those that wait for their turn, which without a shutdown is all of them, and those that were told. */
export class LongRunning {
  readonly #clock: Clock;
  readonly #waiting = new Map<object, LongRunningRequest>();
  readonly #told = new Map<object, LongRunningRequest>();
  #limiter: Limiter | undefined;
  #endAt: (() => number) | undefined;
  #retry = 0;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get count(): number {
    return this.#waiting.size + this.#told.size;
  }

  has(key: object): boolean {
    return this.#waiting.has(key) || this.#told.has(key);
  }

  /** isTold tells whether a request's turn has come. */
  isTold(key: object): boolean {
    return this.#told.has(key);
  }

  /** add counts a request, by its response or, when it has left HTTP, by its connection. */
  add(key: object, request: LongRunningRequest): void {
    this.#waiting.set(key, request);
    if (this.#limiter !== undefined) this.#schedule();
  }

  get(key: object): LongRunningRequest | undefined {
    return this.#waiting.get(key) ?? this.#told.get(key);
  }

  /** delete stops counting a request; one that ended by itself leaves its moment to the next (P-037). */
  delete(key: object): boolean {
    return this.#waiting.delete(key) || this.#told.delete(key);
  }

  /** drain begins to tell them to end; one that comes later waits for its turn behind the others (P-038). */
  drain({ grace, drainBy, retry }: LongRunningDrainOptions): void {
    const now = this.#clock.now();
    const length = Math.max(0, Math.min(grace, drainBy.at - now - lastWord - reserve));
    // The deadline can come nearer meanwhile.
    this.#endAt = () => Math.min(now + length + lastWord, drainBy.at - reserve);
    this.#limiter = new Limiter(this.#waiting.size, length, now);
    this.#retry = retry;
    this.#schedule();
  }

  /** endOverdue ends, at the end of their grace period, all that are left: a hard deadline; called again and again. */
  endOverdue(now: number): void {
    if (this.#endAt === undefined || now < this.#endAt()) return;
    for (const [key, request] of this.#waiting) this.#told.set(key, request);
    this.#waiting.clear();
    for (const request of this.#told.values()) {
      if (this.#clock.now() - now > longestTurn) break;
      request.end();
    }
  }

  /** stop ends the telling, and with it the hold on the process. */
  stop(): void {
    this.#cancel?.();
    this.#limiter = undefined;
  }

  #schedule(): void {
    if (this.#cancel !== undefined || this.#limiter === undefined || this.#waiting.size === 0) return;
    this.#cancel = this.#clock.after(Math.max(0, this.#limiter.next - this.#clock.now()), () => {
      this.#cancel = undefined;
      this.#tellThoseDue();
      this.#schedule();
    });
  }

  #tellThoseDue(): void {
    const now = this.#clock.now();
    let told = 0;
    for (const [key, request] of this.#waiting) {
      if (told++ === mostPerTurn || this.#limiter?.take(now) !== true) break;
      this.#waiting.delete(key);
      this.#told.set(key, request);
      request.tell(this.#retry === 0 ? undefined : jittered(this.#retry));
    }
  }
}

// Clients that came together must not come back together.
function jittered(retry: number): number {
  return Math.round(retry * (0.5 + Math.random()));
}
