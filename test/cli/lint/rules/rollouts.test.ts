// Tests the lint rules about rollouts with unusual manifests. The examples in docs/lint.md test these rules with usual
// manifests.
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

function pathsIn(rules: readonly string[], ...objects: readonly string[]): string[] {
  return findingsIn(objects.join('\n---\n'))
    .filter(({ rule }) => rules.includes(rule))
    .map(({ path }) => path);
}

const zonesIn = (...objects: readonly string[]): string[] => pathsIn(['single-zone'], ...objects);

const outagesIn = (...objects: readonly string[]): string[] => pathsIn(['rollout-without-pods'], ...objects);

test('H-081 `lameduck lint` reports that a required node affinity allows only one zone if each term of the affinity names this zone and no other', () => {
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
    assert.deepEqual(zonesIn(deployment(affinity), service), found, affinity);
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

test('H-064 `lameduck lint` reports an error if a rollout ends all pods of a Deployment at once, according to the limits that the Deployment controller computes', () => {
  const path = 'spec.strategy.rollingUpdate.maxUnavailable';
  for (const [spec, found] of [
    ['replicas: 2, strategy: { rollingUpdate: { maxUnavailable: 100% } }', [path]],
    ['replicas: 2, strategy: { rollingUpdate: { maxUnavailable: 2 } }', [path]],
    ['replicas: 2, strategy: { rollingUpdate: { maxUnavailable: 5 } }', [path]],
    ['replicas: 2, strategy: { rollingUpdate: { maxUnavailable: 1 } }', []],
    ['replicas: 3, strategy: { rollingUpdate: { maxUnavailable: 99% } }', []],
    // The Deployment controller rounds a percentage of maxUnavailable down.
    ['replicas: 1', []],
    ['replicas: 1, strategy: { rollingUpdate: { maxUnavailable: 1 } }', [path]],
    // If maxSurge is 0 and maxUnavailable is rounded down to 0, the Deployment controller uses a maxUnavailable of 1.
    ['replicas: 1, strategy: { rollingUpdate: { maxSurge: 0 } }', [path]],
    ['replicas: 1, strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } }', []],
    ['replicas: 0, strategy: { rollingUpdate: { maxUnavailable: 100% } }', []],
    ['paused: false, strategy: { rollingUpdate: { maxUnavailable: 100% } }', [path]],
  ] as const) {
    assert.deepEqual(outagesIn(deployment('', 'shop', spec), service), found, spec);
  }
});

test('H-064 if an autoscaler sets the number of pods, `lameduck lint` reports a rollout that ends all pods only for a maxUnavailable of 100 %', () => {
  const autoscaler =
    'kind: HorizontalPodAutoscaler\nspec: { scaleTargetRef: { kind: Deployment, name: shop }, minReplicas: 2, maxReplicas: 5 }';
  const withLimit = (maxUnavailable: string): string =>
    deployment('', 'shop', `strategy: { rollingUpdate: { maxUnavailable: ${maxUnavailable} } }`);
  assert.equal(outagesIn(withLimit('100%'), service, autoscaler).length, 1);
  assert.equal(outagesIn(withLimit('1'), service, autoscaler).length, 0);
});

test('H-064 for a rollout that ends all pods of a workload, `lameduck lint` gives an advice instead of an error if every Service of the workload also selects pods of another workload, or if no Service selects its pods', () => {
  const all = deployment('', 'shop', 'replicas: 2, strategy: { rollingUpdate: { maxUnavailable: 100% } }');
  const other = deployment('', 'shop-b');
  for (const manifests of [[all], [all, other, service]]) {
    assert.deepEqual(outagesIn(...manifests), []);
    assert.equal(pathsIn(['fewer-pods-in-rollout'], ...manifests).length, 1);
  }
  assert.deepEqual(pathsIn(['fewer-pods-in-rollout'], all, service), [], 'the error replaces the advice');
});

test('H-081 `lameduck lint` reports a single zone only for at least two pods, or for an autoscaler with a minimum of at least two', () => {
  const scaled = 'revisionHistoryLimit: 3';
  const autoscaler = (least: string): string =>
    `kind: HorizontalPodAutoscaler\nspec: { scaleTargetRef: { kind: Deployment, name: shop }, maxReplicas: 5${least} }`;
  assert.equal(zonesIn(deployment(inZone), service).length, 1);
  assert.equal(zonesIn(deployment(inZone, 'shop', 'replicas: 1'), service).length, 0);
  assert.equal(zonesIn(deployment(inZone, 'shop', scaled), service).length, 0);
  assert.equal(zonesIn(deployment(inZone, 'shop', scaled), service, autoscaler('')).length, 0);
  assert.equal(zonesIn(deployment(inZone, 'shop', scaled), service, autoscaler(', minReplicas: 2')).length, 1);
});

test('H-081 `lameduck lint` does not report that all pods of a workload are in one zone if their Service also selects pods of another workload, or if no Service selects them', () => {
  const other = deployment('nodeSelector: { topology.kubernetes.io/zone: b }', 'shop-b');
  assert.deepEqual(zonesIn(deployment(inZone), other, service), []);
  assert.deepEqual(zonesIn(deployment(inZone)), []);
});
