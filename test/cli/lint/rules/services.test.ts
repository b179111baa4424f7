// Tests unusual cases of the lint rules about Services. The examples in docs/lint.md test the usual cases.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findingsIn } from '../findings.ts';

const service =
  'kind: Service\nmetadata: { name: shop }\nspec: { selector: { app: shop }, publishNotReadyAddresses: true, ports: [{ port: 80 }] }';

const workload = (kind: string, spec: string, name = 'shop'): string =>
  `kind: ${kind}\nmetadata: { name: ${name} }\nspec: { ${spec}, template: { metadata: { labels: { app: shop } }, spec: { containers: [{ name: shop }] } } }`;

test('H-073 `lameduck lint` accepts publishNotReadyAddresses in a Service that never has more than one pod', () => {
  const isReported = (...workloads: readonly string[]): boolean =>
    findingsIn([service, ...workloads].join('\n---\n')).some(({ rule }) => rule === 'publish-not-ready-addresses');
  const only = workload('StatefulSet', 'replicas: 1');
  assert.equal(isReported(only), false);
  assert.equal(isReported(workload('Deployment', 'strategy: { type: Recreate }')), false);
  assert.equal(isReported(), true);
  assert.equal(isReported(workload('StatefulSet', 'replicas: 2')), true);
  // In a rolling update, the new pod starts while the old pod still serves requests.
  assert.equal(isReported(workload('Deployment', 'replicas: 1')), true);
  assert.equal(isReported(only, workload('StatefulSet', 'replicas: 1', 'shop-b')), true);
});
