import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { metricsPage } from '../../../scripts/docs/metrics-page.ts';
import { chart, object, template, type Values } from './chart.ts';
import { checkRules, noPromtool } from './promtool.ts';

test('H-147 HC-30 the dashboard and the alerts query only metrics that lameduck exports', async () => {
  const page = metricsPage();
  const file = readFileSync(join(chart, 'files', 'dashboard.json'), 'utf8');
  const asked = file + (await template({ prometheusRule: { enabled: true } }));
  const metrics = new Set(
    asked.match(/\b(lameduck|http_server|kubernetes_health|leader_election)[a-z]*_[a-z_]+\b(?=[{(])/g),
  );
  assert.ok(metrics.size > 12, [...metrics].join());
  for (const metric of metrics) {
    assert.ok(page.includes(`\`${metric.replace(/_(bucket|count)$/, '')}\``), metric);
  }
});

interface Dashboard {
  uid: string;
  title: string;
  panels: { title: string; description: string; targets: { expr: string }[] }[];
  templating: { list: { name: string; regex?: string; multi?: boolean; current?: { value: string[] } }[] };
}

async function dashboard(namespace = 'orders', release = 'shop', values: Values = {}): Promise<[string, Dashboard]> {
  const given = { dashboard: { enabled: true }, ...values };
  const { data } = (await object('ConfigMap', given, { release, args: ['--namespace', namespace] })) as unknown as {
    data: Record<string, string>;
  };
  const [[key, text] = ['', '{}'], ...others] = Object.entries(data);
  assert.deepEqual(others, []);
  return [key, JSON.parse(text) as Dashboard];
}

test('H-147 HC-30 the rendered dashboard has the same panels as files/dashboard.json in the chart, and its variables are set to the Helm release', async () => {
  const [key, { uid, title, panels, templating, ...rest }] = await dashboard();
  const file = JSON.parse(readFileSync(join(chart, 'files', 'dashboard.json'), 'utf8')) as Dashboard;
  const { uid: _uid, title: _title, panels: panelsOfFile, templating: _templating, ...restOfFile } = file;
  assert.deepEqual([panels, rest], [panelsOfFile, restOfFile]);
  assert.deepEqual([key, title], ['orders-shop-lameduck.json', 'lameduck: orders/shop-lameduck']);
  assert.match(uid, /^[a-z0-9-]{1,40}$/);
  const selected = templating.list.flatMap(({ name, current }) => (current ? [[name, ...current.value]] : []));
  assert.deepEqual(selected, [
    ['namespace', 'orders'],
    ['workload', 'shop-lameduck'],
  ]);
  assert.ok(templating.list.slice(1).every(({ multi }) => multi === true));
});

test('each curve in the panel Error rate is a percentage of all requests', async () => {
  const [, { panels }] = await dashboard();
  const targets = panels.find(({ title }) => title === 'Error rate')?.targets ?? [];
  assert.equal(targets.length, 2);
  for (const { expr } of targets) {
    assert.match(expr, / \/ sum by \(workload\) \(rate\(http_server_request_duration_seconds_count\{[^}]*\}/);
  }
});

// The maximum number of characters in the name of a Deployment that the chart renders.
const longest = 54;

// The name of a pod has at most 63 characters, of which the last five are random. Kubernetes shortens the part before
// the random characters to 58 characters.
const podOf = (deployment: string, hash: string): string => `${`${deployment}-${hash}-`.slice(0, 58)}x2x4z`;

test('the dashboard finds the Deployment of each pod for its variable `workload`, and its queries select the pods of this Deployment', async () => {
  const [, { panels, templating }] = await dashboard();
  const [, pattern = ''] =
    /^\/(.*)\/$/.exec(templating.list.find(({ name }) => name === 'workload')?.regex ?? '') ?? [];
  const selectors = panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => expr.match(/pod=~"[^"]+"/g) ?? []));
  assert.ok(selectors.length >= 20, selectors.join());
  for (const length of [1, 13, 45, 46, 47, 48, longest]) {
    const deployment = 'shop-lameduck-of-a-team-with-quite-a-long-name-of-its-own'.slice(0, length - 1) + 'z';
    const others = [`other-${deployment}`, `${deployment}-other`].filter((name) => name.length <= longest);
    for (const hash of ['5d9c7b8f64', '5d9c7b8f6']) {
      const pod = podOf(deployment, hash);
      assert.equal(new RegExp(pattern).exec(pod)?.[1], deployment, pod);
      for (const selector of new Set(selectors)) {
        const selected = new RegExp(`^(?:${selector.slice(6, -1).replace('$workload', `(${deployment}|more)`)})$`);
        assert.match(pod, selected);
        for (const other of others) assert.doesNotMatch(podOf(other, hash), selected);
      }
    }
  }
});

test('the dashboards and the log rules of two Helm releases have different names', async () => {
  const all = [await dashboard(), await dashboard('carts'), await dashboard('orders', 'other')];
  for (const names of [all.map(([key]) => key), all.map(([, { uid }]) => uid), all.map(([, { title }]) => title)]) {
    assert.equal(new Set(names).size, all.length, names.join());
  }
  const values = { logRules: { enabled: true, annotations: { k8s_folder: 'lameduck' } } };
  const rules = await Promise.all(
    ['orders', 'carts'].map((namespace) => object('ConfigMap', values, { args: ['--namespace', namespace] })),
  );
  for (const { metadata } of rules) assert.deepEqual(metadata.annotations, { k8s_folder: 'lameduck' });
  const [first, second] = rules.map(({ data }) => Object.entries(data as Record<string, string>).flat());
  assert.match(first?.join('') ?? '', /^orders-shop-lameduck\.yaml.*name: orders-shop-lameduck-log/s);
  assert.match(second?.join('') ?? '', /^carts-shop-lameduck\.yaml.*name: carts-shop-lameduck-log/s);
});

test(
  'H-147 HC-30 each panel has a description and queries that Prometheus can parse',
  { skip: noPromtool() },
  async () => {
    const [, { panels }] = await dashboard();
    const wanted = ['Error rate', 'CPU', 'Heap', 'Replicas', 'Event loop stalls', 'Leadership', 'Lifecycle signals'];
    const titles = panels.map(({ title }) => title);
    for (const title of wanted) assert.ok(titles.includes(title), title);
    assert.ok(panels.every(({ description }) => description.endsWith('.')));
    const rules = panels.flatMap(({ targets }) =>
      targets.map(({ expr }, index) => ({
        record: `panel:${String(index)}`,
        expr: expr.replaceAll(/\$__(rate_)?interval/g, '1m'),
      })),
    );
    const groups = rules.map((rule, index) => ({ name: String(index), rules: [rule] }));
    await checkRules({ groups });
  },
);
