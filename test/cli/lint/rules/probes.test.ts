// Tests the lint rules about probes with unusual manifests. The examples in docs/lint.md test these rules with usual
// manifests.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findingsIn } from '../findings.ts';

const service = (more = ''): string => `kind: Service\nspec: { selector: { app: shop }, ports: [{ port: 80 }]${more} }`;

const workload = (container: string, kind = 'Deployment'): string =>
  `kind: ${kind}\nmetadata: { name: shop }\nspec: { template: { metadata: { labels: { app: shop } }, spec: { containers: [{ name: shop, ports: [{ name: web, containerPort: 8080 }], ${container} }] } } }`;

const rules = ['never-ready', 'unknown-probe-port'];

function found(...objects: readonly string[]): string[] {
  return findingsIn(objects.join('\n---\n'))
    .filter(({ rule }) => rules.includes(rule))
    .map(({ rule, severity, path }) => `${severity} ${rule} ${path.replace('spec.template.spec.containers[0].', '')}`);
}

test('K-008 `lameduck lint` reports an error if a startup or readiness probe names an unknown port and a Service selects the pods', () => {
  for (const action of ['httpGet', 'tcpSocket']) {
    for (const type of ['startup', 'readiness']) {
      const manifest = workload(`${type}Probe: { ${action}: { port: http } }`);
      const path = `${type}Probe.${action}.port`;
      assert.deepEqual(found(manifest, service()), [`error never-ready ${path}`]);
      assert.deepEqual(found(manifest), [`advice unknown-probe-port ${path}`]);
    }
  }
});

test('K-008 for an unknown port name in a probe, `lameduck lint` gives an advice instead of an error if no Service waits for the success of this probe', () => {
  const readiness = 'readinessProbe: { httpGet: { port: http } }';
  const advice = (type: string): string[] => [`advice unknown-probe-port ${type}Probe.httpGet.port`];
  assert.deepEqual(found(workload('livenessProbe: { httpGet: { port: http } }'), service()), advice('liveness'));
  assert.deepEqual(found(workload(readiness), service(', clusterIP: None')), advice('readiness'));
  assert.deepEqual(found(workload(readiness), service(', publishNotReadyAddresses: true')), advice('readiness'));
  assert.deepEqual(
    found(workload(readiness.replace('http }', '"{{ .Values.port }}" }')), service()),
    advice('readiness'),
  );
  assert.deepEqual(found(workload(readiness, 'Job'), service()), advice('readiness'));
});

test('`lameduck lint` accepts the port of a probe that is a number or the name of a port of the container', () => {
  for (const port of ['9090', 'web'])
    assert.deepEqual(found(workload(`readinessProbe: { httpGet: { port: ${port} } }`), service()), []);
});

test('`lameduck lint` advises on a missing readiness probe only if the pods have no readiness gate', () => {
  const isReported = (manifest: string): boolean =>
    findingsIn(`${manifest}\n---\n${service()}`).some(({ rule }) => rule === 'no-readiness-probe');
  const gates = 'readinessGates: [{ conditionType: target-health.elbv2.k8s.aws/shop }], containers:';
  assert.equal(isReported(workload('')), true);
  assert.equal(isReported(workload('').replace('containers:', gates)), false);
});
