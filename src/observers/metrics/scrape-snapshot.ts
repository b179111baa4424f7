// Reads the state of a lifecycle once per scrape, for all metrics: the requests in flight, and the expected duration of
// a shutdown.
import type { HttpRequest } from '../../message.ts';
import type { ElectorCounts, TrafficCounts } from '../../observer.ts';
import type { Budget } from '../../settings/budget.ts';
import type { Settings } from '../../settings/table.ts';
import type { EventCounters } from './event-counters.ts';
import { predict, type Prediction } from './prediction.ts';
import { methodLabel, type RequestCounters } from './request-counters.ts';

// The prediction of a shutdown's duration uses the 99th percentile of the durations of recent requests. usualShare is
// this percentile as a fraction.
const usualShare = 0.99;

interface Counted {
  readonly state: { readonly is: string };
  readonly request: HttpRequest;
  readonly arrivedAt: number;
}

/** Watched contains the properties of a lifecycle from which the metrics are computed. */
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
    readonly requests: {
      readonly inFlight: {
        readonly totals: Readonly<Record<'answered' | 'refused' | 'rejected' | 'timedOut', number>>;
      };
    };
    recognize(): void | Promise<void>;
  };
}

/**
 * ScrapeSnapshot contains the values of a lifecycle that are read once per scrape and used by all metrics. Times are in
 * milliseconds.
 */
export interface ScrapeSnapshot {
  readonly counts: TrafficCounts;
  /** active contains the number of requests in flight for each HTTP method that has occurred. */
  readonly active: ReadonlyMap<string, number>;
  readonly budget: number;
  readonly drainBudget: number;
  /** remaining is the time that is left of the shutdown budget. It is undefined if no shutdown is in progress. */
  readonly remaining: number | undefined;
  readonly prediction: Prediction;
}

/** SnapshotOptions contains all values from which takeSnapshot computes a ScrapeSnapshot, except the lifecycle. */
export interface SnapshotOptions {
  readonly now: () => number;
  readonly settings: Settings;
  readonly events: EventCounters;
  readonly requests: RequestCounters;
  /** tookMs is the duration of the shutdown. It is undefined until the shutdown has ended. */
  readonly tookMs: number | undefined;
}

/**
 * takeSnapshot reads the state of a lifecycle. Before that, it recognizes the event streams among the requests in
 * flight.
 */
export async function takeSnapshot(watched: Watched, options: SnapshotOptions): Promise<ScrapeSnapshot> {
  const { traffic, hooks, shutdown } = watched;
  const { settings, events, requests, tookMs } = options;
  await traffic.recognize();
  const now = options.now();
  // Begin with the count 0 for each HTTP method that the program has received so far. Without this entry, the time
  // series of a method would disappear after the end of its last request.
  const active = new Map([...requests.methods()].map((method) => [method, 0]));
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
    // The shutdown of a process that has never been ready skips the shutdown delay.
    delay: hasFired('HasBeenReady') ? settings.shutdownDelayDuration : 0,
    longestHook: hooks.longestPreShutdown,
    elapsed: events.shutdownAt === undefined ? undefined : now - since,
    haveHooksStopped: hasFired('PreShutdownHooksStopped'),
    isDraining: hasFired('NotAcceptingNewRequest'),
    isDrained: hasFired('InFlightRequestsDrained'),
    requestsInFlight: counts.requestsInFlight,
    oldest,
    usual: requests.quantile(usualShare),
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
