// All counters of requests. They change in `move` and `release`, and nowhere else.
import { isLongRunning, released, type Exchange, type HttpExchange, type State } from '../exchange.ts';

/** Counts has the number of exchanges in each state in which they are counted. */
export type Counts = Record<Exclude<State['is'], 'noted' | 'released'>, number>;

/**
 * InFlight counts the exchanges by their state. Invariant: the count of a state is the number of exchanges in that state on all
 * connections. No exchange on a connection is noted or released.
 */
export class InFlight {
  /** Requests answered, refused and, where they were long-running, ended since ShutdownInitiated. */
  answered = 0;
  refused = 0;
  longRunningEnded = 0;
  /** Those whose response this process has destroyed before it was complete, without those that the drain has cut. */
  aborted = 0;
  readonly #counts: Counts = { serving: 0, ours: 0, 'long-running': 0, told: 0 };
  #isLeaving = false;
  #isCut = false;

  get counts(): Readonly<Counts> {
    return this.#counts;
  }

  /** Requests of the program that are not long-running. */
  get serving(): number {
    return this.#counts.serving;
  }

  /** Long-running requests, told to end or not. */
  get longRunning(): number {
    return this.#counts['long-running'] + this.#counts.told;
  }

  /** Whether no request of the program is left. */
  get isIdle(): boolean {
    return this.serving === 0 && this.longRunning === 0;
  }

  /** move gives an exchange another state. */
  move(exchange: Exchange, to: State): void {
    const from = exchange.state.is;
    if (from !== 'noted' && from !== 'released') this.#counts[from]--;
    if (to.is !== 'noted' && to.is !== 'released') this.#counts[to.is]++;
    exchange.state = to;
  }

  /** leave begins to count how requests end. */
  leave(): void {
    this.#isLeaving = true;
  }

  /** cut is called before the drain destroys what is left, whose end counts as none of the program's. */
  cut(): void {
    this.#isCut = true;
  }

  /** release counts how a request has ended. A request on a late connection was refused, and never reached the program. */
  release(exchange: HttpExchange): void {
    const { state, response, connection } = exchange;
    if (isLongRunning(exchange)) this.#noteLongRunningEnd();
    else if (this.#isLeaving && state.is === 'serving' && !connection.isLate) {
      if (response.writableFinished) this.answered++;
      else if (!this.#isCut && exchange.isAborted) this.aborted++;
    }
    this.move(exchange, released);
  }

  /** releaseUpgraded counts the end of a connection that has left HTTP. */
  releaseUpgraded(exchange: Exchange): void {
    this.#noteLongRunningEnd();
    this.move(exchange, released);
  }

  #noteLongRunningEnd(): void {
    if (this.#isLeaving && !this.#isCut) this.longRunningEnded++;
  }
}
