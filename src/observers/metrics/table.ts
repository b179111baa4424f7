// The metrics: one row each. What is read at a scrape and `docs/metrics.md` both follow from this table.
import type { MetricRow } from './metric.ts';

/** metricsTable has one row for each metric that stands at `metricsPath`, and in a registry of the program's own. */
export const metricsTable = {
  http_server_request_duration_seconds: {
    type: 'histogram',
    labels: ['http_request_method', 'http_response_status_code', 'http_route'],
    help: 'How long requests took, from their headers to the end of their answer. Without probes, scrapes and long-running requests.',
  },
  http_server_active_requests: {
    type: 'gauge',
    labels: ['http_request_method'],
    help: 'Requests that have no complete answer yet. Without probes, scrapes and long-running requests.',
  },
  lameduck_long_running_requests: {
    type: 'gauge',
    labels: [],
    help: 'Event streams, watches, upgraded sockets and other long-running requests that are open.',
  },
  lameduck_long_running_requests_ended_total: {
    type: 'counter',
    labels: [],
    help: 'Long-running requests that have ended, told to or by themselves.',
  },
  lameduck_requests_folded_total: {
    type: 'counter',
    labels: [],
    help: 'Requests whose route is _OTHER in http_server_request_duration_seconds, because maxMetricSeries has been reached.',
  },
  lameduck_requests_aborted_total: {
    type: 'counter',
    labels: [],
    help: 'Requests whose connection was gone before their answer was complete, whoever ended it. Without long-running requests.',
  },
  lameduck_requests_rejected_total: {
    type: 'counter',
    labels: [],
    help: 'Requests answered with 429 because maxRequestsInflight were in flight. Those refused by a shutdown are not among them.',
  },
  lameduck_requests_timed_out_total: {
    type: 'counter',
    labels: [],
    help: 'Requests that were answered with 504, or cut, because requestTimeout had passed.',
  },
  lameduck_connections: {
    type: 'gauge',
    labels: [],
    help: 'Open connections.',
  },
  lameduck_connections_accepted_total: {
    type: 'counter',
    labels: [],
    help: 'Connections accepted since the start.',
  },
  lameduck_lifecycle_signal: {
    type: 'gauge',
    labels: ['signal'],
    aggregator: 'min',
    help: 'Whether a lifecycle signal has fired (1) or not (0).',
  },
  lameduck_lifecycle_phase_duration_seconds: {
    type: 'gauge',
    labels: ['signal'],
    aggregator: 'max',
    help: 'How long the phase took that a lifecycle signal has ended, since the signal before it.',
  },
  lameduck_hook_duration_seconds: {
    type: 'gauge',
    labels: ['kind', 'name'],
    aggregator: 'max',
    help: 'How long a hook took that has ended, failed or reached its limit.',
  },
  lameduck_hook_failures_total: {
    type: 'counter',
    labels: ['kind'],
    help: 'Hooks that threw, rejected, or had not ended at their limit.',
  },
  lameduck_shutdown_requests_total: {
    type: 'counter',
    labels: ['outcome'],
    help: 'Requests since ShutdownInitiated: answered, refused with 429 on a connection that came late, or cut without an answer when the time was up.',
  },
  lameduck_shutdown_budget_seconds: {
    type: 'gauge',
    labels: [],
    aggregator: 'min',
    help: 'How long a shutdown may take, from its process signal to its latest end.',
  },
  lameduck_shutdown_drain_budget_seconds: {
    type: 'gauge',
    labels: [],
    aggregator: 'min',
    help: 'What of the shutdown budget is left for requests in flight, behind the delay or the pre-shutdown hooks and ahead of the destroy hooks.',
  },
  lameduck_shutdown_remaining_seconds: {
    type: 'gauge',
    labels: [],
    aggregator: 'min',
    help: 'What is left of the shutdown budget. There only while a shutdown runs.',
  },
  lameduck_shutdown_predicted_seconds: {
    type: 'gauge',
    labels: [],
    aggregator: 'max',
    help: 'How long the shutdown that runs, or one that would begin now, is expected to take in all.',
  },
  lameduck_shutdown_overrun_predicted: {
    type: 'gauge',
    labels: [],
    aggregator: 'max',
    help: 'Whether that shutdown is expected to cut requests because its time is up (1) or not (0).',
  },
  lameduck_event_loop_active_seconds_total: {
    type: 'counter',
    labels: [],
    help: 'How long the event loop has been busy since the start; its rate is the utilisation, from 0 to 1.',
  },
  lameduck_event_loop_delay_seconds_total: {
    type: 'counter',
    labels: [],
    help: 'By how much timers came late in all, of those that fire ten times a second. There only with a probePort.',
  },
  lameduck_event_loop_stalls_total: {
    type: 'counter',
    labels: [],
    help: 'Times that the event loop was blocked for longer than readyzEventLoopStallLimit. There only with a probePort.',
  },
  lameduck_event_loop_stalled_seconds_total: {
    type: 'counter',
    labels: [],
    help: 'How long the event loop was blocked in all those times. There only with a probePort.',
  },
  lameduck_audit_events_dropped_total: {
    type: 'counter',
    labels: [],
    help: 'Events that are missing in the audit log, because its queue was full. There only with an auditLogPath.',
  },
  leader_election_master_status: {
    type: 'gauge',
    labels: ['name'],
    aggregator: 'max',
    help: 'Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master. "name" is the string used to identify the lease.',
  },
  leader_election_slowpath_total: {
    type: 'counter',
    labels: ['name'],
    help: 'Total number of slow path exercised in renewing leader leases. "name" is the string used to identify the lease.',
  },
  lameduck_leader_election_attempt_duration_seconds: {
    type: 'gauge',
    labels: ['name'],
    aggregator: 'max',
    help: 'How long the last request of an elector took.',
  },
  lameduck_leader_election_renewal_age_seconds: {
    type: 'gauge',
    labels: ['name'],
    aggregator: 'max',
    help: 'How long ago the last acknowledged renewal was sent. There only on the leader.',
  },
  lameduck_previous_run_info: {
    type: 'gauge',
    labels: ['outcome', 'phase'],
    aggregator: 'first',
    help: 'Always 1; outcome says how the previous run ended: clean, failed, killed (in that phase), never_ready, none or unknown. There only with a checkpointPath.',
  },
  lameduck_build_info: {
    type: 'gauge',
    labels: ['version'],
    aggregator: 'first',
    help: 'Always 1; the label is the version of lameduck.',
  },
} as const satisfies Record<string, MetricRow>;

/** healthMetricsTable has those of the health checks, as the apiserver names and describes them. */
export const healthMetricsTable = {
  kubernetes_healthcheck: {
    type: 'gauge',
    labels: ['name', 'type'],
    aggregator: 'min',
    help: '[STABLE] This metric records the result of a single healthcheck.',
  },
  kubernetes_healthchecks_total: {
    type: 'counter',
    labels: ['name', 'status', 'type'],
    help: '[STABLE] This metric records the results of all healthcheck.',
  },
} as const satisfies Record<string, MetricRow>;

/** slisTable has what stands beside them at `/slis` only, since a registry of the program's own has it already. */
export const slisTable = {
  process_start_time_seconds: {
    type: 'gauge',
    labels: [],
    aggregator: 'first',
    help: '[ALPHA] Start time of the process since unix epoch in seconds.',
  },
} as const satisfies Record<string, MetricRow>;

/** metricNames are those of all metrics that are registered in a registry of the program's own. */
export const metricNames: readonly string[] = [...Object.keys(metricsTable), ...Object.keys(healthMetricsTable)];
