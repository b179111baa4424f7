// The functions that collect the samples of each metric at a scrape. There is one function for each row of the metrics
// table.
import { performance } from 'node:perf_hooks';
import { signalNames } from '../../lifecycle/graph.ts';
import type { ElectorCounts, PreviousRun } from '../../observer.ts';
import { version } from '../../version.ts';
import type { EventCounters } from './event-counters.ts';
import type { Sample } from './registry-metric.ts';
import type { ScrapeSnapshot, Watched } from './scrape-snapshot.ts';
import type { RequestCounters } from './request-counters.ts';
import type { healthMetricsTable, metricsTable, slisTable } from './table.ts';

/** Collectors contains for each metric the function that collects its samples. */
export type Collectors<Name extends string> = Readonly<
  Record<Name, () => readonly Sample[] | Promise<readonly Sample[]>>
>;

/**
 * EventLoopCounts contains the delays and the stalls of the event loop since the start of the process. Times are in
 * milliseconds.
 */
export interface EventLoopCounts {
  /** lateMs is the total time by which the heartbeats of the main thread were late, in milliseconds. */
  readonly lateMs: number;
  readonly stalls: number;
  readonly stalledMs: number;
}

/** CollectorsOptions contains the functions and counters from which the metrics are read at a scrape. */
export interface CollectorsOptions {
  readonly events: EventCounters;
  readonly requests: RequestCounters;
  readonly traffic: () => Watched['traffic'];
  readonly electors: () => Watched['electors'];
  readonly snapshot: () => Promise<ScrapeSnapshot>;
  readonly eventLoop: (() => EventLoopCounts) | undefined;
  readonly auditDropped: (() => number) | undefined;
  /**
   * previousRun returns how the previous run of the container ended. It returns undefined if no `checkpointPath` is
   * set.
   */
  readonly previousRun: () => PreviousRun | undefined;
}

/** metricsCollectors returns the functions that collect the metrics at `metricsPath`. */
export function metricsCollectors(options: CollectorsOptions): Collectors<keyof typeof metricsTable> {
  const { requests, events, traffic, snapshot, auditDropped, previousRun } = options;
  return {
    http_server_request_duration_seconds: () => requests.samples('http_server_request_duration_seconds'),
    http_server_active_requests: async () => activeRequests(await snapshot()),
    lameduck_long_running_requests: async () => [plain((await snapshot()).counts.longRunningRequests)],
    lameduck_long_running_requests_ended_total: () => [plain(requests.longRunningEnded)],
    lameduck_requests_folded_total: () => [plain(requests.folded)],
    lameduck_requests_aborted_total: () => [plain(requests.aborted)],
    lameduck_requests_rejected_total: () => [plain(traffic().requests.inFlight.totals.rejected)],
    lameduck_requests_timed_out_total: () => [plain(traffic().requests.inFlight.totals.timedOut)],
    lameduck_connections: () => [plain(traffic().counts.connections)],
    lameduck_connections_accepted_total: () => [plain(traffic().connectionsAccepted)],
    ...lifecycleCollectors(options),
    ...eventLoopCollectors(options),
    ...electorCollectors(options),
    lameduck_shutdown_requests_total: () => [
      { labels: { outcome: 'answered' }, value: traffic().requests.inFlight.totals.answered },
      { labels: { outcome: 'refused' }, value: traffic().requests.inFlight.totals.refused },
      { labels: { outcome: 'cut' }, value: events.requestsCut },
    ],
    lameduck_audit_events_dropped_total: () => (auditDropped === undefined ? [] : [plain(auditDropped())]),
    lameduck_previous_run_info: () => infosOf(previousRun()),
    lameduck_build_info: () => [{ labels: { version }, value: 1 }],
  };
}

type EventLoopName = Extract<keyof typeof metricsTable, `lameduck_event_loop_${string}`>;

function eventLoopCollectors({ eventLoop }: CollectorsOptions): Collectors<EventLoopName> {
  const counted = (count: (counts: EventLoopCounts) => number) => () =>
    eventLoop === undefined ? [] : [plain(count(eventLoop()))];
  return {
    lameduck_event_loop_active_seconds_total: () => [plain(seconds(performance.eventLoopUtilization().active))],
    lameduck_event_loop_delay_seconds_total: counted(({ lateMs }) => seconds(lateMs)),
    lameduck_event_loop_stalls_total: counted(({ stalls }) => stalls),
    lameduck_event_loop_stalled_seconds_total: counted(({ stalledMs }) => seconds(stalledMs)),
  };
}

type ElectorName = Extract<keyof typeof metricsTable, `${string}leader_election_${string}`>;

function electorCollectors({ electors }: CollectorsOptions): Collectors<ElectorName> {
  const each = (value: (counts: ElectorCounts) => number | undefined) => () =>
    electors().flatMap((countsOf) => {
      const counts = countsOf();
      const read = value(counts);
      return read === undefined ? [] : [{ labels: { name: counts.name }, value: read }];
    });
  const inSeconds = (duration: number | undefined): number | undefined =>
    duration === undefined ? undefined : seconds(duration);
  return {
    leader_election_master_status: each(({ isLeader }) => (isLeader ? 1 : 0)),
    leader_election_slowpath_total: each(({ slowpaths }) => slowpaths),
    lameduck_leader_election_attempt_duration_seconds: each(({ attemptMs }) => inSeconds(attemptMs)),
    lameduck_leader_election_renewal_age_seconds: each(({ renewalAgeMs }) => inSeconds(renewalAgeMs)),
  };
}

type LifecycleName = Extract<keyof typeof metricsTable, `lameduck_${'lifecycle' | 'hook' | 'shutdown'}_${string}`>;

function lifecycleCollectors({
  events,
  snapshot,
}: CollectorsOptions): Collectors<Exclude<LifecycleName, 'lameduck_shutdown_requests_total'>> {
  return {
    lameduck_lifecycle_signal: () =>
      signalNames.map((signal) => ({ labels: { signal }, value: events.phases.has(signal) ? 1 : 0 })),
    lameduck_lifecycle_phase_duration_seconds: () =>
      [...events.phases].map(([signal, phase]) => ({ labels: { signal }, value: seconds(phase) })),
    lameduck_hook_duration_seconds: () =>
      events.hooks.map(({ kind, name, durationMs }) => ({ labels: { kind, name }, value: seconds(durationMs) })),
    lameduck_hook_failures_total: () =>
      Object.entries(events.hookFailures).map(([kind, value]) => ({ labels: { kind }, value })),
    lameduck_shutdown_budget_seconds: async () => [plain(seconds((await snapshot()).budget))],
    lameduck_shutdown_drain_budget_seconds: async () => [plain(seconds((await snapshot()).drainBudget))],
    lameduck_shutdown_remaining_seconds: async () => {
      const { remaining } = await snapshot();
      return remaining === undefined ? [] : [plain(seconds(remaining))];
    },
    lameduck_shutdown_predicted_seconds: async () => [plain(seconds((await snapshot()).prediction.duration))],
    lameduck_shutdown_overrun_predicted: async () => [plain((await snapshot()).prediction.isOverrun ? 1 : 0)],
  };
}

/** healthCollectors returns the functions that collect the metrics of the health checks. */
export function healthCollectors({ checks }: EventCounters): Collectors<keyof typeof healthMetricsTable> {
  return {
    kubernetes_healthcheck: () =>
      [...checks.values()].map(({ endpoint, check, hasPassed }) => ({
        labels: { name: check, type: endpoint },
        value: hasPassed ? 1 : 0,
      })),
    kubernetes_healthchecks_total: () =>
      [...checks.values()].flatMap(({ endpoint, check, ...results }) =>
        (['error', 'success'] as const)
          .filter((status) => results[status] > 0)
          .map((status) => ({ labels: { name: check, status, type: endpoint }, value: results[status] })),
      ),
  };
}

/**
 * slisCollectors contains the collector functions of the metrics that the path `/slis` serves and `/metrics` does not.
 */
export const slisCollectors: Collectors<keyof typeof slisTable> = {
  process_start_time_seconds: () => [plain(seconds(performance.timeOrigin))],
};

function activeRequests({ active }: ScrapeSnapshot): Sample[] {
  return [...active].map(([method, value]) => ({ labels: { http_request_method: method }, value }));
}

function infosOf(run: PreviousRun | undefined): Sample[] {
  return run === undefined ? [] : [{ labels: { outcome: run.outcome, phase: run.phase }, value: 1 }];
}

function plain(value: number): Sample {
  return { labels: {}, value };
}

function seconds(milliseconds: number): number {
  return Math.round(milliseconds) / 1_000;
}
