// Tests values that have the names and forms of other projects' charts. This chart accepts them, so that a team can
// copy its values when it migrates.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { object, objects, refusals, type KubernetesObject } from './chart.ts';
import { containerOf, specOf } from './pods.ts';
import { readSchema } from './readme.ts';

const lameduck = { front: 'nginx' };

/** Chart values that set every field of the pod and of its container that the chart can set. */
const everyField = {
  affinity: { nodeAffinity: {} },
  args: ['main.js'],
  command: ['node'],
  dnsConfig: { options: [{ name: 'ndots', value: '2' }] },
  dnsPolicy: 'None',
  extraEnvFrom: [{ configMapRef: { name: 'features' } }],
  hostAliases: [{ ip: '192.0.2.7', hostnames: ['a.example'] }],
  hostNetwork: true,
  imagePullSecrets: ['registry'],
  initContainers: [{ name: 'migrate' }],
  lameduck: { preStopSeconds: 1, terminationMessagePath: '/dev/termination-log' },
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  priorityClassName: 'high',
  readinessGates: [{ conditionType: 'example.com/registered' }],
  runtimeClassName: 'gvisor',
  schedulerName: 'own',
  tolerations: [{ operator: 'Exists' }],
};

test('H-122 extraPodSpec and extraContainerSpec can set fields of Kubernetes for which the chart has no value', async () => {
  const pod = { shareProcessNamespace: true, hostUsers: false };
  const container = { workingDir: '/app', tty: true };
  const deployment = await object('Deployment', { extraPodSpec: pod, extraContainerSpec: container });
  assert.partialDeepStrictEqual(specOf(deployment).template.spec, pod);
  assert.partialDeepStrictEqual(containerOf(deployment), container);
});

test('the chart rejects fields in extraPodSpec and extraContainerSpec that the chart itself sets', async () => {
  const schema = readSchema().properties ?? {};
  const { spec } = specOf(await object('Deployment', everyField)).template;
  const used = { extraPodSpec: Object.keys(spec), extraContainerSpec: Object.keys(spec.containers[0]) };
  assert.ok(used.extraPodSpec.length > 20 && used.extraContainerSpec.length > 16);
  for (const [value, fields] of Object.entries(used)) {
    const lines = await refusals({ [value]: Object.fromEntries(fields.map((field) => [field, 'x'])) });
    assert.deepEqual(
      lines.map((line) => line.split(' ')[0] ?? '').sort(),
      fields.map((field) => `${value}.${field}`).sort(),
    );
    for (const line of lines) {
      const [, instead = ''] = /; set ([a-zA-Z.]+) instead$/.exec(line) ?? [];
      const [first = '', second] = instead.split('.');
      if (instead === '') assert.match(line, /; leave it out$/);
      else assert.ok(second === undefined ? schema[first] : schema[first]?.properties?.[second], line);
    }
  }
});

test('a variable in env can have a valueFrom, as in extraEnv of other charts', async () => {
  const valueFrom = { secretKeyRef: { name: '{{ .Release.Name }}-database', key: 'url' } };
  const { env } = containerOf(await object('Deployment', { env: { DATABASE_URL: { valueFrom } } }));
  assert.deepEqual(env.at(-1), {
    name: 'DATABASE_URL',
    valueFrom: { secretKeyRef: { name: 'shop-database', key: 'url' } },
  });
});

test('the pods get the secrets of imagePullSecrets and of global.imagePullSecrets, as names or as maps', async () => {
  const values = { imagePullSecrets: ['own', { name: 'both' }], global: { imagePullSecrets: ['both', 'shared'] } };
  const all = await objects(values);
  const pod = all.find(({ kind }) => kind === 'Pod') as KubernetesObject & { spec: object };
  const { spec } = specOf(all.find(({ kind }) => kind === 'Deployment') as KubernetesObject).template;
  const names = [{ name: 'own' }, { name: 'both' }, { name: 'shared' }];
  for (const one of [spec, pod.spec]) assert.partialDeepStrictEqual(one, { imagePullSecrets: names });
});

test('H-122 an extra port can be a UDP port, and can have a hostPort and a nodePort', async () => {
  const extraPorts = [
    { name: 'dns', containerPort: 8053, hostPort: 53, protocol: 'UDP', servicePort: 53, nodePort: 30_053 },
    { name: 'dns-tcp', containerPort: 8053 },
  ];
  const all = await objects({ extraPorts, service: { type: 'NodePort' }, networkPolicy: { enabled: true } });
  const specIn = (wanted: string): never => all.find(({ kind }) => kind === wanted)?.['spec'] as never;
  const deployment = all.find(({ kind }) => kind === 'Deployment') as KubernetesObject;
  assert.deepEqual(containerOf(deployment).ports.slice(2), [
    { name: 'dns', containerPort: 8053, hostPort: 53, protocol: 'UDP' },
    { name: 'dns-tcp', containerPort: 8053 },
  ]);
  const { ports } = specIn('Service') as { ports: object[] };
  assert.deepEqual(ports[1], { name: 'dns', port: 53, targetPort: 'dns', nodePort: 30_053, protocol: 'UDP' });
  const { ingress } = specIn('NetworkPolicy') as { ingress: { ports: object[] }[] };
  assert.deepEqual(ingress[0]?.ports, [{ port: 'http' }, { port: 'dns', protocol: 'UDP' }, { port: 'dns-tcp' }]);
});

test('H-135 a path of an Ingress can have a backend other than the Service of the chart, such as an action of an ALB', async () => {
  const backend = { service: { name: 'ssl-redirect', port: { name: 'use-annotation' } } };
  const hosts = [{ host: 'a.example', paths: [{ path: '/', backend }, '/api'] }];
  const { rules } = (await object('Ingress', { lameduck, ingress: { enabled: true, hosts } }))['spec'] as {
    rules: { http: { paths: { backend: object }[] } }[];
  };
  const own = { service: { name: 'shop-lameduck', port: { name: 'http' } } };
  assert.deepEqual(
    rules[0]?.http.paths.map((path) => path.backend),
    [backend, own],
  );
});

test('an Ingress can have TLS without hosts, as the controllers of Google and AWS expect it', async () => {
  const ingress = { enabled: true, hosts: [{ host: 'a.example' }], tls: [{ secretName: 'a' }] };
  const { spec } = (await object('Ingress', { lameduck: { front: 'gce' }, ingress })) as unknown as { spec: object };
  assert.partialDeepStrictEqual(spec, { tls: [{ secretName: 'a' }] });
});

test('H-138 a GRPCRoute has the labels in the chart value grpcRoute.labels', async () => {
  const grpcRoute = { enabled: true, parentRefs: [{ name: 'public' }], labels: { team: 'shop' } };
  assert.equal((await object('GRPCRoute', { lameduck, grpcRoute })).metadata.labels['team'], 'shop');
});

test('sessionAffinityConfig and loadBalancerClass are copied to the Service', async () => {
  const service = {
    type: 'LoadBalancer',
    sessionAffinity: 'ClientIP',
    sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } },
    loadBalancerClass: 'example.com/internal',
  };
  const { spec } = (await object('Service', { service })) as unknown as { spec: object };
  assert.partialDeepStrictEqual(spec, service);
});

test('H-069 the initial delay of the startup probe counts towards the progress deadline', async () => {
  const [line] = await refusals({ probes: { startup: { initialDelaySeconds: 476 } } });
  assert.match(line ?? '', /^progressDeadlineSeconds \(600\): .* \(601\)/);
  const { initialDelaySeconds } = containerOf(
    await object('Deployment', { probes: { startup: { initialDelaySeconds: 475 } } }),
  ).startupProbe as unknown as { initialDelaySeconds: number };
  assert.equal(initialDelaySeconds, 475);
});
