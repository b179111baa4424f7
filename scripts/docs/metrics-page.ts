// The page of metrics.
import { healthMetricsTable, metricsTable, slisTable } from '../../src/observers/metrics/table.ts';
import type { MetricRow } from '../../src/observers/metrics/metric.ts';

/** metricsPage says how metrics are had, what each means, and what to ask of them. */
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
  return ['| metric | type | labels | says |', '| --- | --- | --- | --- |', ...rows];
}

const opening = [
  '# Metrics',
  '',
  'Written by `npm run docs` from `src/observers/metrics/table.ts` and `scripts/docs/metrics-page.ts`: do not edit it.',
  '',
  'See your requests and your health checks in Prometheus, and learn that a pod cannot end cleanly before it has to.',
  '',
  'Metrics are off, and cost nothing, until you ask for them in one of these ways.',
  '',
  '**You have no metrics yet.** Set `metricsPath`, or `LAMEDUCK_METRICS_PATH=/metrics`. The servers then answer GET and',
  'HEAD at that path with everything below and with what [prom-client](https://github.com/siimon/prom-client) tells of the',
  'process: event loop delay, garbage collection, heap, CPU. It is loaded at the first scrape, which takes some 0.1 s',
  'longer for it, and not before. That path and `/slis` below it are lameduck’s then: a route that your program has there is',
  'not reached any more, and a method other than GET and HEAD is a 405. What else is below the path stays your program’s.',
  '',
  '**You have a [probe port](health.md#the-probe-port).** There they are at `/metrics`, whatever `metricsPath` says.',
  '',
  '**You have a registry of prom-client.** Give it as `registry`: all metrics are registered in it at once, those of the',
  'health checks too, and you go on serving or pushing it yourself. With `metricsPath` set as well, that path serves your',
  'registry. A registry takes the metrics of one lifecycle at a time, and gives them back when that has ended; a name that',
  'is taken refuses to start. `registry` is anything with `registerMetric(metric)`: `metric` has `name`, `help`, `type` and',
  'an asynchronous `get()`.',
  '',
  '```ts',
  "import { register } from 'prom-client';",
  '',
  'lameduck(server, { registry: register, route: (request) => routeOf(request) });',
  '```',
  '',
  'A scrape is answered like a probe: it is no request, no limit rejects it, and during a shutdown it is answered for as',
  'long as there is a connection to ask on. Metrics that cannot be served are a 500, with the reason once in the log.',
  '',
  '### In a bundle',
  '',
  'prom-client is CommonJS, which esbuild cannot put into a bundle of ECMAScript modules. Leave it out of such a bundle with',
  '`--external:prom-client`, and install it beside the bundle. A bundle of CommonJS needs nothing.',
];

const health = [
  '## Health checks',
  '',
  'These stand below the path, at `/metrics/slis` for example, as the apiserver serves them; a registry of your own has',
  'the first two. A check changes them when a probe asks for a whole endpoint and the check is run, so a value is as old as',
  'the last probe.',
];

const counting = [
  '## What is counted, and how',
  '',
  '- The names and buckets of the HTTP metrics are those of',
  '  [OpenTelemetry’s conventions](https://opentelemetry.io/docs/specs/semconv/http/http-metrics/), without `error_type` and',
  '  `url_scheme`. A method that those do not name is `_OTHER`.',
  '- A request whose connection was gone before any of its answer was sent has an empty status; one that was cut in the',
  '  middle has the status that was sent. Both are in `lameduck_requests_aborted_total`.',
  '- Probes, scrapes, and requests that lameduck has answered with 429 are in no duration: no handler saw them.',
  '- `http_route` is what `route(request)` returns when the request has ended, and with Fastify the route itself. It is',
  '  empty when nobody knows it, and never the path. Behind 2000 combinations of method, status and route, further routes',
  '  are `_OTHER`, and the log says so once.',
  '- Event streams, upgraded sockets and what `longRunning(request)` names are in no duration and not among the active',
  '  requests; they have a gauge of their own.',
  '- The prediction adds up the delay or the longest limit of a pre-shutdown hook, the drain, and in a shutdown what has',
  '  passed. The drain is expected to last as long as the oldest request in flight is old, and as 99 of 100 requests took',
  '  at most; long-running requests end at 200 a second or within `shutdownWatchTerminationGracePeriod`. Destroy hooks count',
  '  with what they took.',
  '- `DELETE` resets nothing.',
];

const asking = [
  '## What to ask',
  '',
  'A pod that has been unable to drain in its budget for five minutes, so that a rollout now would cut requests. Raise',
  '`terminationGracePeriodSeconds`, or find the slow route with the third query.',
  '',
  '```yaml',
  '- alert: ShutdownWouldCutRequests',
  '  expr: lameduck_shutdown_overrun_predicted == 1',
  '  for: 5m',
  '```',
  '',
  'A shutdown that is running out of time now, while somebody can still look at the pod. What was cut in the end can hardly',
  'be scraped; it is in the [final line](log.md#the-final-line) of the log.',
  '',
  '```yaml',
  '- alert: ShutdownRunsOutOfTime',
  '  expr: lameduck_shutdown_overrun_predicted == 1 and lameduck_shutdown_remaining_seconds < 10',
  '```',
  '',
  'The 99th percentile of each route, and the share of answers that are errors:',
  '',
  '```promql',
  'histogram_quantile(0.99, sum by (le, http_route) (rate(http_server_request_duration_seconds_bucket[5m])))',
  '',
  'sum(rate(http_server_request_duration_seconds_count{http_response_status_code=~"5.."}[5m]))',
  '  / sum(rate(http_server_request_duration_seconds_count[5m]))',
  '```',
  '',
  'How many pods have come how far, during a rollout. A signal stays at 1 once it has fired, so that a pod counts for each',
  'that it has passed, and the pods in a phase are the difference between the signal before it and the one that ends it:',
  '',
  '```promql',
  'sum by (signal) (lameduck_lifecycle_signal)',
  '```',
  '',
  'Checks that fail again and again although the pod recovers each time:',
  '',
  '```promql',
  'sum by (name, type) (increase(kubernetes_healthchecks_total{status="error"}[1h])) > 0',
  '```',
];
