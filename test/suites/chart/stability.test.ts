import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { chart, helms, object, objects, template, type Values } from './chart.ts';
import { specOf } from './pods.ts';

async function podTemplate(values: Values = {}, other = chart): Promise<string> {
  return JSON.stringify(specOf(await object('Deployment', values, { chart: other })).template);
}

const everythingBeside: Values = {
  autoscaling: { enabled: true },
  lameduck: { allowUnknownFront: true },
  podDisruptionBudget: { enabled: false, allowNone: true },
  ingress: { enabled: true, hosts: [{ host: 'shop.example' }] },
  httpRoute: { enabled: true, parentRefs: [{ name: 'gateway' }] },
  networkPolicy: { enabled: true },
  podMonitor: { enabled: true },
  prometheusRule: { enabled: true },
  logRules: { enabled: true },
  dashboard: { enabled: true },
  tests: { enabled: false },
  commonLabels: { team: 'shop' },
  replicaCount: 7,
};

test('H-123 HC-17 if the chart is rendered twice with the same values, both outputs are byte-identical', async () => {
  for (const helm of helms) {
    assert.equal(await template(everythingBeside, { helm }), await template(everythingBeside, { helm }));
  }
});

test('H-123 HC-17 no template uses random values, the current time or a lookup in the cluster', () => {
  const sources = readFileSync(join(chart, 'Chart.yaml'), 'utf8') + templates();
  assert.doesNotMatch(
    sources,
    /\b(rand[A-Z]\w+|uuidv4|genCA|genSelfSignedCert|now|dateInZone|htpasswd|lookup)\b.*}}|Release\.(Revision|IsUpgrade|IsInstall)|Capabilities\.APIVersions/,
  );
});

function templates(): string {
  const files = readdirSync(chart, { recursive: true, encoding: 'utf8' }).filter((file) => /\.(tpl|yaml)$/.test(file));
  assert.ok(files.length > 20);
  return files.map((file) => readFileSync(join(chart, file), 'utf8')).join('\n');
}

test('H-124 HC-16 switching optional objects of the chart on or off does not restart pods', async () => {
  assert.equal(await podTemplate(everythingBeside), await podTemplate());
  assert.equal(await podTemplate({ serviceMonitor: { enabled: true } }), await podTemplate());
});

test('H-016 H-124 HC-15 if only the version of the chart or of the application changes, no pod restarts', async () => {
  const copy = mkdtempSync(join(tmpdir(), 'chart-'));
  try {
    cpSync(chart, copy, { recursive: true });
    const file = join(copy, 'Chart.yaml');
    const bumped = readFileSync(file, 'utf8')
      .replace(/^version: .*$/m, 'version: 99.1.2+build.5')
      .replace(/^appVersion: .*$/m, 'appVersion: "99.0.0"');
    writeFileSync(file, bumped);
    assert.equal(await podTemplate({}, copy), await podTemplate());
    const { metadata } = await object('Deployment', {}, { chart: copy });
    assert.equal(metadata.labels['helm.sh/chart'], 'lameduck-99.1.2_build.5');
  } finally {
    rmSync(copy, { recursive: true });
  }
});

test('H-015 HC-19 the selector of the Deployment, and the names of ports, Service and ServiceAccount, are the same in all versions of the chart', async () => {
  const deployment = await object('Deployment');
  assert.deepEqual(specOf(deployment).selector.matchLabels, {
    'app.kubernetes.io/name': 'lameduck',
    'app.kubernetes.io/instance': 'shop',
    'app.kubernetes.io/component': 'server',
  });
  assert.deepEqual(
    specOf(deployment).template.spec.containers[0].ports.map(({ name }) => name),
    ['http', 'probes'],
  );
  assert.equal((await object('Service')).metadata.name, 'shop-lameduck');
  assert.equal((await object('ServiceAccount')).metadata.name, 'shop-lameduck');
});

test('H-013 for any name of the Helm release, the names of all rendered objects are valid and begin with a letter', async () => {
  const values = { ...everythingBeside, tests: { enabled: true }, podMonitor: {}, serviceMonitor: { enabled: true } };
  // Names of Helm releases: one with a dot, and two that YAML would parse as numbers.
  const more = ['shop.v2', '2024', '1e3'];
  for (const release of ['1x', 'a'.repeat(53), `lameduck-${'b'.repeat(44)}`, ...more]) {
    for (const { kind, metadata } of await objects(values, { release })) {
      assert.match(metadata.name, /^[a-z][-a-z0-9]{0,61}[a-z0-9]$/, `${kind} of ${release}`);
      assert.equal(metadata.labels['app.kubernetes.io/instance'], release, kind);
    }
  }
});

test('H-013 a chart that depends on this chart can give it an alias with capital letters', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'chart-'));
  try {
    cpSync(chart, join(parent, 'charts', 'lameduck'), { recursive: true });
    const dependencies = [{ name: 'lameduck', version: '*', alias: 'orderApi', condition: 'orderApi.enabled' }];
    const parentChart = { apiVersion: 'v2', name: 'parent', version: '1.0.0', dependencies };
    writeFileSync(join(parent, 'Chart.yaml'), JSON.stringify(parentChart));
    const values = { global: { team: 'shop' }, orderApi: { enabled: true, lameduck: { front: 'nginx' } } };
    const deployment = await object('Deployment', values, { chart: parent });
    assert.equal(deployment.metadata.name, 'shop-orderapi');
    assert.equal(specOf(deployment).template.spec.terminationGracePeriodSeconds, 83);
  } finally {
    rmSync(parent, { recursive: true });
  }
});

test('H-018 labels for one object override the commonLabels with the same name, and no label appears twice', async () => {
  const values = { commonLabels: { team: 'shop', tier: 'web' }, service: { labels: { team: 'orders' } } };
  for (const document of parseAllDocuments(await template(values))) assert.deepEqual(document.errors, []);
  const { labels } = (await object('Service', values)).metadata;
  assert.deepEqual([labels['team'], labels['tier']], ['orders', 'web']);
  assert.equal((await object('Deployment', values)).metadata.labels['team'], 'shop');
});

test('H-158 HC-18 no list has two elements with the same merge key of server-side apply', async () => {
  const { spec } = specOf(await object('Deployment', everythingBeside)).template;
  const [{ env, ports, volumeMounts }] = spec.containers;
  const lists: (string | number)[][] = [
    env.map(({ name }) => name),
    ports.map(({ containerPort }) => containerPort),
    volumeMounts.map(({ mountPath }) => mountPath),
  ];
  for (const names of lists) assert.equal(new Set(names).size, names.length);
});

test('H-019 no object that the chart renders has the field metadata.namespace', async () => {
  for (const { kind, metadata } of await objects(everythingBeside)) assert.ok(!('namespace' in metadata), kind);
});
