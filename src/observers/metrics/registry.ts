// The registry that a program can give us: its own of prom-client, or anything else that takes metrics.
import { LameduckError, messageOf } from '../../errors.ts';
import type { RegistryMetric } from './metric.ts';
import { metricNames } from './table.ts';

/** MetricsRegistry is what is used of a registry of prom-client; anything that has `registerMetric` will do. */
export interface MetricsRegistry {
  /** Called once for each metric, with an object in the shape of prom-client's own: `name`, `help`, `type`, `get()`. */
  registerMetric(metric: never): void;
  /** Without it nothing of the registry can be served at `metricsPath`. */
  metrics?(): string | Promise<string>;
  readonly contentType?: string;
  getSingleMetric?(name: string): unknown;
  removeSingleMetric?(name: string): void;
}

/** registryAllowed says what is allowed instead of a registry that cannot take our metrics. */
export function registryAllowed(registry: unknown): string | undefined {
  const isThere = (typeof registry === 'object' || typeof registry === 'function') && registry !== null;
  const given = (isThere ? registry : {}) as Partial<Record<keyof MetricsRegistry, unknown>>;
  const optional = [given.metrics, given.getSingleMetric, given.removeSingleMetric];
  const isUsable =
    typeof given.registerMetric === 'function' &&
    optional.every((one) => one === undefined || typeof one === 'function');
  if (!isUsable) return 'a Registry of prom-client, or anything else with the function registerMetric';
  const taken = metricNames.find((name) => (registry as MetricsRegistry).getSingleMetric?.(name) !== undefined);
  return taken === undefined ? undefined : `one that has no metric ${taken} yet, and that no other lifecycle uses`;
}

/**
 * register adds metrics to a registry and returns what takes them off again. Throws LAMEDUCK_ERR_SETTINGS_INVALID, with
 * the registry as it was, when the registry does not take one of them.
 */
export function register(registry: MetricsRegistry, metrics: readonly RegistryMetric[]): () => void {
  // By their first names: a registry may change them.
  const registered = new Map<string, RegistryMetric>();
  const unregister = (): void => {
    for (const [name, metric] of registered) {
      // Somebody may have cleared the registry meanwhile, and put something else under the name.
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
        `settings refused:\n  registry: it does not take ${metric.name}: ${messageOf(error)}`,
        { cause: error },
      );
    }
  }
  return unregister;
}
