// Tests that the pages about load balancers, scaling, delivery and other workloads have the times and values of the chart.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { blocksIn, readPage, root, tablesIn } from '../../support/markdown.ts';
import { objects, type KubernetesObject, type Values } from './chart.ts';
import { specOf } from './pods.ts';

const index = 'docs/load-balancers.md';

test('H-056 the page of each load balancer or proxy has the same durations as the table in docs/load-balancers.md', () => {
  const [, ...rows] = tablesIn(readPage(index))[0] ?? [];
  const products = rows.filter(([front = '']) => !['`none`', '`gateway`'].includes(front));
  assert.equal(products.length, 9);
  for (const [front = '', link = '', ...times] of products) {
    const name = front.replaceAll('`', '');
    const file = `load-balancers-${name}.md`;
    assert.ok(link.includes(`](${file})`), link);
    const page = readPage(`docs/${file}`);
    assert.deepEqual(tablesIn(page)[0]?.[1], times, file);
    assert.match(blocksIn(page)[0]?.text ?? '', new RegExp(`--set lameduck\\.front=${name}\\s*$`), file);
  }
});

test('H-056 the page of each load balancer or proxy links to the source of its idle timeout', () => {
  const files = readdirSync(join(root, 'docs')).filter((file) => /^load-balancers-.*\.md$/.test(file));
  assert.equal(files.length, 9);
  for (const file of files) {
    const items = readPage(`docs/${file}`).split(/\n(?=- |\n)/);
    assert.ok(
      items.some((item) => item.startsWith('- ') && /\bidle\b/.test(item) && item.includes('](https://')),
      file,
    );
  }
});

/** shownValues returns the values files in the code blocks of a documentation page. */
function shownValues(page: string): Values[] {
  const files = blocksIn(readPage(page)).filter(({ text }) => text.startsWith('# values.yaml'));
  assert.ok(files.length > 0, page);
  return files.map(({ text }) => parse(text) as Values);
}

async function rendered(values: Values): Promise<{ all: KubernetesObject[]; grace: number }> {
  const all = await objects(values);
  const deployment = all.find(({ kind }) => kind === 'Deployment') as KubernetesObject;
  return { all, grace: specOf(deployment).template.spec.terminationGracePeriodSeconds };
}

test('docs/scaling.md shows a ScaledObject for the Deployment of the chart, and a grace period for Spot nodes of GKE', async () => {
  const [keda = {}, spot = {}] = shownValues('docs/scaling.md');
  const { all } = await rendered(keda);
  const scaled = all.find(({ kind }) => kind === 'ScaledObject')?.['spec'] as { scaleTargetRef: object };
  assert.deepEqual(scaled.scaleTargetRef, { name: 'shop-lameduck' });
  assert.ok(!('replicas' in (all.find(({ kind }) => kind === 'Deployment')?.['spec'] as object)));
  const { grace } = await rendered(spot);
  assert.ok(grace <= 15);
  assert.ok(readPage('docs/scaling.md').includes(`a grace period of ${String(grace)} s`));
});

test('docs/delivery.md shows a Rollout with the selector of the chart', async () => {
  const [values = {}] = shownValues('docs/delivery.md');
  const { all } = await rendered(values);
  const rollout = all.find(({ kind }) => kind === 'Rollout')?.['spec'] as { selector: object; workloadRef: object };
  const deployment = all.find(({ kind }) => kind === 'Deployment') as KubernetesObject;
  assert.deepEqual(rollout.selector, specOf(deployment).selector);
  assert.partialDeepStrictEqual(rollout.workloadRef, { kind: 'Deployment', name: deployment.metadata.name });
});

test('docs/other-workloads.md shows values for a worker, with their grace period', async () => {
  const [values = {}] = shownValues('docs/other-workloads.md');
  const { all, grace } = await rendered(values);
  assert.ok(!all.some(({ kind }) => kind === 'Service'));
  assert.ok(readPage('docs/other-workloads.md').includes(`a grace period of ${String(grace)} s`));
});
