// The registry that a program may pass for its metrics: a registry of prom-client, or another object that accepts
// metrics.
import { LameduckError, messageOf } from '../../errors.ts';
import type { RegistryMetric } from './registry-metric.ts';
import { metricNames } from './table.ts';

/**
 * MetricsRegistry is the part of a prom-client registry that lameduck uses. Any object with `registerMetric` is valid.
 */
export interface MetricsRegistry {
  /**
   * lameduck calls registerMetric once for each of lameduck's metrics. The metric has the interface of a prom-client
   * metric: `name`, `help`, `type` and `get()`.
   */
  registerMetric(metric: never): void;
  /**
   * metrics returns the text of all metrics in the registry. If the method is missing, `metricsPath` serves a registry
   * of lameduck's own.
   */
  metrics?(): string | Promise<string>;
  readonly contentType?: string;
  getSingleMetric?(name: string): unknown;
  removeSingleMetric?(name: string): void;
}

/**
 * registryAllowed checks a value that should be a registry. It returns undefined if the value is valid, and otherwise a
 * text that says what is expected.
 */
export function registryAllowed(registry: unknown): string | undefined {
  const isThere = (typeof registry === 'object' || typeof registry === 'function') && registry !== null;
  const given = (isThere ? registry : {}) as Partial<Record<keyof MetricsRegistry, unknown>>;
  const optional = [given.metrics, given.getSingleMetric, given.removeSingleMetric];
  const isUsable =
    typeof given.registerMetric === 'function' &&
    optional.every((one) => one === undefined || typeof one === 'function');
  if (!isUsable) return 'a Registry of prom-client, or an object with the function registerMetric';
  const taken = metricNames.find((name) => (registry as MetricsRegistry).getSingleMetric?.(name) !== undefined);
  return taken === undefined
    ? undefined
    : `a registry that does not yet contain the metric ${taken}: each lifecycle needs a registry of its own`;
}

/**
 * register adds metrics to a registry. The returned function removes them. If the registry rejects a metric, register
 * removes all metrics that it has added, and throws LAMEDUCK_ERR_SETTINGS_INVALID.
 */
export function register(registry: MetricsRegistry, metrics: readonly RegistryMetric[]): () => void {
  // Use the original name of a metric as its key, because the registry may change the metric's property `name`.
  const registered = new Map<string, RegistryMetric>();
  const unregister = (): void => {
    for (const [name, metric] of registered) {
      // Remove only a metric that lameduck itself registered. The program may have cleared the registry, and may then
      // have registered its own metric with the same name.
      const present = registry.getSingleMetric?.(name);
      if (present === undefined || present === metric) registry.removeSingleMetric?.(name);
    }
    registered.clear();
  };
  for (const metric of metrics) {
    registered.set(metric.name, metric);
    try {
      registry.registerMetric(metric as never);
    } catch (error) {
      registered.delete(metric.name);
      unregister();
      throw new LameduckError(
        'LAMEDUCK_ERR_SETTINGS_INVALID',
        `invalid settings:\n  registry: the registry rejected the metric ${metric.name}: ${messageOf(error)}`,
        { cause: error },
      );
    }
  }
  return unregister;
}
