// Reads the manifests for users who deploy without the chart: the manifest in docs/kubernetes.md, and the output of
// Kustomize for examples/kustomize.
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { blocksIn, readPage, root } from '../../support/markdown.ts';
import { documentsIn, run, tools, type KubernetesObject } from './chart.ts';

const kustomize = join(tools, 'kustomize');
assert.ok(existsSync(kustomize), `${kustomize} is missing: run bash .ci/chart-tools to install it`);

/** `only()` returns the object of a kind, and fails unless there is exactly one. */
export function only(kind: string, list: readonly KubernetesObject[]): KubernetesObject {
  const [found, ...others] = list.filter((one) => one.kind === kind);
  assert.deepEqual(others, []);
  return found ?? assert.fail(`there is no ${kind}`);
}

const examples = join(root, 'examples', 'kustomize');

/** `kustomized()` returns the objects of examples/kustomize/shop, or of another folder. */
export async function kustomized(folder = join(examples, 'shop')): Promise<KubernetesObject[]> {
  const { code, output, errors } = await run(kustomize, ['build', folder]);
  assert.equal(code, 0, errors);
  return documentsIn(output);
}

/** withComponents returns the objects of examples/kustomize/shop with these Kustomize components added. */
export async function withComponents(names: readonly string[]): Promise<KubernetesObject[]> {
  const folder = mkdtempSync(join(tmpdir(), 'kustomize-'));
  try {
    cpSync(join(examples, 'shop', 'deployment.yaml'), join(folder, 'deployment.yaml'));
    // Kustomize rejects absolute paths, so pass a relative path.
    const components = names.map((name) => relative(realpathSync(folder), join(examples, name)));
    writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify({ resources: ['deployment.yaml'], components }));
    return await kustomized(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * loadBalancers has the names of the Kustomize components for load balancers and proxies: the names of their folders.
 */
export const loadBalancers: readonly string[] = readdirSync(join(examples, 'load-balancers'));

/** writtenByHand returns the objects of the manifest that docs/kubernetes.md shows. */
export function writtenByHand(): KubernetesObject[] {
  const blocks = blocksIn(readPage('docs/kubernetes.md')).filter(({ text }) => text.includes('kind: Deployment'));
  assert.equal(blocks.length, 1);
  return documentsIn(blocks[0]?.text ?? '');
}
