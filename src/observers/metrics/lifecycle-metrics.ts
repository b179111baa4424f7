// The metrics of one lifecycle: connects the counters, the functions that collect the values of the metrics, and the
// endpoint that answers scrapes.
import type { Clock } from '../../clock.ts';
import type { Answer } from '../../message.ts';
import type { Observer, PreviousRun, RequestObserver } from '../../observer.ts';
import type { Settings } from '../../settings/table.ts';
import { probePortMetricsPath } from '../../settings/probe-port.ts';
import { MetricsEndpoint, type Renderer } from './endpoint.ts';
import { EventCounters } from './event-counters.ts';
import { createRegistryMetric, type MetricRow, type RegistryMetric } from './registry-metric.ts';
import {
  healthCollectors,
  metricsCollectors,
  slisCollectors,
  type EventLoopCounts,
  type Collectors,
} from './collectors.ts';
import { takeSnapshot, type ScrapeSnapshot, type Watched } from './scrape-snapshot.ts';
import { register, type MetricsRegistry } from './registry.ts';
import { RequestCounters } from './request-counters.ts';
import { healthMetricsTable, metricsTable, slisTable } from './table.ts';

export interface MetricsOptions {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly registry: MetricsRegistry | undefined;
  readonly warn: (message: string) => void;
  /** eventLoop returns the delays and stalls of the event loop. It is undefined if there is no probe thread. */
  readonly eventLoop?: (() => EventLoopCounts) | undefined;
  /**
   * auditDropped returns the number of events that the audit log has dropped. It is undefined if there is no audit log.
   */
  readonly auditDropped?: (() => number) | undefined;
  /** previousRun returns how the previous run of the container ended. It is undefined if no `checkpointPath` is set. */
  readonly previousRun?: () => PreviousRun | undefined;
}

/** Metrics contains the functions that a lifecycle calls to record and to serve its metrics. */
export interface Metrics {
  readonly observer: Observer;
  readonly requests: RequestObserver;
  /** answer returns the response to a scrape. It returns undefined if the URL is not a URL of the metrics. */
  answer(url: string, method: string): Answer | Promise<Answer> | undefined;
  /** answerProbePort returns the response to a scrape on the probe port, where the metrics have a fixed path. */
  answerProbePort(url: string, method: string): Answer | Promise<Answer> | undefined;
  /**
   * `watch()` sets the lifecycle whose values the metrics show. It is called once, before this lifecycle reports its
   * first event.
   */
  watch(watched: Watched): void;
}

/**
 * createMetrics creates the metrics. It returns undefined if nothing can scrape the metrics: there is no `metricsPath`,
 * no probe port and no registry. It throws LAMEDUCK_ERR_SETTINGS_INVALID if the registry rejects a metric.
 */
export function createMetrics(options: MetricsOptions): Metrics | undefined {
  const { registry, settings } = options;
  return registry === undefined && !hasEndpoint(settings) ? undefined : new LifecycleMetrics(options);
}

function hasEndpoint({ metricsPath, probePort }: Settings): boolean {
  return metricsPath !== '' || probePort !== 0;
}

class LifecycleMetrics implements Metrics {
  readonly observer: Observer;
  readonly requests: RequestCounters;
  readonly #settings: Settings;
  readonly #clock: Clock;
  readonly #events: EventCounters;
  readonly #endpoint: MetricsEndpoint | undefined;
  readonly #unregister: () => void;
  #watched!: Watched;
  #tookMs: number | undefined;
  #snapshot: Promise<ScrapeSnapshot> | undefined;

  constructor(options: MetricsOptions) {
    const { clock, registry, settings, warn, eventLoop, auditDropped, previousRun = () => undefined } = options;
    this.#settings = settings;
    this.#clock = clock;
    this.#events = new EventCounters(() => clock.now());
    this.observer = this.#events.observer;
    this.requests = new RequestCounters({
      warn,
      now: () => clock.now(),
      bounds: settings.requestDurationBuckets,
      mostSeries: settings.maxMetricSeries,
      hasHistogram: settings.httpMetrics === 'on',
    });
    const metrics = metricsOf(
      metricsTable,
      metricsCollectors({
        events: this.#events,
        requests: this.requests,
        eventLoop,
        auditDropped,
        previousRun,
        traffic: () => this.#watched.traffic,
        electors: () => this.#watched.electors,
        snapshot: () => this.#takeSnapshot(),
      }),
      // If the setting `httpMetrics` is `off`, omit the metrics of HTTP requests, because OpenTelemetry already records
      // them.
    ).filter(({ name }) => settings.httpMetrics === 'on' || !name.startsWith('http_'));
    const health = metricsOf(healthMetricsTable, healthCollectors(this.#events));
    this.#unregister = registry === undefined ? () => undefined : register(registry, [...metrics, ...health]);
    if (!hasEndpoint(settings)) return;
    this.#endpoint = new MetricsEndpoint({
      path: settings.metricsPath,
      metrics,
      warn,
      clock,
      slis: [...health, ...metricsOf(slisTable, slisCollectors)],
      registry: typeof registry?.metrics === 'function' ? (registry as Renderer) : undefined,
    });
  }

  answer(url: string, method: string): Answer | Promise<Answer> | undefined {
    return this.#endpoint?.answer(url, method);
  }

  answerProbePort(url: string, method: string): Answer | Promise<Answer> | undefined {
    return this.#endpoint?.answer(url, method, probePortMetricsPath);
  }

  watch(watched: Watched): void {
    this.#watched = watched;
    this.requests.route = watched.route;
    void watched.handle.ended.then(({ durationMs }) => {
      this.#tookMs = durationMs;
      // Remove the metrics of this lifecycle from the program's registry, so that another lifecycle can use the
      // registry.
      this.#unregister();
    });
  }

  // Returns the snapshot for the current scrape. A registry reads all its metrics in one turn of the event loop, so all
  // metrics of a scrape share one snapshot.
  #takeSnapshot(): Promise<ScrapeSnapshot> {
    this.#snapshot ??= takeSnapshot(this.#watched, {
      now: () => this.#clock.now(),
      settings: this.#settings,
      events: this.#events,
      requests: this.requests,
      tookMs: this.#tookMs,
    }).finally(() => {
      this.#snapshot = undefined;
    });
    return this.#snapshot;
  }
}

function metricsOf<Name extends string>(
  table: Readonly<Record<Name, MetricRow>>,
  collectors: Collectors<Name>,
): RegistryMetric[] {
  return (Object.keys(table) as Name[]).map((name) => createRegistryMetric(name, table[name], collectors[name]));
}
