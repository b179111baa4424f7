// Sends every object of the chart to a real API server as a dry run. The cluster is the one that KUBECONFIG or KUBECTL
// names. Without a cluster the tests are skipped, or fail if CHART_CLUSTER is `required`.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { run } from '../../support/command-line.ts';
import { kustomized, withComponents, writtenByHand } from './by-hand.ts';
import { helms, objects, tools, type KubernetesObject } from './chart.ts';
import { createOwnChart } from './own-chart.ts';
import { specOf } from './pods.ts';
import { valueSets } from './value-sets.ts';

const { KUBECTL: kubectl = 'kubectl', KUBECONFIG: kubeconfig, CHART_CLUSTER: wish } = process.env;
const hasCluster = kubeconfig !== undefined || kubectl !== 'kubectl';
const isRequired = wish === 'required';

/**
 * The kinds of Kubernetes objects that exist only on clusters of Google and AWS. No Go module contains the definitions
 * of these kinds, so the test leaves out objects of these kinds.
 */
const clouds = ['BackendConfig', 'GCPBackendPolicy', 'HealthCheckPolicy', 'TargetGroupConfiguration'];

const skip = hasCluster || isRequired ? false : 'no cluster: set KUBECONFIG';

describe('a real API server accepts the objects of the chart', { skip }, () => {
  const namespace = `chart-${randomBytes(8).toString('hex')}`;
  const folder = mkdtempSync(join(tmpdir(), 'chart-'));
  const added: string[] = [];

  // For a Deployment that violates pod security, the API server only sends a warning. So this test treats every warning
  // as a rejection.
  async function accepts(list: readonly object[], ...flags: string[]): Promise<void> {
    const file = join(folder, `${randomBytes(6).toString('hex')}.json`);
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: list }));
    const all = ['--namespace', namespace, '--dry-run=server', '--warnings-as-errors', '--filename', file];
    await run(kubectl, 'apply', ...all, ...flags);
  }

  before(async () => {
    assert.ok(hasCluster, 'CHART_CLUSTER is required, and neither KUBECONFIG nor KUBECTL names a cluster');
    for (const file of readdirSync(join(tools, 'crds'))) {
      const [group = '', resource = ''] = basename(file, '.yaml').split('_');
      const name = `${resource}.${group}`;
      if ((await run(kubectl, 'get', 'crd', name, '--ignore-not-found', '--output=name')) !== '') continue;
      await run(kubectl, 'create', '--filename', join(tools, 'crds', file));
      added.push(name);
    }
    for (const name of added) await run(kubectl, 'wait', '--for=condition=Established', '--timeout=30s', `crd/${name}`);
    await run(kubectl, 'create', 'namespace', namespace);
    const level = ['enforce=restricted', 'warn=restricted', 'enforce-version=latest', 'warn-version=latest'];
    const labels = level.map((label) => `pod-security.kubernetes.io/${label}`);
    await run(kubectl, 'label', 'namespace', namespace, ...labels);
    await run(kubectl, 'wait', '--for=create', '--timeout=30s', '--namespace', namespace, 'serviceaccount/default');
  });

  after(async () => {
    rmSync(folder, { recursive: true });
    if (!hasCluster) return;
    await run(kubectl, 'delete', 'namespace', namespace, '--ignore-not-found', '--timeout=60s');
    if (added.length > 0) await run(kubectl, 'delete', 'crd', ...added);
  });

  for (const [name, values] of Object.entries(valueSets)) {
    it(`H-152 H-157 HC-18 HC-32 the API server accepts every object of the chart with the values "${name}", with client-side and server-side apply`, async () => {
      for (const helm of helms) {
        const all = await objects(values, { helm, args: ['--namespace', namespace] });
        const asked = all.filter(({ kind }) => !clouds.includes(kind));
        assert.ok(asked.length >= 2);
        await accepts(asked);
        await accepts(asked, '--server-side');
      }
    });
  }

  it('the API server accepts the manifest of docs/kubernetes.md, the objects of examples/kustomize, and the pods that these objects create', async () => {
    for (const all of [writtenByHand(), await kustomized(), await withComponents(['lifecycle'])]) {
      await accepts(all);
      await accepts(all, '--server-side');
      await accepts(all.flatMap(podOf));
    }
  });

  // The chart that `helm create` makes sets no security contexts.
  const restricted = {
    podSecurityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  };

  it('the API server accepts a chart of helm create with the library chart, with client-side and server-side apply', async () => {
    for (const helm of helms) {
      const parent = await createOwnChart(helm);
      try {
        const values = { lameduck: { preStopSeconds: 5 }, ...restricted };
        const all = await objects(values, { helm, chart: join(parent, 'shop') });
        const deployments = all.filter(({ kind }) => kind === 'Deployment');
        await accepts(deployments);
        await accepts(deployments, '--server-side');
      } finally {
        rmSync(parent, { recursive: true });
      }
    }
  });

  it('H-109 HC-22 a namespace that enforces pod security restricted accepts the pods and the pod of helm test', async () => {
    for (const values of [
      {},
      valueSets['any image'] ?? {},
      valueSets['injection'] ?? {},
      valueSets['a security context of OpenShift'] ?? {},
    ]) {
      const all = await objects(values);
      await accepts(all.flatMap(podOf));
    }
  });

  it('H-109 a namespace that enforces pod security restricted rejects pods that violate it', async () => {
    const [pod] = (await objects({ securityContext: { allowPrivilegeEscalation: true } })).flatMap(podOf);
    await assert.rejects(accepts([pod ?? {}]), /violates PodSecurity "restricted:latest"/);
  });
});

/**
 * Returns the pod that a Deployment would create, because pod security rejects only pods, not Deployments. The pod uses
 * the service account `default`, because the service account of the chart does not exist in the test namespace.
 */
function podOf(object: KubernetesObject): object[] {
  if (object.kind === 'Pod') return [object];
  if (object.kind !== 'Deployment') return [];
  const { metadata, spec } = specOf(object).template;
  const { readinessGates: _, ...rest } = spec;
  return [
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...metadata, name: 'one' },
      spec: { ...rest, serviceAccountName: 'default' },
    },
  ];
}
