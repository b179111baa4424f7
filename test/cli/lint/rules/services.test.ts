// Tests unusual cases of the lint rules about Services. The examples in docs/lint.md test the usual cases.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findingsIn } from '../findings.ts';

const unready =
  'kind: Service\nmetadata: { name: shop }\nspec: { selector: { app: shop }, publishNotReadyAddresses: true, ports: [{ port: 80 }] }';

const workload = (kind: string, spec: string, name = 'shop'): string =>
  `kind: ${kind}\nmetadata: { name: ${name} }\nspec: { ${spec}, template: { metadata: { labels: { app: shop } }, spec: { containers: [{ name: shop }] } } }`;

test('H-073 `lameduck lint` accepts publishNotReadyAddresses in a Service that never has more than one pod', () => {
  const isReported = (...workloads: readonly string[]): boolean =>
    findingsIn([unready, ...workloads].join('\n---\n')).some(({ rule }) => rule === 'publish-not-ready-addresses');
  const only = workload('StatefulSet', 'replicas: 1');
  assert.equal(isReported(only), false);
  assert.equal(isReported(workload('Deployment', 'strategy: { type: Recreate }')), false);
  assert.equal(isReported(), true);
  assert.equal(isReported(workload('StatefulSet', 'replicas: 2')), true);
  // In a rolling update, the new pod starts while the old pod still serves requests.
  assert.equal(isReported(workload('Deployment', 'replicas: 1')), true);
  assert.equal(isReported(only, workload('StatefulSet', 'replicas: 1', 'shop-b')), true);
});

function pathsIn(rule: string, ...objects: readonly string[]): string[] {
  return findingsIn(objects.join('\n---\n'))
    .filter((one) => one.rule === rule)
    .map(({ path }) => path);
}

const withPorts = (ports: string, kind = 'Deployment'): string =>
  `kind: ${kind}\nmetadata: { name: shop }\nspec: { template: { metadata: { labels: { app: shop } }, spec: { containers: [{ name: shop, ports: [${ports}] }] } } }`;

const to = (port: string, more = ''): string =>
  `kind: Service\nmetadata: { name: shop }\nspec: { selector: { app: shop }, ports: [{ port: 80, ${port} }]${more} }`;

test('H-073 `lameduck lint` reports a target port of a Service if no container of the Service declares a port with this name and protocol', () => {
  const found = (...objects: readonly string[]): string[] => pathsIn('unknown-target-port', ...objects);
  const web = withPorts('{ name: web, containerPort: 8080 }');
  const path = 'spec.ports[0].targetPort';
  assert.deepEqual(found(to('targetPort: http'), web), [path]);
  assert.deepEqual(found(to('targetPort: web'), web), []);
  assert.deepEqual(found(to('targetPort: http'), withPorts('')), [path]);
  assert.deepEqual(found(to('targetPort: web, protocol: UDP'), web), [path]);
  const udp = withPorts('{ name: web, containerPort: 8080, protocol: UDP }');
  assert.deepEqual(found(to('targetPort: web, protocol: UDP'), udp), []);
});

test('`lameduck lint` accepts a number as the target port of a Service, because a container need not list its ports', () => {
  for (const port of ['targetPort: 9090', 'name: http'])
    assert.deepEqual(pathsIn('unknown-target-port', to(port), withPorts('{ name: web, containerPort: 8080 }')), []);
});

test('`lameduck lint` does not report the named target port of a Service if a pod of the Service may declare this port, or if the Service is headless', () => {
  const found = (...objects: readonly string[]): string[] => pathsIn('unknown-target-port', ...objects);
  const without = withPorts('');
  const named = to('targetPort: http');
  // Another workload whose pods the same Service selects declares the port `http`, for example during a migration.
  assert.deepEqual(found(named, without, withPorts('{ name: http, containerPort: 80 }', 'StatefulSet')), []);
  const sidecar =
    'initContainers: [{ restartPolicy: Always, ports: [{ name: http, containerPort: 80 }] }], containers:';
  assert.deepEqual(found(named, without.replace('containers:', sidecar)), []);
  // The clients of a headless Service choose the port on their own, so the `targetPort` of a headless Service is never
  // reported.
  assert.deepEqual(found(to('targetPort: http', ', clusterIP: None'), without), []);
  assert.deepEqual(found(to('targetPort: "{{ .Values.port }}"'), without), []);
  assert.deepEqual(found(named, withPorts('{ name: "{{ .Values.port }}", containerPort: 80 }')), []);
  assert.deepEqual(found(named), [], 'the pods of the Service are not in the manifests');
  assert.deepEqual(found(named, without.replace(/containers: .*/, 'containers: {} } } }')), []);
});

const ingress = (port: string, name = 'shop'): string =>
  `kind: Ingress\nmetadata: { name: shop }\nspec: { rules: [{ http: { paths: [{ backend: { service: { name: ${name}, port: { ${port} } } } }] } }] }`;

test('H-079 `lameduck lint` reports a backend of an Ingress if the Service has no port with its name or number', () => {
  const found = (...objects: readonly string[]): string[] => pathsIn('unknown-backend-port', ...objects);
  const service = to('name: web, targetPort: 8080');
  const path = 'spec.rules[0].http.paths[0].backend.service.port';
  assert.deepEqual(found(ingress('name: http'), service), [path]);
  assert.deepEqual(found(ingress('number: 81'), service), [path]);
  const byDefault = `kind: Ingress\nspec: { defaultBackend: { service: { name: shop, port: { number: 81 } } } }`;
  assert.deepEqual(found(byDefault, service), ['spec.defaultBackend.service.port']);
  // An Ingress of ingress-nginx may also name the `targetPort` of a Service.
  for (const port of ['name: web', 'number: 80', 'number: 8080'])
    assert.deepEqual(found(ingress(port), service), [], port);
});

test('`lameduck lint` does not report the port of an Ingress backend if the manifests do not show all ports of the Service', () => {
  const found = (...objects: readonly string[]): string[] => pathsIn('unknown-backend-port', ...objects);
  const service = to('name: web');
  assert.deepEqual(found(ingress('name: http', 'other'), service), []);
  assert.deepEqual(found(ingress('name: http'), service, to('name: http')), []);
  assert.deepEqual(found(ingress('number: 8080'), to('name: web', ', type: ExternalName')), []);
  assert.deepEqual(found(ingress('name: "{{ .Values.port }}"'), service), []);
  assert.deepEqual(found(ingress('name: http'), to('name: "{{ .Values.port }}"')), []);
  // If the backend port of an Ingress has the name `use-annotation`, the AWS Load Balancer Controller reads the backend
  // from an annotation.
  assert.deepEqual(found(ingress('name: use-annotation'), service), []);
});
