// How long requests took: the histogram that every request is entered in when metrics are on, so it has to be cheap.
import { sentStatus, type Request, type Response } from '../../message.ts';
import type { RequestObserver } from '../../observer.ts';
import type { Sample } from './metric.ts';

// What OpenTelemetry's conventions advise, in seconds.
const bounds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10] as const;
const milliseconds = bounds.map((bound) => bound * 1_000);
const bucketLabels = [...bounds, '+Inf' as const].map((le) => ({ le }));
type BucketLabels = (typeof bucketLabels)[number];

// The methods that those conventions call known.
const methods = ['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'QUERY', 'TRACE'] as const;
const other = '_OTHER';
const indexOfMethod = new Map<string | undefined, number>(methods.map((method, index) => [method, index]));

// OpenTelemetry's limit. What comes beyond it keeps its method and status, and loses its route.
const mostLabelSets = 2_000;

type Route = ((request: Request) => string | undefined) | undefined;

interface LabelSet {
  readonly labels: Readonly<Record<`http_${'request_method' | 'response_status_code' | 'route'}`, string>>;
  /** Behind the last bound, too. */
  readonly counts: number[];
  sum: number;
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
  /** Must not throw; undefined when nobody knows routes. */
  route: Route;
  readonly #warn: (message: string) => void;
  readonly #routes = new Map<string, Map<number, LabelSet>>();
  #labelSets = 0;
  #longest = 0;
  #hasWarned = false;

  constructor(warn: (message: string) => void) {
    this.#warn = warn;
  }

  onRequestEnd(response: Response, duration: number): void {
    if (!response.writableFinished) this.aborted++;
    const set = this.#labelSetOf(response);
    let bucket = 0;
    while (bucket < milliseconds.length && duration > (milliseconds[bucket] as number)) bucket++;
    (set.counts[bucket] as number)++;
    set.sum += duration;
    if (duration > this.#longest) this.#longest = duration;
  }

  onLongRunningEnd(): void {
    this.longRunningEnded++;
  }

  /**
   * quantile estimates, from the buckets, how many milliseconds a share of all requests took at most; 0 when there was
   * none.
   */
  quantile(share: number): number {
    const counts = Array.from({ length: milliseconds.length + 1 }, () => 0);
    for (const { counts: own } of this.#all()) own.forEach((count, index) => ((counts[index] as number) += count));
    const rank = share * counts.reduce((sum, count) => sum + count, 0);
    let below = 0;
    for (const [index, count] of counts.entries()) {
      if (count > 0 && below + count >= rank) {
        const from = milliseconds[index - 1] ?? 0;
        const to = Math.min(milliseconds[index] ?? Infinity, this.#longest);
        return from + (to - from) * ((rank - below) / count);
      }
      below += count;
    }
    return 0;
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
          labels: bucketLabels[index] as BucketLabels,
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
    const hasRoom = this.#labelSets < mostLabelSets;
    if (!hasRoom) this.#warnOfRoutes();
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
      counts: Array.from({ length: milliseconds.length + 1 }, () => 0),
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
    this.#warn(
      `metrics: there are more than ${String(mostLabelSets)} combinations of method, status and route,` +
        ` so further ones have the route ${other}; route() must not return paths`,
    );
  }
}
