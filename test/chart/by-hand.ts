// What is deployed without the chart: the manifest of docs/kubernetes.md, and examples/kustomize as Kustomize builds it.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { blocksIn, readPage, root } from '../support/markdown.ts';
import { documentsIn, run, tools, type KubernetesObject } from './chart.ts';

const kustomize = join(tools, 'kustomize');
assert.ok(existsSync(kustomize), `${kustomize} is missing: bash .ci/chart-tools brings it`);

/** only returns the one object of a kind. */
export function only(kind: string, list: readonly KubernetesObject[]): KubernetesObject {
  const [found, ...others] = list.filter((one) => one.kind === kind);
  assert.deepEqual(others, []);
  return found ?? assert.fail(`there is no ${kind}`);
}

/** kustomized returns the objects of examples/kustomize/shop. */
export async function kustomized(): Promise<KubernetesObject[]> {
  const { code, output, errors } = await run(kustomize, ['build', join(root, 'examples', 'kustomize', 'shop')]);
  assert.equal(code, 0, errors);
  return documentsIn(output);
}

/** writtenByHand returns the objects of the one manifest of docs/kubernetes.md. */
export function writtenByHand(): KubernetesObject[] {
  const blocks = blocksIn(readPage('docs/kubernetes.md')).filter(({ text }) => text.includes('kind: Deployment'));
  assert.equal(blocks.length, 1);
  return documentsIn(blocks[0]?.text ?? '');
}
