import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, test, type TestContext } from 'node:test';
import { Registry, type OpenMetricsContentType } from 'prom-client';
import { isLameduckError } from '../../../src/errors.ts';
import { lameduck, type Lameduck } from '../../../src/index.ts';
import { createMetric, type RegistryMetric } from '../../../src/observers/metrics/metric.ts';
import { register, registryAllowed, type MetricsRegistry } from '../../../src/observers/metrics/registry.ts';
import { metricNames } from '../../../src/observers/metrics/table.ts';
import { Exposition } from '../../support/exposition.ts';

const gauge = (name: string): RegistryMetric =>
  createMetric(name, { type: 'gauge', help: 'A number.', labels: [] }, () => [{ labels: {}, value: 1 }]);

const counter = (name: string): RegistryMetric =>
  createMetric(name, { type: 'counter', help: 'A number.', labels: ['kind'] }, () => [
    { labels: { kind: 'a' }, value: 2 },
  ]);

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** A lifecycle of this process, which ends with the test. */
function lameduckUnderTest(scope: TestContext, registry: unknown): Lameduck {
  const duck = lameduck(createServer(), { registry: registry as MetricsRegistry, logger: quiet });
  scope.after(() => duck.shutdown('end of the test'));
  return duck;
}

describe('what is allowed as a registry', () => {
  test('a registry of prom-client, or anything with registerMetric, is', () => {
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
    test(`${JSON.stringify(given)} is not`, () => {
      assert.match(registryAllowed(given) ?? '', /^a Registry of prom-client, or anything else with/);
    });
  }

  test('one that has a metric of a name of ours is not, and the name is said', () => {
    const registry = new Registry();
    registry.registerMetric(gauge('lameduck_connections') as never);
    assert.match(registryAllowed(registry) ?? '', /one that has no metric lameduck_connections yet/);
  });
});

describe('registering', () => {
  test('puts our own objects into the registry and takes exactly those off again', async () => {
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

  test('leaves a registry as it was that does not take one of them', () => {
    const registry = new Registry();
    const theirs = gauge('b');
    registry.registerMetric(theirs as never);
    assert.throws(
      () => register(registry, [gauge('a'), gauge('b'), gauge('c')]),
      (error) =>
        isLameduckError(error) &&
        error instanceof Error &&
        /registry: it does not take b: .*already been registered/.test(error.message),
    );
    assert.deepEqual([...registry.getMetricsAsArray()] as unknown[], [theirs]);
  });

  test('takes nothing off that somebody else has put under the name meanwhile', () => {
    const registry = new Registry();
    const unregister = register(registry, [gauge('a')]);
    registry.clear();
    const theirs = gauge('a');
    registry.registerMetric(theirs as never);
    unregister();
    assert.deepEqual([...registry.getMetricsAsArray()] as unknown[], [theirs]);
  });

  test('takes a counter off that a registry has renamed for OpenMetrics', async () => {
    const registry = new Registry<OpenMetricsContentType>();
    registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
    const unregister = register(registry, [counter('b_total')]);
    const text = await registry.metrics();
    assert.match(text, /^# TYPE b counter\nb_total\{kind="a"\} 2\n# EOF\n$/m);
    assert.equal(await registry.metrics(), text);
    unregister();
    assert.deepEqual([...registry.getMetricsAsArray()], []);
  });

  test('does with a registry that can only take metrics', () => {
    const taken: string[] = [];
    const unregister = register({ registerMetric: ({ name }: RegistryMetric) => taken.push(name) }, [gauge('a')]);
    unregister();
    assert.deepEqual(taken, ['a']);
  });
});

describe('a registry of the program’s own', () => {
  test('has every metric from the creation on, those of the health checks too', async (t) => {
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

  test('can be read as JSON, gathered from several processes, and reset without losing a number', async (t) => {
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

  test('is refused for a second lifecycle, in the settings error, with the first untouched', (t) => {
    const registry = new Registry();
    lameduckUnderTest(t, registry);
    const before = [...registry.getMetricsAsArray()];
    assert.throws(
      () => lameduckUnderTest(t, registry),
      (error) =>
        isLameduckError(error) &&
        /registry: .* from code: expected one that has no metric .* no other lifecycle uses/.test(String(error)),
    );
    assert.deepEqual([...registry.getMetricsAsArray()], before);
  });

  test('can be given to the next lifecycle when the first has ended', async (t) => {
    const registry = new Registry();
    await lameduckUnderTest(t, registry).shutdown('test');
    assert.deepEqual([...registry.getMetricsAsArray()], []);
    lameduckUnderTest(t, registry);
    assert.equal(registry.getMetricsAsArray().length, metricNames.length);
  });

  test('that is bad is one line of the settings error, beside the others', () => {
    assert.throws(
      () => lameduck(createServer(), { registry: {} as MetricsRegistry, metricsPath: 'metrics', logger: quiet }),
      (error) =>
        isLameduckError(error) &&
        /settings refused:\n(.*\n)*.*metricsPath.*\n(.*\n)*.*registry: \{\} from code: expected a Registry/.test(
          String(error),
        ),
    );
  });
});
