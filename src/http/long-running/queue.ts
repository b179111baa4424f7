// The long-running requests of a lifecycle and their drain: one after another, at the apiserver's rate.
import type { Clock } from '../../clock.ts';
import type { Deadline } from '../../deadline.ts';
import { Limiter } from './rate-limiter.ts';
import type { Ending, Exchange } from '../exchange.ts';
import type { InFlight } from '../in-flight/in-flight.ts';

// The most requests told in one turn of the event loop, so that catching up after a stall does not cause another.
const mostPerTurn = 100;

// The longest time in one turn of the event loop for ending requests at the end of the grace period, in milliseconds.
const longestTurn = 25;

// The time of the last handler between the abort of its AbortSignal and its end, in milliseconds.
const lastWord = 500;

// The time from the end of the last request to the destruction of all connections, in milliseconds.
const reserve = 250;

/** LongRunningDrainOptions are the limits of the drain of the long-running requests. Times are in milliseconds. */
export interface LongRunningDrainOptions {
  readonly grace: number;
  /** When all remaining connections are destroyed. */
  readonly drainBy: Deadline;
  /** The mean of the `retry:` that event streams send. If it is 0, they send no `retry:`. */
  readonly retry: number;
}

/** LongRunning has two sets of requests: those that wait for their turn, and those that the drain has begun to end. */
export class LongRunning {
  readonly #clock: Clock;
  readonly #inFlight: InFlight;
  readonly #waiting = new Set<Exchange>();
  readonly #told = new Set<Exchange>();
  #limiter: Limiter | undefined;
  #endAt: (() => number) | undefined;
  #retry = 0;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, inFlight: InFlight) {
    this.#clock = clock;
    this.#inFlight = inFlight;
  }

  /** add makes a request long-running. */
  add(exchange: Exchange, ending: Ending): void {
    this.#inFlight.move(exchange, { is: 'long-running', ending });
    this.#waiting.add(exchange);
    if (this.#limiter !== undefined) this.#schedule();
  }

  /** delete removes a request from the queue. If the request has ended on its own, the next request takes its turn (P-037). */
  delete(exchange: Exchange): boolean {
    return this.#waiting.delete(exchange) || this.#told.delete(exchange);
  }

  /** drain begins to end the requests. A request that begins later ends after the others (P-038). */
  drain({ grace, drainBy, retry }: LongRunningDrainOptions): void {
    const now = this.#clock.now();
    const length = Math.max(0, Math.min(grace, drainBy.at - now - lastWord - reserve));
    // An uncaught error during the drain can make the deadline earlier.
    this.#endAt = () => Math.min(now + length + lastWord, drainBy.at - reserve);
    this.#limiter = new Limiter(this.#waiting.size, length, now);
    this.#retry = retry;
    this.#schedule();
  }

  /** endOverdue ends all requests at the end of the grace period, a hard deadline. It is called repeatedly. */
  endOverdue(now: number): void {
    if (this.#endAt === undefined || now < this.#endAt()) return;
    for (const exchange of this.#waiting) this.#moveToTold(exchange);
    for (const { state } of this.#told) {
      if (this.#clock.now() - now > longestTurn) break;
      if (state.is === 'told') state.ending.end();
    }
  }

  /** stop cancels the timer, which would keep the process alive. */
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
    for (const exchange of this.#waiting) {
      if (told++ === mostPerTurn || this.#limiter?.take(now) !== true) break;
      this.#moveToTold(exchange)?.tell(this.#retry === 0 ? undefined : jittered(this.#retry));
    }
  }

  #moveToTold(exchange: Exchange): Ending | undefined {
    const { state } = exchange;
    if (state.is !== 'long-running') return undefined;
    this.#waiting.delete(exchange);
    this.#told.add(exchange);
    this.#inFlight.move(exchange, { is: 'told', ending: state.ending });
    return state.ending;
  }
}

// Add jitter, so that clients that connected together do not reconnect together.
function jittered(retry: number): number {
  return Math.round(retry * (0.5 + Math.random()));
}
