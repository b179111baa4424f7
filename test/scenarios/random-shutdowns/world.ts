// State that the clients of one round share: the server, the moment of its process signal, and the results of their
// requests.
import { setTimeout } from 'node:timers/promises';

export const kinds = ['http', 'https', 'h2c', 'h2'] as const;
export type Kind = (typeof kinds)[number];

// The largest number of streams that may cross a GOAWAY. A client that sends requests on a timer may send one at any
// moment (P-043). Node's own client also reports a stream as refused if it had not sent it yet.
const mostCrossed = 12;

/** Reset is a connection that ended without a byte. The server may never have accepted it (P-018). */
export interface Reset {
  readonly port: number;
  readonly what: string;
}

/** World is one server, with the results that its clients count. */
export class World {
  answered = 0;
  refused = 0;
  readonly failures: string[] = [];
  readonly resets: Reset[] = [];
  readonly kind: Kind;
  readonly port: number;
  readonly sendsRetryAfter: boolean;
  /** Resolves when the process signal is being sent. */
  readonly told: Promise<void>;
  readonly #delay: number;
  #toldAt = Infinity;
  #crossed = 0;
  #resolve!: () => void;

  constructor(kind: Kind, port: number, delay: number, sendsRetryAfter: boolean) {
    this.kind = kind;
    this.port = port;
    this.sendsRetryAfter = sendsRetryAfter;
    this.#delay = delay;
    this.told = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  get isSecure(): boolean {
    return this.kind === 'https' || this.kind === 'h2';
  }

  /** tell reports that the process signal is being sent now. */
  tell(): void {
    this.#toldAt = performance.now();
    this.#resolve();
  }

  get isTold(): boolean {
    return this.#toldAt < Infinity;
  }

  /** Whether NotAcceptingNewRequest may have fired. It does not fire before the end of the delay. */
  get mayRefuse(): boolean {
    return performance.now() >= this.#toldAt + this.#delay;
  }

  /** Whether readiness must fail by now, even if the event loop was blocked at the signal. */
  get mustBeRed(): boolean {
    return performance.now() >= this.#toldAt + 500;
  }

  /** refuse counts a refused request or connection. It is a failure before NotAcceptingNewRequest. */
  refuse(what: string): void {
    this.refused++;
    if (!this.mayRefuse) this.fail(`${what} refused before NotAcceptingNewRequest`);
  }

  /**
   * refuseStream counts a refused stream. Over TLS, the server refuses only a stream that crosses the only GOAWAY. In
   * clear text, the first GOAWAY names no stream, and only Node's client refuses a stream that it has not sent.
   */
  refuseStream(what: string, isAnnounced: boolean): void {
    const isKeptBack = this.kind === 'h2c' ? isAnnounced : ++this.#crossed <= mostCrossed;
    if (this.mayRefuse || !isKeptBack) this.refuse(what);
    else this.refused++;
  }

  fail(what: string): void {
    this.failures.push(
      `${what}, ${this.isTold ? `${String(Math.round(performance.now() - this.#toldAt))} ms after` : 'before'} the signal`,
    );
  }

  /** reset records a connection that ended without a byte. It counts as refused if the server never accepted it. */
  reset(port: number, what: string): void {
    this.resets.push({ port, what });
    if (!this.mayRefuse) this.fail(`${what} reset before NotAcceptingNewRequest`);
  }

  /** judgeResets reports a failure for each reset connection that the server had accepted. */
  judgeResets(accepted: readonly number[]): void {
    for (const { port, what } of this.resets) {
      if (accepted.includes(port)) this.failures.push(`${what}: an accepted connection was reset`);
      else this.refused++;
    }
  }
}

/** Random returns numbers from 0 to 1. */
export type Random = () => number;

/** between returns a random integer. */
export function between(random: Random, least: number, most: number): number {
  return least + Math.floor(random() * (most - least + 1));
}

export function oneOf<Value>(random: Random, values: readonly Value[]): Value {
  return values[Math.floor(random() * values.length)] as Value;
}

/** pause waits for a random number of milliseconds. */
export async function pause(random: Random, least: number, most: number): Promise<void> {
  await setTimeout(between(random, least, most));
}
