// Reads a lifecycle once for all metrics of a scrape: the requests in flight, and the expected duration of a shutdown.
import type { HttpRequest } from '../../message.ts';
import type { ElectorCounts, TrafficCounts } from '../../observer.ts';
import type { Budget } from '../../settings/budget.ts';
import type { Settings } from '../../settings/table.ts';
import type { Events } from './events.ts';
import { predict, type Prediction } from './prediction.ts';
import { methodLabel, type RequestMetrics } from './request-metrics.ts';

// The prediction uses a duration within which this share of the recent requests has ended.
const usualShare = 0.99;

/** Counted is a request that a lifecycle counts. */
interface Counted {
  readonly state: { readonly is: string };
  readonly request: HttpRequest;
  readonly arrivedAt: number;
}

/** Watched is the part of a lifecycle that the metrics read. */
export interface Watched {
  readonly budget: () => Budget;
  readonly electors: readonly (() => ElectorCounts)[];
  /** route returns the route of a request. It must not throw. */
  readonly route: ((request: HttpRequest) => string | undefined) | undefined;
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

/** Reading contains the values of one scrape. Times are in milliseconds. */
export interface Reading {
  readonly counts: TrafficCounts;
  /** active contains the number of requests in flight for the label of each method. */
  readonly active: ReadonlyMap<string, number>;
  readonly budget: number;
  readonly drainBudget: number;
  /** remaining is the rest of the shutdown budget. It is undefined unless a shutdown is in progress. */
  readonly remaining: number | undefined;
  readonly prediction: Prediction;
}

/** ReadingOptions are the sources of a reading besides the lifecycle itself. */
export interface ReadingOptions {
  readonly now: () => number;
  readonly settings: Settings;
  readonly events: Events;
  readonly durations: RequestMetrics;
  /** tookMs is the duration of the shutdown. It is undefined until the shutdown has ended. */
  readonly tookMs: number | undefined;
}

/** read reads a lifecycle, after it has recognized the event streams among the requests in flight. */
export async function read(watched: Watched, options: ReadingOptions): Promise<Reading> {
  const { traffic, hooks, shutdown } = watched;
  const { settings, events, durations, tookMs } = options;
  await traffic.recognize();
  const now = options.now();
  // Start with 0 for each method that has occurred, so that a series does not disappear when its requests have ended.
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
    // If the process has never been ready, its shutdown skips the delay.
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
