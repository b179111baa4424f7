// How long requests took: the histogram that every request is entered in when metrics are on, so it has to be cheap.
import { sentStatus, type Request, type Response } from '../../message.ts';
import type { RequestObserver } from '../../observer.ts';
import type { Sample } from './metric.ts';
import { RecentDurations } from './recent-durations.ts';

// The prediction follows a change of the traffic within minutes, and survives a minute without requests.
const recentWindow = 5 * 60_000;

// The methods that those conventions call known.
const methods = ['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'QUERY', 'TRACE'] as const;
const other = '_OTHER';
const indexOfMethod = new Map<string | undefined, number>(methods.map((method, index) => [method, index]));

type Route = ((request: Request) => string | undefined) | undefined;

interface LabelSet {
  readonly labels: Readonly<Record<`http_${'request_method' | 'response_status_code' | 'route'}`, string>>;
  /** One count for each bucket. The last bucket has no upper bound. */
  readonly counts: number[];
  sum: number;
}

/** RequestDurationsOptions is what the durations are counted by. */
export interface RequestDurationsOptions {
  readonly warn: (message: string) => void;
  readonly now: () => number;
  /** The upper bounds of the buckets, in milliseconds, ascending. */
  readonly bounds: readonly number[];
  /** How many series the histogram may have; 0 is no limit. */
  readonly mostSeries: number;
  /** Without the histogram, durations are counted for the prediction only. */
  readonly hasHistogram: boolean;
}

/** methodLabel returns the label of a request's method: one that nobody knows could be anything. */
export function methodLabel(method: string | undefined): string {
  return methods[indexOfMethod.get(method) ?? methods.length] ?? other;
}

/** RequestDurations counts requests that have ended, by method, status and route; never by path. */
export class RequestDurations implements RequestObserver {
  /** Requests whose answer was not complete. */
  aborted = 0;
  longRunningEnded = 0;
  /** Requests that were entered without their route, because there was no room for another label set. */
  folded = 0;
  /** Must not throw; undefined when nobody knows routes. */
  route: Route;
  readonly #options: RequestDurationsOptions;
  readonly #bounds: readonly number[];
  readonly #bucketLabels: readonly { readonly le: number | '+Inf' }[];
  readonly #mostLabelSets: number;
  readonly #recent: RecentDurations;
  readonly #routes = new Map<string, Map<number, LabelSet>>();
  #labelSets = 0;
  #hasWarned = false;

  constructor(options: RequestDurationsOptions) {
    const { bounds, mostSeries, now } = options;
    this.#options = options;
    this.#bounds = bounds;
    this.#bucketLabels = [...bounds.map((bound) => bound / 1_000), '+Inf' as const].map((le) => ({ le }));
    // A label set has a series for each bucket, one for the sum and one for the count.
    this.#mostLabelSets = mostSeries === 0 ? Infinity : Math.max(1, Math.floor(mostSeries / (bounds.length + 3)));
    this.#recent = new RecentDurations(bounds, recentWindow, now());
  }

  onRequestEnd(response: Response, duration: number): void {
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

  /** quantile estimates how many milliseconds a share of the recent requests took at most; 0 if there was none. */
  quantile(share: number): number {
    return this.#recent.quantile(share, this.#options.now());
  }

  /** methods are the labels of all methods that have been seen. */
  methods(): Set<string> {
    return new Set([...this.#all()].map(({ labels }) => labels.http_request_method));
  }

  /** samples are those of the histogram, its buckets cumulative. */
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

  #labelSetOf(response: Response): LabelSet {
    const method = indexOfMethod.get(response.req.method) ?? methods.length;
    // One number for both, since a text would have to be put together for each request.
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
        ` so further ones have the route ${other}; route() must not return paths, or raise maxMetricSeries`,
    );
  }
}
