// The page of metrics.
import { healthMetricsTable, metricsTable, slisTable } from '../../src/observers/metrics/table.ts';
import type { MetricRow } from '../../src/observers/metrics/metric.ts';

/** metricsPage returns the page: how to switch metrics on, what each means, and useful queries. */
export function metricsPage(): string {
  return [
    ...[...opening, '', ...tableOf(metricsTable), ''],
    ...[...health, '', ...tableOf({ ...healthMetricsTable, ...slisTable }), ''],
    ...[...counting, '', ...asking, ''],
  ].join('\n');
}

function tableOf(table: Readonly<Record<string, MetricRow>>): string[] {
  const rows = Object.entries(table).map(
    ([name, { type, labels, help }]) =>
      `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help.replaceAll('|', '\\|')} |`,
  );
  return ['| metric | type | labels | meaning |', '| --- | --- | --- | --- |', ...rows];
}

const opening = [
  '# Metrics',
  '',
  'Written by `npm run docs` from `src/observers/metrics/table.ts` and `scripts/docs/metrics-page.ts`: do not edit it.',
  '',
  'Metrics are off by default and cost nothing. Choose one of three ways to switch them on:',
  '',
  '| what you have               | what to set                                              | where the metrics are                |',
  '| --------------------------- | -------------------------------------------------------- | ------------------------------------ |',
  '| no metrics yet              | `metricsPath`, or `LAMEDUCK_METRICS_PATH=/metrics`        | at this path of your servers         |',
  '| a [probe port](health.md#the-probe-port) | nothing more                                | at `/metrics` of the probe port, whatever `metricsPath` is |',
  '| a registry of prom-client   | `registry`                                               | in your registry                     |',
  '',
  '**`metricsPath`**',
  '',
  '- The servers answer GET and HEAD at this path. Other methods get a 405.',
  '- The answer has all metrics of this page. It also has what [prom-client](https://github.com/siimon/prom-client) measures of the',
  '  process: event loop delay, garbage collection, heap, CPU.',
  '- The path, and `/slis` below it, belong to lameduck: a route of your program there gets no requests. Every other path below it',
  "  stays your program's.",
  '- prom-client is loaded at the first scrape, which takes about 0.1 s longer.',
  '',
  '**`registry`**',
  '',
  '```ts',
  "import { register } from 'prom-client';",
  '',
  'lameduck(server, { registry: register, route: (request) => routeOf(request) });',
  '```',
  '',
  '- All metrics are registered at once, with those of the health checks. You still serve or push the registry yourself. With',
  '  `metricsPath`, lameduck serves your registry at that path.',
  '- A registry holds the metrics of one lifecycle at a time. When that lifecycle has ended, they are removed. If a name is already in',
  '  use, the process exits with an error.',
  '- `registry` can be any object with `registerMetric(metric)`. `metric` has `name`, `help`, `type` and an asynchronous `get()`.',
  '',
  'A scrape is not a request: no limit rejects it. During a shutdown, scrapes are answered as long as there is a connection for them.',
  'If the metrics cannot be served, the answer is a 500, and the log has the reason once.',
  '',
  '## All metrics',
];

const health = [
  '## Health checks',
  '',
  'These metrics are below the path, for example at `/metrics/slis`, as in the apiserver. A registry of yours has the first two. They',
  'change when a probe requests a whole endpoint and the check runs. A value is therefore as old as the last probe.',
];

const counting = [
  '## What is counted, and how',
  '',
  '- **Names** of the HTTP metrics are those of',
  "  [OpenTelemetry's conventions](https://opentelemetry.io/docs/specs/semconv/http/http-metrics/), without `error_type` and",
  '  `url_scheme`. A method that is not in the conventions is `_OTHER`. The buckets are those of the conventions, and 15, 30, 60, 120',
  '  and 300 s, because the prediction needs buckets beyond the longest request. `requestDurationBuckets` replaces them.',
  '- **Status**: if the connection closed before any byte of the response was sent, the status is empty. If it closed later, the metric has',
  '  the status that was sent. `lameduck_requests_aborted_total` counts both.',
  '- **Durations** exclude probes, scrapes and requests that lameduck has answered with 429, because no handler received them.',
  '- **`http_route`** is what `route(request)` returns when the request has ended; with Fastify, it is the route. It is never the path. If',
  '  no route is known, it is empty. If the histogram has `maxMetricSeries` series (5000), further routes are `_OTHER`, and the log says',
  '  so once. `lameduck_requests_folded_total` counts these requests.',
  "- **A program with metrics from OpenTelemetry**: `httpMetrics: 'off'` removes the two HTTP metrics with names of OpenTelemetry.",
  '- **Long-running requests** (event streams, upgraded sockets, and what `longRunning(request)` selects) have a gauge of their own.',
  '  Durations and active requests exclude them.',
  '- **`DELETE`** resets nothing.',
  '',
  "The prediction of a shutdown's duration is the sum of these parts:",
  '',
  '- the delay, or the longest limit of a pre-shutdown hook',
  '- the drain: the age of the oldest request in flight, and at least the 99th percentile of the last 5 to 10 minutes.',
  '  Long-running requests end at 200 per second, or within `shutdownWatchTerminationGracePeriod`.',
  '- the destroy hooks, with the time that they took',
  '- during a shutdown, the time that has passed',
];

const asking = [
  '## Alerts and queries',
  '',
  '**A rollout now would cut requests.** This pod has been unable to drain within its budget for five minutes. Raise',
  '`terminationGracePeriodSeconds`, or find the slow route with the third query.',
  '',
  '```yaml',
  '- alert: ShutdownWouldCutRequests',
  '  expr: lameduck_shutdown_overrun_predicted == 1',
  '  for: 5m',
  '```',
  '',
  '**A running shutdown is about to cut requests.** The value is what was left of the budget at the last scrape. The alert stays',
  'for five minutes after the pod has gone, because a drain may last for only one or two scrapes. The',
  '[final line](log.md#the-final-line) of the log names the requests that were cut.',
  '',
  '```yaml',
  '- alert: ShutdownRunsOutOfTime',
  '  expr: min_over_time((lameduck_shutdown_remaining_seconds and lameduck_shutdown_overrun_predicted == 1)[5m:5s])',
  '```',
  '',
  'The chart has [more alerts](alerts.md).',
  '',
  '**The slow and the failing routes**: the 99th percentile of each route, and the share of responses that are errors.',
  '',
  '```promql',
  'histogram_quantile(0.99, sum by (le, http_route) (rate(http_server_request_duration_seconds_bucket[5m])))',
  '',
  'sum(rate(http_server_request_duration_seconds_count{http_response_status_code=~"5.."}[5m]))',
  '  / sum(rate(http_server_request_duration_seconds_count[5m]))',
  '```',
  '',
  '**The progress of a rollout**: how many pods have passed each signal. A signal stays at 1 after it has fired. To count the pods',
  'in a phase, subtract the value of its last signal from the value of its first signal.',
  '',
  '```promql',
  'sum by (signal) (lameduck_lifecycle_signal)',
  '```',
  '',
  '**Checks that fail repeatedly**, although the pod recovers each time:',
  '',
  '```promql',
  'sum by (name, type) (increase(kubernetes_healthchecks_total{status="error"}[1h])) > 0',
  '```',
];
