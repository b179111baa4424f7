import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, test, type TestContext } from 'node:test';
import { Registry, type OpenMetricsContentType } from 'prom-client';
import { isLameduckError } from '../../../src/errors.ts';
import { lameduck, type Lameduck } from '../../../src/index.ts';
import { createRegistryMetric, type RegistryMetric } from '../../../src/observers/metrics/registry-metric.ts';
import { register, registryAllowed, type MetricsRegistry } from '../../../src/observers/metrics/registry.ts';
import { metricNames } from '../../../src/observers/metrics/table.ts';
import { Exposition } from '../../support/exposition.ts';

const gauge = (name: string): RegistryMetric =>
  createRegistryMetric(name, { type: 'gauge', help: 'A number.', labels: [] }, () => [{ labels: {}, value: 1 }]);

const counter = (name: string): RegistryMetric =>
  createRegistryMetric(name, { type: 'counter', help: 'A number.', labels: ['kind'] }, () => [
    { labels: { kind: 'a' }, value: 2 },
  ]);

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Gives this process a lifecycle that shuts down at the end of the test. */
function lameduckUnderTest(scope: TestContext, registry: unknown): Lameduck {
  const duck = lameduck(createServer(), { registry: registry as MetricsRegistry, logger: quiet });
  scope.after(() => duck.shutdown('end of the test'));
  return duck;
}

describe('allowed registries', () => {
  test('a Registry of prom-client, and any object with registerMetric, is allowed as the registry', () => {
    assert.equal(registryAllowed(new Registry()), undefined);
    assert.equal(registryAllowed({ registerMetric: () => undefined }), undefined);
  });

  for (const given of [
    null,
    7,
    'registry',
    {},
    [],
    { registerMetric: true },
    { registerMetric() {}, metrics: 'text' },
  ]) {
    test(`${JSON.stringify(given)} is rejected, because it is not a metrics registry`, () => {
      assert.match(registryAllowed(given) ?? '', /^a Registry of prom-client, or an object with/);
    });
  }

  test('a registry that already has a metric with the same name as a metric of lameduck is rejected, and the error names this metric', () => {
    const registry = new Registry();
    registry.registerMetric(gauge('lameduck_connections') as never);
    assert.match(
      registryAllowed(registry) ?? '',
      /a registry that does not yet contain the metric lameduck_connections: each lifecycle/,
    );
  });
});

describe('adding metrics to a registry', () => {
  test('lameduck adds its own metric objects to the registry of the program, and later removes only these objects', async () => {
    const registry = new Registry();
    const theirs = gauge('theirs');
    registry.registerMetric(theirs as never);
    const unregister = register(registry, [gauge('a'), counter('b_total')]);
    const text = new Exposition(await registry.metrics());
    assert.equal(text.value('a'), 1);
    assert.equal(text.value('b_total', { kind: 'a' }), 2);
    unregister();
    assert.deepEqual([...registry.getMetricsAsArray()] as unknown[], [theirs]);
  });

  test('a metrics registry that rejects one metric keeps no metric of lameduck', () => {
    const registry = new Registry();
    const theirs = gauge('b');
    registry.registerMetric(theirs as never);
    assert.throws(
      () => register(registry, [gauge('a'), gauge('b'), gauge('c')]),
      (error) =>
        isLameduckError(error) &&
        error instanceof Error &&
        /registry: the registry rejected the metric b: .*already been registered/.test(error.message),
    );
    assert.deepEqual([...registry.getMetricsAsArray()] as unknown[], [theirs]);
  });

  test('a metric that other code has registered under the name of a metric of lameduck is not removed', () => {
    const registry = new Registry();
    const unregister = register(registry, [gauge('a')]);
    registry.clear();
    const theirs = gauge('a');
    registry.registerMetric(theirs as never);
    unregister();
    assert.deepEqual([...registry.getMetricsAsArray()] as unknown[], [theirs]);
  });

  test('a counter that the registry has renamed for OpenMetrics is removed when lameduck unregisters its metrics', async () => {
    const registry = new Registry<OpenMetricsContentType>();
    registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
    const unregister = register(registry, [counter('b_total')]);
    const text = await registry.metrics();
    assert.match(text, /^# TYPE b counter\nb_total\{kind="a"\} 2\n# EOF\n$/m);
    assert.equal(await registry.metrics(), text);
    unregister();
    assert.deepEqual([...registry.getMetricsAsArray()], []);
  });

  test('a metrics registry that cannot remove metrics is accepted', () => {
    const taken: string[] = [];
    const unregister = register({ registerMetric: ({ name }: RegistryMetric) => taken.push(name) }, [gauge('a')]);
    unregister();
    assert.deepEqual(taken, ['a']);
  });
});

describe("the program's own metrics registry", () => {
  test('the prom-client registry that the program passes has all metrics of lameduck from the start, including those of the health checks', async (t) => {
    const registry = new Registry();
    const duck = lameduckUnderTest(t, registry);
    assert.deepEqual(
      registry
        .getMetricsAsArray()
        .map(({ name }) => name)
        .sort(),
      [...metricNames].sort(),
    );
    const text = new Exposition(await registry.metrics());
    assert.deepEqual([...text.families.keys()].sort(), [...metricNames].sort());
    assert.equal(text.value('lameduck_lifecycle_signal', { signal: 'ShutdownInitiated' }), 0);
    await duck.shutdown('test');
  });

  test("the prom-client registry that the program passes returns lameduck's metrics as JSON, and keeps their values after resetMetrics()", async (t) => {
    const registry = new Registry();
    lameduckUnderTest(t, registry);
    registry.setDefaultLabels({ app: 'a' });
    registry.resetMetrics();
    const info = (await registry.getMetricsAsJSON()).find(({ name }) => name === 'lameduck_build_info');
    assert.deepEqual(
      info?.values.map(({ value }) => value),
      [1],
    );
    assert.equal(info.aggregator, 'first');
    assert.equal(new Exposition(await registry.metrics()).value('lameduck_build_info', { app: 'a' }), 1);
  });

  test('lameduck() throws if it gets the metrics registry of another lifecycle, and does not change this registry', (t) => {
    const registry = new Registry();
    lameduckUnderTest(t, registry);
    const before = [...registry.getMetricsAsArray()];
    assert.throws(
      () => lameduckUnderTest(t, registry),
      (error) =>
        isLameduckError(error) &&
        /registry: .* from code: expected a registry that does not yet contain the metric .*: each lifecycle needs a registry of its own/.test(
          String(error),
        ),
    );
    assert.deepEqual([...registry.getMetricsAsArray()], before);
  });

  test('a lifecycle can use the metrics registry of a lifecycle that has ended', async (t) => {
    const registry = new Registry();
    await lameduckUnderTest(t, registry).shutdown('test');
    assert.deepEqual([...registry.getMetricsAsArray()], []);
    lameduckUnderTest(t, registry);
    assert.equal(registry.getMetricsAsArray().length, metricNames.length);
  });

  test('if the option `registry` is invalid, the error that lists all invalid settings also names `registry`', () => {
    assert.throws(
      () => lameduck(createServer(), { registry: {} as MetricsRegistry, metricsPath: 'metrics', logger: quiet }),
      (error) =>
        isLameduckError(error) &&
        /invalid settings:\n(.*\n)*.*metricsPath.*\n(.*\n)*.*registry: \{\} from code: expected a Registry/.test(
          String(error),
        ),
    );
  });
});
