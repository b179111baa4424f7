// One look at a lifecycle, for all metrics of a scrape: what is in flight now, and what a shutdown would take.
import type { Request } from '../../message.ts';
import type { ElectorCounts, TrafficCounts } from '../../observer.ts';
import type { Budget } from '../../settings/budget.ts';
import type { Settings } from '../../settings/table.ts';
import type { Events } from './events.ts';
import { predict, type Prediction } from './prediction.ts';
import { methodLabel, type RequestDurations } from './request-durations.ts';

// Nearly all requests.
const usualShare = 0.99;

/** Counted is one request that a lifecycle counts. */
interface Counted {
  readonly state: { readonly is: string };
  readonly request: Request;
  readonly arrivedAt: number;
}

/** Watched is what metrics read of a lifecycle. */
export interface Watched {
  readonly budget: () => Budget;
  readonly electors: readonly (() => ElectorCounts)[];
  /** The route of a request; it does not throw. */
  readonly route: ((request: Request) => string | undefined) | undefined;
  readonly handle: { readonly ended: Promise<{ readonly durationMs: number }> };
  readonly hooks: { readonly longestPreShutdown: number };
  readonly shutdown: { readonly deadlines: { readonly drainBy: number; readonly endBy: number } | undefined };
  readonly traffic: {
    readonly counts: TrafficCounts;
    readonly connections: Iterable<{ readonly exchanges: readonly Counted[] }>;
    readonly connectionsAccepted: number;
    readonly requests: { readonly inFlight: { readonly answered: number; readonly refused: number } };
    readonly overload: { readonly requestsRejected: number; readonly requestsTimedOut: number } | undefined;
    recognize(): void | Promise<void>;
  };
}

/** Reading is what was seen, in milliseconds. */
export interface Reading {
  readonly counts: TrafficCounts;
  /** Requests in flight by the label of their method. */
  readonly active: ReadonlyMap<string, number>;
  readonly budget: number;
  readonly drainBudget: number;
  /** Undefined unless a shutdown runs. */
  readonly remaining: number | undefined;
  readonly prediction: Prediction;
}

/** ReadingOptions is what a reading is taken from, beside the lifecycle itself. */
export interface ReadingOptions {
  readonly now: () => number;
  readonly settings: Settings;
  readonly events: Events;
  readonly durations: RequestDurations;
  /** How long the shutdown took, once it has ended. */
  readonly tookMs: number | undefined;
}

/** read looks at a lifecycle, once it is clear which of its requests are event streams. */
export async function read(watched: Watched, options: ReadingOptions): Promise<Reading> {
  const { traffic, hooks, shutdown } = watched;
  const { settings, events, durations, tookMs } = options;
  await traffic.recognize();
  const now = options.now();
  // A method that is seen no more has none in flight, and does not vanish.
  const active = new Map([...durations.methods()].map((method) => [method, 0]));
  let oldest = 0;
  for (const { request, arrivedAt } of inFlight(traffic)) {
    const method = methodLabel(request.method);
    active.set(method, (active.get(method) ?? 0) + 1);
    oldest = Math.max(oldest, now - arrivedAt);
  }
  const { counts } = traffic;
  const planned = watched.budget();
  const { deadlines } = shutdown;
  const since = events.shutdownAt ?? now;
  const budget = deadlines === undefined ? planned.total : deadlines.endBy - since;
  const hasFired = (name: Parameters<typeof events.phases.has>[0]): boolean => events.phases.has(name);
  const prediction = predict({
    budget,
    drainEnd: deadlines === undefined ? planned.total - settings.destroyHookTimeout : deadlines.drainBy - since,
    // A process that has never been ready skips the delay.
    delay: hasFired('HasBeenReady') ? settings.shutdownDelayDuration : 0,
    longestHook: hooks.longestPreShutdown,
    elapsed: events.shutdownAt === undefined ? undefined : now - since,
    haveHooksStopped: hasFired('PreShutdownHooksStopped'),
    isDraining: hasFired('NotAcceptingNewRequest'),
    isDrained: hasFired('InFlightRequestsDrained'),
    requestsInFlight: counts.requestsInFlight,
    oldest,
    usual: durations.quantile(usualShare),
    longRunningRequests: counts.longRunningRequests,
    grace: settings.shutdownWatchTerminationGracePeriod,
  });
  return {
    counts,
    active,
    budget,
    drainBudget: Math.max(0, planned.drain - (planned.total - budget)),
    remaining: deadlines === undefined ? undefined : Math.max(0, deadlines.endBy - now),
    prediction: tookMs === undefined ? prediction : { duration: tookMs, isOverrun: tookMs > budget },
  };
}

function* inFlight({ connections }: Watched['traffic']): Generator<Counted> {
  for (const { exchanges } of connections) for (const one of exchanges) if (one.state.is === 'serving') yield one;
}
