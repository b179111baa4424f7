// The settings of the metrics, which are a part of settingsTable.
import { formatDuration, type Duration } from './duration.ts';
import { choice, count, limit, path, type Kind } from './kinds.ts';
import { row } from './row.ts';

const durationsAllowed = 'at most 50 durations in ascending order, such as 100ms,1s,1m';

/** `durations` reads a list of ascending durations, in milliseconds. */
export const durations: Kind<readonly number[]> = {
  name: 'durations',
  fromText(text) {
    return this.fromCode(text.split(',').map((one) => one.trim()));
  },
  fromCode(given) {
    if (typeof given === 'string') return this.fromText(given);
    // Copy the list, because `map` skips missing elements of a sparse array. In the copy, these elements are undefined.
    const readings = (Array.isArray(given) ? [...(given as unknown[])] : []).map((one) => limit.fromCode(one));
    const all = readings.flatMap((reading) => ('value' in reading ? [reading.value] : []));
    const isAscending = all.every((one, index) => index === 0 || one > (all[index - 1] as number));
    const isAllowed = all.length > 0 && all.length <= 50 && all.length === readings.length && isAscending;
    return isAllowed ? { value: Object.freeze(all) } : { allowed: durationsAllowed };
  },
  format: (value) => value.map(formatDuration).join(','),
};

// The default upper bounds of the buckets, in milliseconds. Those up to 10 seconds are the bounds that OpenTelemetry
// recommends.
const requestDurationBuckets: readonly number[] = Object.freeze([
  5,
  10,
  25,
  50,
  75,
  100,
  250,
  500,
  750,
  ...[1, 2.5, 5, 7.5, 10, 15, 30, 60, 120, 300].map((bound) => bound * 1_000),
]);

/** metricsRows has one row for each setting of the metrics. */
export const metricsRows = {
  /**
   * metricsPath: The path at which the servers answer with metrics, even if the program has a route at this path.
   * The metrics of the health checks are at this path followed by `/slis`. On `probePort`, the path is always `/metrics`.
   *
   * @default `off`
   */
  metricsPath: row<string>({
    kind: path,
    default: () => '',
  }),
  /**
   * requestDurationBuckets: Upper bounds of the buckets of `http_server_request_duration_seconds`. The highest bound
   * must exceed the longest request. Otherwise, `lameduck_shutdown_predicted_seconds` is inaccurate.
   *
   * @remarks In code, a number is in milliseconds.
   * @default `5ms,10ms,25ms,50ms,75ms,100ms,250ms,500ms,750ms,1s,2.5s,5s,7.5s,10s,15s,30s,1m0s,2m0s,5m0s`; the bounds up to `10s` are those that OpenTelemetry recommends
   */
  requestDurationBuckets: row<readonly number[], string | readonly Duration[]>({
    kind: durations,
    default: () => requestDurationBuckets,
  }),
  /**
   * maxMetricSeries: The maximum number of series of `http_server_request_duration_seconds`. When the maximum is
   * reached, requests with other labels are counted under the route `_OTHER`. `0` means no limit.
   *
   * @default `5000`, which is 227 combinations of method, status and route with the default buckets
   */
  maxMetricSeries: row<number>({
    kind: count,
    default: () => 5_000,
  }),
  /**
   * httpMetrics: Whether lameduck records the HTTP metrics that OpenTelemetry names,
   * `http_server_request_duration_seconds` and `http_server_active_requests`. Set `off` if the program already records
   * them with OpenTelemetry.
   *
   * @default `on`
   */
  httpMetrics: row<'on' | 'off'>({
    kind: choice('on', 'off'),
    default: () => 'on',
  }),
} as const;
