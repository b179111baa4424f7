// The functions that read the samples of each metric. There is one for each row of the metrics table.
import { performance } from 'node:perf_hooks';
import { signalNames } from '../../lifecycle/graph.ts';
import type { ElectorCounts, PreviousRun } from '../../observer.ts';
import { version } from '../../version.ts';
import type { Events } from './events.ts';
import type { Sample } from './metric.ts';
import type { Reading, Watched } from './reading.ts';
import type { RequestMetrics } from './request-metrics.ts';
import type { healthMetricsTable, metricsTable, slisTable } from './table.ts';

/** Readers contains for each metric the function that reads its samples. */
export type Readers<Name extends string> = Readonly<Record<Name, () => readonly Sample[] | Promise<readonly Sample[]>>>;

/** EventLoopCounts are totals since the start, measured by the heartbeat of the event loop, in milliseconds. */
export interface EventLoopCounts {
  /** lateMs is the sum of the delays of all heartbeats. */
  readonly lateMs: number;
  readonly stalls: number;
  readonly stalledMs: number;
}

/** ReadersOptions are the sources of the samples. */
export interface ReadersOptions {
  readonly events: Events;
  readonly durations: RequestMetrics;
  readonly traffic: () => Watched['traffic'];
  readonly electors: () => Watched['electors'];
  readonly look: () => Promise<Reading>;
  readonly eventLoop: (() => EventLoopCounts) | undefined;
  readonly auditDropped: (() => number) | undefined;
  /** previousRun returns how the previous run ended. It returns undefined without a checkpoint. */
  readonly previousRun: () => PreviousRun | undefined;
}

/** metricsReaders returns the readers of the metrics at `metricsPath`. */
export function metricsReaders(options: ReadersOptions): Readers<keyof typeof metricsTable> {
  const { durations, events, traffic, look, auditDropped, previousRun } = options;
  return {
    http_server_request_duration_seconds: () => durations.samples('http_server_request_duration_seconds'),
    http_server_active_requests: async () => activeRequests(await look()),
    lameduck_long_running_requests: async () => [plain((await look()).counts.longRunningRequests)],
    lameduck_long_running_requests_ended_total: () => [plain(durations.longRunningEnded)],
    lameduck_requests_folded_total: () => [plain(durations.folded)],
    lameduck_requests_aborted_total: () => [plain(durations.aborted)],
    lameduck_requests_rejected_total: () => [plain(traffic().overload?.requestsRejected ?? 0)],
    lameduck_requests_timed_out_total: () => [plain(traffic().overload?.requestsTimedOut ?? 0)],
    lameduck_connections: () => [plain(traffic().counts.connections)],
    lameduck_connections_accepted_total: () => [plain(traffic().connectionsAccepted)],
    ...lifecycleReaders(options),
    ...eventLoopReaders(options),
    ...electorReaders(options),
    lameduck_shutdown_requests_total: () => [
      { labels: { outcome: 'answered' }, value: traffic().requests.inFlight.answered },
      { labels: { outcome: 'refused' }, value: traffic().requests.inFlight.refused },
      { labels: { outcome: 'cut' }, value: events.requestsCut },
    ],
    lameduck_audit_events_dropped_total: () => (auditDropped === undefined ? [] : [plain(auditDropped())]),
    lameduck_previous_run_info: () => infosOf(previousRun()),
    lameduck_build_info: () => [{ labels: { version }, value: 1 }],
  };
}

type EventLoopName = Extract<keyof typeof metricsTable, `lameduck_event_loop_${string}`>;

function eventLoopReaders({ eventLoop }: ReadersOptions): Readers<EventLoopName> {
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

function electorReaders({ electors }: ReadersOptions): Readers<ElectorName> {
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

function lifecycleReaders({
  events,
  look,
}: ReadersOptions): Readers<Exclude<LifecycleName, 'lameduck_shutdown_requests_total'>> {
  return {
    lameduck_lifecycle_signal: () =>
      signalNames.map((signal) => ({ labels: { signal }, value: events.phases.has(signal) ? 1 : 0 })),
    lameduck_lifecycle_phase_duration_seconds: () =>
      [...events.phases].map(([signal, phase]) => ({ labels: { signal }, value: seconds(phase) })),
    lameduck_hook_duration_seconds: () =>
      events.hooks.map(({ kind, name, durationMs }) => ({ labels: { kind, name }, value: seconds(durationMs) })),
    lameduck_hook_failures_total: () =>
      Object.entries(events.hookFailures).map(([kind, value]) => ({ labels: { kind }, value })),
    lameduck_shutdown_budget_seconds: async () => [plain(seconds((await look()).budget))],
    lameduck_shutdown_drain_budget_seconds: async () => [plain(seconds((await look()).drainBudget))],
    lameduck_shutdown_remaining_seconds: async () => {
      const { remaining } = await look();
      return remaining === undefined ? [] : [plain(seconds(remaining))];
    },
    lameduck_shutdown_predicted_seconds: async () => [plain(seconds((await look()).prediction.duration))],
    lameduck_shutdown_overrun_predicted: async () => [plain((await look()).prediction.isOverrun ? 1 : 0)],
  };
}

/** healthReaders returns the readers of the health check metrics. */
export function healthReaders({ checks }: Events): Readers<keyof typeof healthMetricsTable> {
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

/** slisReaders returns the readers of the metrics that only `/slis` has. */
export const slisReaders: Readers<keyof typeof slisTable> = {
  process_start_time_seconds: () => [plain(seconds(performance.timeOrigin))],
};

function activeRequests({ active }: Reading): Sample[] {
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
