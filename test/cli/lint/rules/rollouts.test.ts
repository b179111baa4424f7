// Tests unusual cases of the lint rules about rollouts. The examples in docs/lint.md test the usual cases.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findingsIn } from '../findings.ts';

const service = 'kind: Service\nmetadata: { name: shop }\nspec: { selector: { app: shop }, ports: [{ port: 80 }] }';

const deployment = (pod: string, name = 'shop', replicas = 'replicas: 2'): string =>
  `kind: Deployment\nmetadata: { name: ${name} }\nspec: { ${replicas}, template: { metadata: { labels: { app: shop } }, spec: { ${pod} } } }`;

const inZone = 'nodeSelector: { topology.kubernetes.io/zone: a }';

const required = (...terms: readonly string[]): string =>
  `affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [${terms.join(', ')}] } } }`;

const term = (zones: string, more = ''): string =>
  `{ matchExpressions: [{ key: topology.kubernetes.io/zone, operator: In, values: [${zones}] }${more}] }`;

function pathsIn(...objects: readonly string[]): string[] {
  return findingsIn(objects.join('\n---\n'))
    .filter(({ rule }) => rule === 'single-zone')
    .map(({ path }) => path);
}

test('H-081 `lameduck lint` reports a required node affinity as a single zone only if each of its terms names that zone', () => {
  const terms =
    'spec.template.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms';
  const arm = ', { key: kubernetes.io/arch, operator: In, values: [arm64] }';
  for (const [affinity, found] of [
    [required(term('a')), [terms]],
    [required(term('a'), term('a', arm)), [terms]],
    [required(term('a, b')), []],
    [required(term('a'), term('b')), []],
    [required(term('a'), '{ matchExpressions: [] }'), []],
    [required(term('a').replace('In', 'NotIn')), []],
    [required(term('a').replace('zone', 'region')), []],
    [required(term('a')).replace('required', 'preferred'), []],
  ] as const) {
    assert.deepEqual(pathsIn(deployment(affinity), service), found, affinity);
  }
});

test('H-066 `lameduck lint` does not report a StatefulSet with one pod if its partition excludes the pod from the rollout', () => {
  const stateful = (partition: number): string =>
    deployment(
      '',
      'shop',
      `replicas: 1, updateStrategy: { rollingUpdate: { partition: ${String(partition)} } }`,
    ).replace('Deployment', 'StatefulSet');
  const rulesIn = (manifest: string): string[] => findingsIn(`${service}\n---\n${manifest}`).map(({ rule }) => rule);
  assert.ok(rulesIn(stateful(0)).includes('rollout-without-pods'));
  assert.ok(!rulesIn(stateful(1)).includes('rollout-without-pods'));
});

test('H-081 `lameduck lint` reports a single zone only for at least two pods, or for an autoscaler with a minimum of at least two', () => {
  const scaled = 'revisionHistoryLimit: 3';
  const autoscaler = (least: string): string =>
    `kind: HorizontalPodAutoscaler\nspec: { scaleTargetRef: { kind: Deployment, name: shop }, maxReplicas: 5${least} }`;
  assert.equal(pathsIn(deployment(inZone), service).length, 1);
  assert.equal(pathsIn(deployment(inZone, 'shop', 'replicas: 1'), service).length, 0);
  assert.equal(pathsIn(deployment(inZone, 'shop', scaled), service).length, 0);
  assert.equal(pathsIn(deployment(inZone, 'shop', scaled), service, autoscaler('')).length, 0);
  assert.equal(pathsIn(deployment(inZone, 'shop', scaled), service, autoscaler(', minReplicas: 2')).length, 1);
});

test('H-081 `lameduck lint` does not report a workload in one zone if its Service also selects another workload, or if no Service selects it', () => {
  const other = deployment('nodeSelector: { topology.kubernetes.io/zone: b }', 'shop-b');
  assert.deepEqual(pathsIn(deployment(inZone), other, service), []);
  assert.deepEqual(pathsIn(deployment(inZone)), []);
});
