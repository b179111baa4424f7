// The metrics of one lifecycle, from counters of our own: who counts, who reads, and where they can be scraped.
import type { Clock } from '../../clock.ts';
import type { Answer } from '../../message.ts';
import type { Observer, PreviousRun, RequestObserver } from '../../observer.ts';
import type { Settings } from '../../settings/table.ts';
import { probePortMetricsPath } from '../../settings/probe-port.ts';
import { MetricsEndpoint, type Renderer } from './endpoint.ts';
import { Events } from './events.ts';
import { createMetric, type MetricRow, type RegistryMetric } from './metric.ts';
import { healthReaders, metricsReaders, slisReaders, type EventLoopCounts, type Readers } from './readers.ts';
import { read, type Reading, type Watched } from './reading.ts';
import { register, type MetricsRegistry } from './registry.ts';
import { RequestDurations } from './request-durations.ts';
import { healthMetricsTable, metricsTable, slisTable } from './table.ts';

/** MetricsOptions is what metrics are made from. */
export interface MetricsOptions {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly registry: MetricsRegistry | undefined;
  readonly warn: (message: string) => void;
  /** Delays and blocks of the event loop; undefined without a probe thread. */
  readonly eventLoop?: (() => EventLoopCounts) | undefined;
  /** How many events the audit log has dropped; undefined without an audit log. */
  readonly auditDropped?: (() => number) | undefined;
  /** How the previous run ended; undefined without a checkpoint. */
  readonly previousRun?: () => PreviousRun | undefined;
}

/** Metrics is the side of them that a lifecycle is put together with. */
export interface Metrics {
  readonly observer: Observer;
  readonly requests: RequestObserver;
  /** The answer to a scrape; undefined for any other URL. */
  answer(url: string, method: string): Answer | Promise<Answer> | undefined;
  /** The same on the probe port, which has paths of its own. */
  answerProbePort(url: string, method: string): Answer | Promise<Answer> | undefined;
  /** watch begins to read a lifecycle; called once, before anything happens in it. */
  watch(watched: Watched): void;
}

/**
 * createMetrics returns undefined when nobody can see any: no path and no probe port is set, and no registry is given.
 * Throws LAMEDUCK_ERR_SETTINGS_INVALID when the registry does not take them.
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
  readonly requests: RequestDurations;
  readonly #settings: Settings;
  readonly #clock: Clock;
  readonly #events: Events;
  readonly #endpoint: MetricsEndpoint | undefined;
  readonly #unregister: () => void;
  #watched!: Watched;
  #tookMs: number | undefined;
  #reading: Promise<Reading> | undefined;

  constructor(options: MetricsOptions) {
    const { clock, registry, settings, warn, eventLoop, auditDropped, previousRun = () => undefined } = options;
    this.#settings = settings;
    this.#clock = clock;
    this.#events = new Events(() => clock.now());
    this.observer = this.#events.observer;
    this.requests = new RequestDurations({
      ...{ warn, now: () => clock.now(), bounds: settings.requestDurationBuckets },
      ...{ mostSeries: settings.maxMetricSeries, hasHistogram: settings.httpMetrics === 'on' },
    });
    const metrics = metricsOf(
      metricsTable,
      metricsReaders({
        ...{ events: this.#events, durations: this.requests, eventLoop, auditDropped, previousRun },
        traffic: () => this.#watched.traffic,
        electors: () => this.#watched.electors,
        look: () => this.#look(),
      }),
      // A program that has the HTTP metrics from OpenTelemetry would have them twice.
    ).filter(({ name }) => settings.httpMetrics === 'on' || !name.startsWith('http_'));
    const health = metricsOf(healthMetricsTable, healthReaders(this.#events));
    this.#unregister = registry === undefined ? () => undefined : register(registry, [...metrics, ...health]);
    if (!hasEndpoint(settings)) return;
    this.#endpoint = new MetricsEndpoint({
      ...{ path: settings.metricsPath, metrics, warn, clock },
      slis: [...health, ...metricsOf(slisTable, slisReaders)],
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
      // So that the next lifecycle can have the registry.
      this.#unregister();
    });
  }

  // A registry reads all metrics of a scrape in one turn of the event loop. They share one reading.
  #look(): Promise<Reading> {
    this.#reading ??= read(this.#watched, {
      ...{ now: () => this.#clock.now(), settings: this.#settings, events: this.#events },
      ...{ durations: this.requests, tookMs: this.#tookMs },
    }).finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }
}

function metricsOf<Name extends string>(
  table: Readonly<Record<Name, MetricRow>>,
  readers: Readers<Name>,
): RegistryMetric[] {
  return (Object.keys(table) as Name[]).map((name) => createMetric(name, table[name], readers[name]));
}
