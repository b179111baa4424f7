// The state of one round of the simulation, which all simulated clients of this round share. It has the server, the
// time of the process signal, and the results of the requests.
import { setTimeout } from 'node:timers/promises';

export const kinds = ['http', 'https', 'h2c', 'h2'] as const;
export type Kind = (typeof kinds)[number];

// How many refused streams per round the test accepts. A client that sends requests on a timer can send a stream just
// before the GOAWAY reaches it (P-043). Node's client also reports a stream as refused if it has not sent the stream
// yet.
const mostCrossed = 12;

/**
 * Reset is a connection that ended before the client received a byte. The server may never have accepted the connection
 * (P-018).
 */
export interface Reset {
  readonly port: number;
  readonly what: string;
}

/**
 * World describes the server of one round of the simulation, and collects the results of the requests to this server.
 */
export class World {
  answered = 0;
  refused = 0;
  readonly failures: string[] = [];
  readonly resets: Reset[] = [];
  readonly kind: Kind;
  readonly port: number;
  readonly sendsRetryAfter: boolean;
  /** A promise that resolves when the test sends the process signal to the server. */
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

  /** `tell()` stores the current time as the time of the process signal, and resolves the promise `told`. */
  tell(): void {
    this.#toldAt = performance.now();
    this.#resolve();
  }

  get isTold(): boolean {
    return this.#toldAt < Infinity;
  }

  /** True after the shutdown delay has passed. NotAcceptingNewRequest does not fire earlier. */
  get mayRefuse(): boolean {
    return performance.now() >= this.#toldAt + this.#delay;
  }

  /**
   * True from half a second after the process signal on. Then /readyz must fail, even if the event loop was blocked
   * when the signal arrived.
   */
  get mustBeRed(): boolean {
    return performance.now() >= this.#toldAt + 500;
  }

  /**
   * `refuse()` counts a refused request or connection. The server may refuse requests only after the lifecycle signal
   * NotAcceptingNewRequest. If the refusal is earlier, `refuse()` makes this round of the simulation fail.
   */
  refuse(what: string): void {
    this.refused++;
    if (!this.mayRefuse) this.fail(`${what} refused before NotAcceptingNewRequest`);
  }

  /**
   * refuseStream counts a refused stream. Over TLS, the server sends one GOAWAY, and refuses only streams that the
   * client sent before it received the GOAWAY. Without TLS, the server refuses no stream after its first GOAWAY. Node's
   * client itself then reports streams that it has not sent yet as refused.
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

  /**
   * `reset()` records a connection that ended before the client received a byte. If the server never accepted the
   * connection, `judgeResets()` counts the connection as refused.
   */
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

/** `between()` returns a random integer from `least` to `most`. */
export function between(random: Random, least: number, most: number): number {
  return least + Math.floor(random() * (most - least + 1));
}

export function oneOf<Value>(random: Random, values: readonly Value[]): Value {
  return values[Math.floor(random() * values.length)] as Value;
}

/** `pause()` waits for a random number of milliseconds. */
export async function pause(random: Random, least: number, most: number): Promise<void> {
  await setTimeout(between(random, least, most));
}
