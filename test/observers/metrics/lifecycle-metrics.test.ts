import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { describe, test } from 'node:test';
import { healthMetricsTable, metricsTable, slisTable } from '../../../src/observers/metrics/table.ts';
import type { MetricRow } from '../../../src/observers/metrics/registry-metric.ts';
import { ask, measure, next } from '../../support/measured.ts';

const { cache } = createRequire(import.meta.url);
const isPromClientLoaded = (): boolean => Object.keys(cache).some((file) => file.includes('/prom-client/'));

test('prom-client is loaded at the first scrape and never before', async (t) => {
  const serving = await measure(t, { functions: { route: () => '/a' } });
  const client = await serving.dial();
  client.get('/');
  client.get('/readyz');
  await next(client);
  await next(client);
  assert.equal(isPromClientLoaded(), false);
  await serving.scrape();
  assert.equal(isPromClientLoaded(), true);
});

test('if neither metricsPath nor registry is set, lameduck collects no metrics, and a request for /metrics is passed to the program', async (t) => {
  const serving = await measure(t, { metricsPath: 'off' });
  assert.equal((await ask(serving.port, '/metrics')).body, 'served\n');
  assert.equal((await ask(serving.port, '/metrics/slis')).body, 'served\n');
});

describe('metrics of health checks', () => {
  test('A-180, A-181 each health check of /healthz, /livez and /readyz has a gauge, and a counter of its results', async (t) => {
    let isWell = true;
    const serving = await measure(t, {
      prepare: (_server, { handle }) => {
        handle.addReadyzCheck('database', () => isWell);
      },
    });
    const none = await serving.scrape('/metrics/slis');
    assert.deepEqual(none.families.get('kubernetes_healthcheck')?.samples, []);
    const paths = ['/readyz', '/readyz?verbose', '/readyz?exclude=database', '/readyz/database', '/livez'];
    for (const path of paths) await ask(serving.port, path);
    isWell = false;
    await ask(serving.port, '/readyz');
    const found = await serving.scrape('/metrics/slis');
    const of = { name: 'database', type: 'readyz' };
    assert.equal(found.value('kubernetes_healthcheck', of), 0);
    assert.equal(found.value('kubernetes_healthcheck', { name: 'ping', type: 'readyz' }), 1);
    assert.equal(found.value('kubernetes_healthcheck', { name: 'ping', type: 'livez' }), 1);
    assert.equal(found.value('kubernetes_healthcheck', { name: 'ping', type: 'healthz' }), undefined);
    assert.equal(found.value('kubernetes_healthchecks_total', { ...of, status: 'success' }), 2);
    assert.equal(found.value('kubernetes_healthchecks_total', { ...of, status: 'error' }), 1);
    assert.equal(found.value('kubernetes_healthchecks_total', { name: 'ping', type: 'readyz', status: 'success' }), 4);
  });

  test('A-180, A-182 the HELP and TYPE lines at /metrics/slis are those of the apiserver, and the start time of the process is exported', async (t) => {
    const serving = await measure(t);
    const { families, ...found } = await serving.scrape('/metrics/slis');
    assert.deepEqual(
      [...families].map(([name, { help, type }]) => `${name} ${type} ${help}`),
      [
        'kubernetes_healthcheck gauge [STABLE] This metric records the result of a single healthcheck.',
        'kubernetes_healthchecks_total counter [STABLE] This metric records the results of all healthcheck.',
        'process_start_time_seconds gauge [ALPHA] Start time of the process since unix epoch in seconds.',
      ],
    );
    assert.ok(found);
    const [sample] = families.get('process_start_time_seconds')?.samples ?? [];
    assert.ok(Math.abs((sample?.value ?? 0) * 1_000 - performance.timeOrigin) < 1_000);
  });
});

test("a scrape has every metric in the tables of lameduck's metrics, with the type and the help text from these tables, and with no other labels", async (t) => {
  const serving = await measure(t);
  const client = await serving.dial();
  for (const path of ['/', '/readyz', '/metrics/slis']) {
    client.get(path);
    await next(client);
  }
  const pages = [
    { found: await serving.scrape(), table: metricsTable },
    { found: await serving.scrape('/metrics/slis'), table: { ...healthMetricsTable, ...slisTable } },
  ];
  for (const { found, table } of pages) {
    for (const [name, row] of Object.entries<MetricRow>(table)) {
      const family = found.families.get(name);
      assert.equal(family?.type, row.type, name);
      assert.equal(family.help, row.help);
      for (const { labels } of family.samples) {
        assert.deepEqual(
          Object.keys(labels)
            .filter((label) => label !== 'le')
            .sort(),
          [...row.labels].sort(),
          name,
        );
      }
    }
  }
});

test('metric names and labels follow the rules of Prometheus: units, suffixes, letters', () => {
  for (const [name, { type, help, labels }] of Object.entries<MetricRow>({
    ...metricsTable,
    ...healthMetricsTable,
    ...slisTable,
  })) {
    assert.match(name, /^[a-z]+(_[a-z]+)*$/);
    assert.equal(name.endsWith('_total'), type === 'counter', name);
    assert.doesNotMatch(name, /_(count|sum|bucket|gauge|counter|histogram|ms|milliseconds|minutes|percent)(_|$)/);
    if (/duration|remaining|predicted_s|budget|time/.test(name) && type !== 'counter') assert.match(name, /_seconds$/);
    assert.match(help, /\.$/);
    for (const label of labels) assert.match(label, /^[a-z]+(_[a-z]+)*$/);
    assert.ok(/^(http_server|lameduck|kubernetes|leader_election|process)_/.test(name), name);
  }
});
