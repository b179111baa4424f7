// The load of one scenario: starts and stops the client threads, sums their counts, and records the losses as events.
import { systemClock, withTimeout } from '../../clock.ts';
import { ClientThread } from './clients/client-thread.ts';
import type { Destination } from './endpoints.ts';
import type { EventLog } from './event-log.ts';
import {
  clientKinds,
  dividePlan,
  newTallies,
  type ClientKind,
  type LoadOptions,
  type LoadPlan,
  type Loss,
  type Tally,
} from './load.ts';

/**
 * longestLoopDelay is the longest event loop delay of a thread of the rehearsal that is tolerated, in milliseconds. With
 * a longer delay of the client thread, clients do not send on time, so the rehearsal gives no verdict.
 */
export const longestLoopDelay = 200;

/** longestStop is how long the clients still wait for responses after the pod has ended, in milliseconds. */
export const longestStop = 5_000;

// The maximum number of lost or refused requests of a scenario that get an event of their own, so that the events need
// little memory. Later requests of one report of the client thread share one event if their client and their error are
// equal. The client thread reports at regular intervals.
const mostLossEvents = 200;

function totalOf(tallies: Iterable<Tally>): Tally {
  const total: Tally = { sent: 0, answered: 0, lost: 0, refused: 0, failed: 0 };
  for (const tally of tallies) {
    for (const key of Object.keys(total) as (keyof Tally)[]) total[key] += tally[key];
  }
  return total;
}

/** ScenarioLoad is the load of one scenario. Each call of `start` adds client threads. */
export class ScenarioLoad {
  readonly #options: LoadOptions;
  readonly #log: EventLog;
  readonly #losses: LossEvents;
  readonly #started: ClientThread[] = [];
  #routes: readonly Destination[];

  constructor(options: LoadOptions, log: EventLog, routes: readonly Destination[]) {
    this.#options = options;
    this.#log = log;
    this.#losses = new LossEvents(log);
    this.#routes = routes;
  }

  get hasStarted(): boolean {
    return this.#started.length > 0;
  }

  /** tallies returns the request counts for each kind of client, summed over all client threads. */
  get tallies(): Record<ClientKind, Tally> {
    const sums = newTallies();
    for (const kind of clientKinds) sums[kind] = totalOf(this.#started.map(({ tallies }) => tallies[kind]));
    return sums;
  }

  /**
   * For each simulated node, `routes` contains the destination of the new connections that clients open on this node.
   */
  set routes(routes: readonly Destination[]) {
    this.#routes = routes;
    for (const thread of this.#started) thread.routes = routes;
  }

  /** `host` is the address to which the running clients connect from now on. */
  set host(host: string) {
    for (const thread of this.#started) thread.host = host;
  }

  /** start runs client threads that together send `factor` times the configured number of requests per second. */
  start(host: string, port: number, factor = 1): void {
    const { rate, seed } = this.#options;
    const plan = { ...this.#options, rate: rate * factor, seed: seed + this.#started.length, host, port };
    for (const part of dividePlan(plan)) this.#startThread(part);
    this.#log.add('loadStarted', { port, rate: plan.rate });
  }

  #startThread(plan: LoadPlan): void {
    const started = new ClientThread(plan, {
      onLoss: (loss) => {
        this.#losses.add(loss);
      },
      onReport: ({ loopDelayMs }) => {
        this.#losses.flush();
        const { tallies } = this;
        const { sent, answered, lost, refused } = totalOf(Object.values(tallies));
        const inFlight = this.#started.reduce((sum, thread) => sum + thread.inFlight, 0);
        // The kinds of clients of which at least one request was answered.
        const served = clientKinds.filter((kind) => tallies[kind].answered > 0).join(', ');
        this.#log.add('requests', { sent, answered, lost, refused, inFlight, served });
        if (loopDelayMs > longestLoopDelay) this.#log.add('loadDelayed', { delayMs: loopDelayMs });
      },
    });
    this.#started.push(started);
    started.routes = this.#routes;
  }

  /** stop lets the clients finish, for at most `longestStop`, and then stops their threads. */
  async stop(): Promise<void> {
    await withTimeout(systemClock, Promise.all(this.#started.map((thread) => thread.stop())), longestStop);
    await Promise.all(this.#started.map((thread) => thread.terminate()));
    if (this.hasStarted) this.#log.add('loadEnded');
  }
}

/** LossEvents records the lost and refused requests of a scenario in the event log. */
export class LossEvents {
  readonly #log: EventLog;
  readonly #pending = new Map<string, { readonly loss: Loss; count: number }>();
  #added = 0;

  constructor(log: EventLog) {
    this.#log = log;
  }

  add(loss: Loss): void {
    if (this.#added < mostLossEvents) {
      this.#added++;
      this.#addEvent(loss);
      return;
    }
    const key = [loss.outcome, loss.client, loss.why, loss.isUnanswered].join();
    const alike = this.#pending.get(key);
    if (alike === undefined) this.#pending.set(key, { loss, count: 1 });
    else alike.count++;
  }

  /**
   * flush is called at the end of each report of the client thread. It records the lost and refused requests for which
   * `add` has added no event. Requests with the same outcome, client and error become one event, which contains their
   * number.
   */
  flush(): void {
    for (const { loss, count } of this.#pending.values()) this.#addEvent(loss, count);
    this.#pending.clear();
  }

  #addEvent({ outcome, client, why, afterMs, isUnanswered }: Loss, count?: number): void {
    this.#log.add(outcome === 'lost' ? 'requestLost' : 'requestRefused', { client, why, afterMs, isUnanswered, count });
  }
}
