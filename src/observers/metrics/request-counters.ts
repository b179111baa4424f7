// Counts each ended request for the metrics, and records its duration in a histogram. This code must be fast: with
// metrics, it runs for every request.
import { sentStatus, type HttpRequest, type HttpResponse } from '../../message.ts';
import type { RequestObserver } from '../../observer.ts';
import type { Sample } from './registry-metric.ts';
import { RecentDurations } from './recent-durations.ts';

// The length of the sliding window of recent requests, in milliseconds. The duration of a shutdown is predicted from
// the requests in this window. With five minutes, the prediction adapts to a change of the traffic within minutes. It
// also still has data after a minute without requests.
const recentWindow = 5 * 60_000;

// The HTTP methods that OpenTelemetry's conventions list as known.
const methods = ['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'QUERY', 'TRACE'] as const;
const other = '_OTHER';
const indexOfMethod = new Map<string | undefined, number>(methods.map((method, index) => [method, index]));

type Route = ((request: HttpRequest) => string | undefined) | undefined;

interface LabelSet {
  readonly labels: Readonly<Record<`http_${'request_method' | 'response_status_code' | 'route'}`, string>>;
  /**
   * counts contains the number of requests in each bucket of the histogram of request durations. The last bucket has no
   * upper bound.
   */
  readonly counts: number[];
  sum: number;
}

export interface RequestCountersOptions {
  readonly warn: (message: string) => void;
  readonly now: () => number;
  /** bounds are the upper bounds of the histogram's buckets in milliseconds, in ascending order. */
  readonly bounds: readonly number[];
  /** mostSeries is the maximum number of time series in the histogram of request durations. 0 means no limit. */
  readonly mostSeries: number;
  /**
   * hasHistogram is false if no histogram is served. The durations of requests are then used only to predict the
   * duration of a shutdown.
   */
  readonly hasHistogram: boolean;
}

/**
 * methodLabel returns the value of the metric label for a request's method. For an unknown method, it is `_OTHER`,
 * because a client may send any text.
 */
export function methodLabel(method: string | undefined): string {
  return methods[indexOfMethod.get(method) ?? methods.length] ?? other;
}

/** RequestCounters counts ended requests by method, status and route, never by path. */
export class RequestCounters implements RequestObserver {
  /** aborted is the number of requests that ended before their response was complete. */
  aborted = 0;
  longRunningEnded = 0;
  /**
   * folded counts the requests that were recorded without their route, because the histogram already had
   * `maxMetricSeries` series.
   */
  folded = 0;
  /**
   * The function `route` returns the route of a request, and must not throw. If neither a framework nor the program
   * provides routes, `route` is undefined.
   */
  route: Route;
  readonly #options: RequestCountersOptions;
  readonly #bounds: readonly number[];
  readonly #bucketLabels: readonly { readonly le: number | '+Inf' }[];
  readonly #mostLabelSets: number;
  readonly #recent: RecentDurations;
  readonly #routes = new Map<string, Map<number, LabelSet>>();
  #labelSets = 0;
  #hasWarned = false;

  constructor(options: RequestCountersOptions) {
    const { bounds, mostSeries, now } = options;
    this.#options = options;
    this.#bounds = bounds;
    this.#bucketLabels = [...bounds.map((bound) => bound / 1_000), '+Inf' as const].map((le) => ({ le }));
    // In the histogram of request durations, each set of labels has one series for each bucket, one for the sum and one
    // for the count.
    this.#mostLabelSets = mostSeries === 0 ? Infinity : Math.max(1, Math.floor(mostSeries / (bounds.length + 3)));
    this.#recent = new RecentDurations(bounds, recentWindow, now());
  }

  onRequestEnd(response: HttpResponse, duration: number): void {
    if (!response.writableFinished) this.aborted++;
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && duration > (bounds[bucket] as number)) bucket++;
    this.#recent.note(bucket, duration);
    if (!this.#options.hasHistogram) return;
    const set = this.#labelSetOf(response);
    (set.counts[bucket] as number)++;
    set.sum += duration;
  }

  onLongRunningEnd(): void {
    this.longRunningEnded++;
  }

  /**
   * quantile returns an estimate: the given share of the recent requests took at most that many milliseconds. It
   * returns 0 if there was no recent request.
   */
  quantile(share: number): number {
    return this.#recent.quantile(share, this.#options.now());
  }

  /** methods returns the metric label of each HTTP method that a request has used so far. */
  methods(): Set<string> {
    return new Set([...this.#all()].map(({ labels }) => labels.http_request_method));
  }

  /** samples returns the samples of the histogram of request durations, with cumulative buckets. */
  samples(name: string): Sample[] {
    return [...this.#all()].flatMap(({ labels: sharedLabels, counts, sum }) => {
      let count = 0;
      const buckets = counts.map((own, index): Sample => {
        count += own;
        return {
          metricName: `${name}_bucket`,
          labels: this.#bucketLabels[index] as { readonly le: number | '+Inf' },
          sharedLabels,
          value: count,
        };
      });
      const rest = [
        { metricName: `${name}_sum`, labels: {}, sharedLabels, value: sum / 1_000 },
        { metricName: `${name}_count`, labels: {}, sharedLabels, value: count },
      ];
      return [...buckets, ...rest];
    });
  }

  *#all(): Generator<LabelSet> {
    for (const sets of this.#routes.values()) yield* sets.values();
  }

  #labelSetOf(response: HttpResponse): LabelSet {
    const method = indexOfMethod.get(response.req.method) ?? methods.length;
    // Encode the method and the status as one number. Building a text for each request would be slower.
    const key = method * 1_000 + (sentStatus(response) ?? 0);
    const given: unknown = this.route?.(response.req);
    const route = typeof given === 'string' ? given : '';
    return this.#routes.get(route)?.get(key) ?? this.#newLabelSet(route, key);
  }

  #newLabelSet(given: string, key: number): LabelSet {
    const hasRoom = this.#labelSets < this.#mostLabelSets;
    if (!hasRoom) {
      this.folded++;
      this.#warnOfRoutes();
    }
    const route = hasRoom ? given : other;
    const sets = this.#routes.get(route) ?? new Map<number, LabelSet>();
    const existing = sets.get(key);
    if (existing !== undefined) return existing;
    const status = key % 1_000;
    const set: LabelSet = {
      labels: {
        http_request_method: methods[Math.trunc(key / 1_000)] ?? other,
        http_response_status_code: status === 0 ? '' : String(status),
        http_route: route,
      },
      counts: Array.from({ length: this.#bounds.length + 1 }, () => 0),
      sum: 0,
    };
    sets.set(key, set);
    this.#routes.set(route, sets);
    this.#labelSets++;
    return set;
  }

  #warnOfRoutes(): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#options.warn(
      `metrics: there are more than ${String(this.#mostLabelSets)} combinations of method, status and route,` +
        ` so requests with further combinations are counted under the route ${other}; let route() return route patterns instead of paths, or raise maxMetricSeries`,
    );
  }
}
