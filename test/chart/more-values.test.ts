// Values that real services need beside those of the lifecycle: each arrives where Kubernetes expects it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { object, objects, type KubernetesObject } from './chart.ts';
import { containerOf, specOf } from './pods.ts';

const grpc = { name: 'grpc', containerPort: 9_090, servicePort: 90, appProtocol: 'kubernetes.io/h2c' };

test('H-122 a port more is declared by the container, offered by the Service and let in by the NetworkPolicy', async () => {
  const values = { extraPorts: [grpc, { name: 'debug', containerPort: 9_229 }], networkPolicy: { enabled: true } };
  const { ports } = containerOf(await object('Deployment', values));
  assert.deepEqual(ports.slice(2), [
    { name: 'grpc', containerPort: 9_090 },
    { name: 'debug', containerPort: 9_229 },
  ]);
  const service = (await object('Service', { ...values, service: { type: 'NodePort', nodePort: 30_080 } }))['spec'] as {
    ports: object[];
  };
  assert.deepEqual(service.ports, [
    { name: 'http', port: 80, targetPort: 'http', nodePort: 30_080 },
    { name: 'grpc', port: 90, targetPort: 'grpc', appProtocol: 'kubernetes.io/h2c' },
  ]);
  const { ingress } = (await object('NetworkPolicy', values))['spec'] as { ingress: { ports: object[] }[] };
  assert.deepEqual(ingress[0]?.ports, [{ port: 'http' }, { port: 'grpc' }, { port: 'debug' }]);
});

test('H-122 the pod has what the values say about its network, its scheduler and its runtime', async () => {
  const dnsConfig = { options: [{ name: 'ndots', value: '2' }] };
  const given = {
    runtimeClassName: 'gvisor',
    schedulerName: 'own',
    dnsPolicy: 'Default',
    hostNetwork: true,
    dnsConfig,
  };
  const constraints = [{ topologyKey: 'rack', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }];
  const deployment = await object('Deployment', {
    ...given,
    topologySpreadConstraints: constraints,
    deploymentAnnotations: { 'example.com/owner': 'shop' },
  });
  const { spec } = specOf(deployment).template;
  for (const [name, value] of Object.entries(given)) assert.deepEqual(spec[name], value, name);
  assert.deepEqual(spec.topologySpreadConstraints, constraints);
  assert.deepEqual(deployment.metadata.annotations, { 'example.com/owner': 'shop' });
  const plain = specOf(await object('Deployment')).template.spec;
  for (const name of Object.keys(given)) assert.ok(!(name in plain), name);
});

test('H-103 a behavior of the autoscaler replaces that of the chart', async () => {
  const behavior = { scaleDown: { stabilizationWindowSeconds: 60 } };
  const { spec } = (await object('HorizontalPodAutoscaler', {
    autoscaling: { enabled: true, behavior },
  })) as unknown as { spec: { behavior: object } };
  assert.deepEqual(spec.behavior, behavior);
});

test('H-138 an HTTPRoute has rules of its own, which lead to the Service unless they say where', async () => {
  const matches = [{ path: { type: 'PathPrefix', value: '/api' } }];
  const rules = [{ matches }, { backendRefs: [{ name: 'other', port: 80 }] }];
  const route = await object('HTTPRoute', { httpRoute: { enabled: true, parentRefs: [{ name: 'gateway' }], rules } });
  assert.deepEqual((route['spec'] as { rules: object[] }).rules, [
    { matches, backendRefs: [{ name: 'shop-lameduck', port: 80 }] },
    { backendRefs: [{ name: 'other', port: 80 }] },
  ]);
});

test('objects of any kind are added, as maps or as text, each rendered as a template', async () => {
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: '{{ .Release.Name }}-map' } };
  const text = 'apiVersion: v1\nkind: Secret\nmetadata:\n  name: {{ include "lameduck.fullname" . }}-text\n';
  const added = (await objects({ extraObjects: [map, text] })).filter((one): one is KubernetesObject =>
    /-(map|text)$/.test(one.metadata.name),
  );
  assert.deepEqual(
    added.map(({ kind, metadata }) => [kind, metadata.name]),
    [
      ['Secret', 'shop-lameduck-text'],
      ['ConfigMap', 'shop-map'],
    ],
  );
});
