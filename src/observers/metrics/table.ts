// The table of all metrics. lameduck creates the metrics from it, and a script creates docs/metrics.md from it.
import type { MetricRow } from './registry-metric.ts';

/**
 * metricsTable contains the metrics that lameduck serves at `metricsPath` and adds to the program's own metrics
 * registry.
 */
export const metricsTable = {
  http_server_request_duration_seconds: {
    type: 'histogram',
    labels: ['http_request_method', 'http_response_status_code', 'http_route'],
    help: 'Duration of requests, from their headers to the end of their response. Excludes probes, scrapes and long-running requests.',
  },
  http_server_active_requests: {
    type: 'gauge',
    labels: ['http_request_method'],
    help: 'Requests whose response is not complete yet. Excludes probes, scrapes and long-running requests.',
  },
  lameduck_long_running_requests: {
    type: 'gauge',
    labels: [],
    help: 'Open event streams, watches, upgraded sockets and other long-running requests.',
  },
  lameduck_long_running_requests_ended_total: {
    type: 'counter',
    labels: [],
    help: 'Long-running requests that have ended, on their own or because of a shutdown.',
  },
  lameduck_requests_folded_total: {
    type: 'counter',
    labels: [],
    help: 'Requests whose route is _OTHER in http_server_request_duration_seconds, because maxMetricSeries has been reached.',
  },
  lameduck_requests_aborted_total: {
    type: 'counter',
    labels: [],
    help: 'Requests whose connection closed before their response was complete. Excludes long-running requests.',
  },
  lameduck_requests_rejected_total: {
    type: 'counter',
    labels: [],
    help: 'Requests answered with 429 because maxRequestsInflight requests were in flight. Excludes requests that a shutdown rejected.',
  },
  lameduck_requests_timed_out_total: {
    type: 'counter',
    labels: [],
    help: 'Requests that were answered with 504 or cut because requestTimeout had passed.',
  },
  lameduck_connections: {
    type: 'gauge',
    labels: [],
    help: 'Open connections of the servers.',
  },
  lameduck_connections_accepted_total: {
    type: 'counter',
    labels: [],
    help: 'Connections that the servers have accepted since the process started.',
  },
  lameduck_lifecycle_signal: {
    type: 'gauge',
    labels: ['signal'],
    aggregator: 'min',
    help: '1 if the lifecycle signal has fired, otherwise 0. The label signal has its name.',
  },
  lameduck_lifecycle_phase_duration_seconds: {
    type: 'gauge',
    labels: ['signal'],
    aggregator: 'max',
    help: 'Time between a lifecycle signal and the previous lifecycle signal.',
  },
  lameduck_hook_duration_seconds: {
    type: 'gauge',
    labels: ['kind', 'name'],
    aggregator: 'max',
    help: 'How long a hook ran until it succeeded, failed or timed out.',
  },
  lameduck_hook_failures_total: {
    type: 'counter',
    labels: ['kind'],
    help: 'Hooks that have thrown, rejected or timed out.',
  },
  lameduck_shutdown_requests_total: {
    type: 'counter',
    labels: ['outcome'],
    help: 'Requests since ShutdownInitiated by outcome: answered, refused with 429, or cut because the time for the drain was over.',
  },
  lameduck_shutdown_budget_seconds: {
    type: 'gauge',
    labels: [],
    aggregator: 'min',
    help: 'The shutdown budget: the longest time from the process signal to the exit.',
  },
  lameduck_shutdown_drain_budget_seconds: {
    type: 'gauge',
    labels: [],
    aggregator: 'min',
    help: 'The part of the shutdown budget for requests in flight, after the delay and the pre-shutdown hooks and before the destroy hooks.',
  },
  lameduck_shutdown_remaining_seconds: {
    type: 'gauge',
    labels: [],
    aggregator: 'min',
    help: 'Time that is left of the shutdown budget. Present only during a shutdown.',
  },
  lameduck_shutdown_predicted_seconds: {
    type: 'gauge',
    labels: [],
    aggregator: 'max',
    help: 'Expected duration of the shutdown in progress, or of a shutdown that would begin now.',
  },
  lameduck_shutdown_overrun_predicted: {
    type: 'gauge',
    labels: [],
    aggregator: 'max',
    help: '1 if a shutdown is expected to cut requests for lack of time, otherwise 0. Applies to the shutdown in progress, or else to a shutdown that would begin now.',
  },
  lameduck_event_loop_active_seconds_total: {
    type: 'counter',
    labels: [],
    help: 'Time that the event loop has been busy since the start. The rate of this counter is the utilization, from 0 to 1.',
  },
  lameduck_event_loop_delay_seconds_total: {
    type: 'counter',
    labels: [],
    help: 'Sum of the delays with which a timer in the event loop fired, in seconds. The timer is due ten times per second, or twice per second while there are no requests. Present only if probePort is set.',
  },
  lameduck_event_loop_stalls_total: {
    type: 'counter',
    labels: [],
    help: 'Number of times that the event loop was blocked for longer than readyzEventLoopStallLimit. Present only if probePort is set.',
  },
  lameduck_event_loop_stalled_seconds_total: {
    type: 'counter',
    labels: [],
    help: 'Total time of the stalls that lameduck_event_loop_stalls_total counts. Present only if probePort is set.',
  },
  lameduck_audit_events_dropped_total: {
    type: 'counter',
    labels: [],
    help: 'Audit events that were dropped because the queue was full. Present only if auditLogPath is set.',
  },
  leader_election_master_status: {
    type: 'gauge',
    labels: ['name'],
    aggregator: 'max',
    help: '1 if the elector is the leader, otherwise 0. The label "name" contains the name of the Lease.',
  },
  leader_election_slowpath_total: {
    type: 'counter',
    labels: ['name'],
    help: 'Renewals of the Lease whose first PUT the API server rejected with 409 or 404. The elector then had to send a GET. The label "name" contains the name of the Lease.',
  },
  lameduck_leader_election_attempt_duration_seconds: {
    type: 'gauge',
    labels: ['name'],
    aggregator: 'max',
    help: 'Duration of the last request of an elector to the API server.',
  },
  lameduck_leader_election_renewal_age_seconds: {
    type: 'gauge',
    labels: ['name'],
    aggregator: 'max',
    help: 'Time since the leader sent the last renewal that the API server has acknowledged. Present only on the leader.',
  },
  lameduck_previous_run_info: {
    type: 'gauge',
    labels: ['outcome', 'phase'],
    aggregator: 'first',
    help: 'Always 1. The label outcome says how the previous run ended: clean, failed, killed, never_ready, none or unknown. The label phase is the last lifecycle signal of the previous run. Present only if checkpointPath is set.',
  },
  lameduck_build_info: {
    type: 'gauge',
    labels: ['version'],
    aggregator: 'first',
    help: 'Always 1. The label contains the version of lameduck.',
  },
} as const satisfies Record<string, MetricRow>;

/** healthMetricsTable contains the metrics of the health checks, with the apiserver's names and help texts. */
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

/**
 * slisTable contains the metrics that the path `/slis` serves in addition to the metrics of the health checks. They are
 * not in `metricsTable`, because `metricsPath` may serve the program's own registry, which already has these metrics
 * (A-182).
 */
export const slisTable = {
  process_start_time_seconds: {
    type: 'gauge',
    labels: [],
    aggregator: 'first',
    help: '[ALPHA] Start time of the process since unix epoch in seconds.',
  },
} as const satisfies Record<string, MetricRow>;

/** metricNames are the names of all metrics that lameduck registers in the program's own metrics registry. */
export const metricNames: readonly string[] = [...Object.keys(metricsTable), ...Object.keys(healthMetricsTable)];
