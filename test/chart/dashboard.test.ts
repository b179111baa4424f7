import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { metricsPage } from '../../scripts/docs/metrics-page.ts';
import { chart, object, template } from './chart.ts';

test('H-147 HC-30 the dashboard and the alerts ask for metrics that there are', async () => {
  const page = metricsPage();
  const dashboard = readFileSync(join(chart, 'files', 'dashboard.json'), 'utf8');
  const asked = dashboard + (await template({ prometheusRule: { enabled: true } }));
  const metrics = new Set(asked.match(/\b(lameduck|http_server|kubernetes_health)[a-z]*_[a-z_]+\b(?=[{(])/g));
  assert.ok(metrics.size > 12, [...metrics].join());
  for (const metric of metrics) {
    assert.ok(page.includes(`\`${metric.replace(/_(bucket|count)$/, '')}\``), metric);
  }
});

test('H-147 HC-30 the dashboard is Grafana’s JSON, as it is in the file', async () => {
  const { data, metadata } = (await object('ConfigMap', { dashboard: { enabled: true } })) as unknown as {
    data: Record<string, string>;
    metadata: { labels: Record<string, string> };
  };
  assert.equal(`${data['lameduck.json'] ?? ''}\n`, readFileSync(join(chart, 'files', 'dashboard.json'), 'utf8'));
  const { panels } = JSON.parse(data['lameduck.json'] ?? '') as { panels: { title: string; targets: object[] }[] };
  assert.ok(panels.length >= 8 && panels.every(({ title, targets }) => title !== '' && targets.length > 0));
  assert.equal(metadata.labels['grafana_dashboard'], '1');
});
