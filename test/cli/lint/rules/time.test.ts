// Tests unusual cases of the lint rules about the grace period. The examples in docs/lint.md test the usual cases.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findingsIn } from '../findings.ts';

const pod = (seconds: number, more = ''): string =>
  `kind: Pod\nspec: { containers: [{ name: shop, lifecycle: { preStop: { sleep: { seconds: ${String(seconds)} } } }${more} }] }`;

const sleepRules = ['dropped-pre-stop-sleep', 'rejected-pre-stop-sleep'];

function rulesIn(manifest: string, kubernetesMinor?: number): string[] {
  return findingsIn(manifest, kubernetesMinor)
    .map(({ rule }) => rule)
    .filter((rule) => sleepRules.includes(rule));
}

test('H-080 Kubernetes 1.29 removes a preStop sleep, and each earlier version rejects the pod', () => {
  assert.deepEqual(rulesIn(pod(10), 28), ['rejected-pre-stop-sleep']);
  assert.deepEqual(rulesIn(pod(10), 29), ['dropped-pre-stop-sleep']);
  assert.deepEqual(rulesIn(pod(10), 30), []);
  assert.deepEqual(rulesIn(pod(10)), []);
});

test('H-080 `lameduck lint` reports a preStop sleep of 0 s for Kubernetes before 1.33, but not for 1.29: its API server removes the sleep, and the pod ends no differently without a sleep of 0 s', () => {
  const versions = [28, 29, 30, 32, 33, 36];
  const found = versions.map((minor) => rulesIn(pod(0), minor));
  assert.deepEqual(found, [[sleepRules[1]], [], [sleepRules[1]], [sleepRules[1]], [], []]);
});

test('H-080 `lameduck lint` accepts a preStop sleep that the API server of an old Kubernetes version removes, if the program sets a shutdown delay', () => {
  const delay = (value: string): string => `, env: [{ name: LAMEDUCK_SHUTDOWN_DELAY_DURATION, value: ${value} }]`;
  assert.deepEqual(rulesIn(pod(10, delay('10s')), 29), []);
  assert.deepEqual(rulesIn(pod(10, delay('0s')), 29), ['dropped-pre-stop-sleep']);
});

test('H-061 `lameduck lint` reports a grace period of 0 only if the manifest shows that the pod accepts connections', () => {
  const killed = (container: string): string =>
    `kind: Pod\nmetadata: { labels: { app: shop } }\nspec: { terminationGracePeriodSeconds: 0, containers: [${container}] }`;
  const service = 'kind: Service\nspec: { clusterIP: None, selector: { app: shop } }';
  const isReported = (manifest: string): boolean =>
    findingsIn(manifest).some(({ rule }) => rule === 'grace-period-zero');
  const image = 'image: registry.k8s.io/pause:3.10';
  assert.equal(isReported(killed(`{ ${image} }`)), false);
  assert.equal(isReported(killed(`{ ${image}, ports: [{ containerPort: 8080 }] }`)), true);
  assert.equal(isReported([killed(`{ ${image} }`), service].join('\n---\n')), true);
});
