// Tests values of the chart that do not concern the lifecycle. Each must set the right field of the pod or of another
// object.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unwrapped, wrapped } from '../../support/launcher-commands.ts';
import { helms, object, objects, type KubernetesObject, type Values } from './chart.ts';
import { containerOf, environmentOf, specOf } from './pods.ts';

const grpc = { name: 'grpc', containerPort: 9_090, servicePort: 90, appProtocol: 'kubernetes.io/h2c' };

test('H-122 an extra port is added to the container, the Service and the NetworkPolicy', async () => {
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

test('the name of an extra port is a text, even if YAML would read it as a number', async () => {
  const values = {
    extraPorts: [{ name: '1e3', containerPort: 9_090, servicePort: 90 }],
    networkPolicy: { enabled: true },
  };
  assert.equal(containerOf(await object('Deployment', values)).ports[2]?.name, '1e3');
  const { ports } = (await object('Service', values))['spec'] as { ports: { name: string; targetPort: string }[] };
  assert.deepEqual([ports[1]?.name, ports[1]?.targetPort], ['1e3', '1e3']);
  const { ingress } = (await object('NetworkPolicy', values))['spec'] as { ingress: { ports: object[] }[] };
  assert.deepEqual(ingress[0]?.ports[1], { port: '1e3' });
});

test('H-122 values such as schedulerName, dnsPolicy and runtimeClassName are copied to the pod', async () => {
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

test('H-103 autoscaling.behavior in the values replaces the behavior that the chart gives to the HorizontalPodAutoscaler', async () => {
  const behavior = { scaleDown: { stabilizationWindowSeconds: 60 } };
  const { spec } = (await object('HorizontalPodAutoscaler', {
    autoscaling: { enabled: true, behavior },
  })) as unknown as { spec: { behavior: object } };
  assert.deepEqual(spec.behavior, behavior);
});

test('H-138 the values can set the rules of an HTTPRoute, which sends requests to the Service by default', async () => {
  const matches = [{ path: { type: 'PathPrefix', value: '/api' } }];
  const rules = [{ matches }, { backendRefs: [{ name: 'other', port: 80 }] }];
  const route = await object('HTTPRoute', {
    lameduck: { front: 'envoy' },
    httpRoute: { enabled: true, parentRefs: [{ name: 'gateway' }], rules },
  });
  assert.deepEqual((route['spec'] as { rules: object[] }).rules, [
    { matches, backendRefs: [{ name: 'shop-lameduck', port: 80 }] },
    { backendRefs: [{ name: 'other', port: 80 }] },
  ]);
});

test('extraObjects adds objects of any kind, as maps or as strings, each rendered as a template', async () => {
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

test('H-045 with lameduck.enabled: false, the pods have LAMEDUCK_DISABLED, TCP probes and a preStop sleep, but no probe port', async () => {
  const values = {
    lameduck: { enabled: false, front: 'aws', livezEventLoopStallLimit: '0s' },
    inject: { enabled: true },
    podMonitor: { enabled: true },
    ingress: { enabled: true, hosts: [{}] },
  };
  const all = await objects(values);
  assert.ok(!all.some(({ kind }) => kind === 'PodMonitor'));
  const deployment = all.find(({ kind }) => kind === 'Deployment') ?? assert.fail('the chart must render a Deployment');
  const { spec } = specOf(deployment).template;
  const { env, lifecycle, ports, ...container } = containerOf(deployment);
  assert.ok(!('initContainers' in spec));
  assert.deepEqual(
    env.flatMap(({ name }) => (/^(LAMEDUCK_|NODE_OPTIONS)/.test(name) ? [name] : [])),
    ['LAMEDUCK_DISABLED'],
  );
  assert.deepEqual(ports, [{ name: 'http', containerPort: 8080 }]);
  for (const probe of ['readinessProbe', 'livenessProbe', 'startupProbe'] as const) {
    assert.partialDeepStrictEqual(container[probe], { tcpSocket: { port: 'http' } }, probe);
  }
  // With lameduck disabled, a preStop sleep replaces the shutdown delay. So the grace period is the same as with
  // lameduck.
  assert.deepEqual(lifecycle, { preStop: { sleep: { seconds: 30 } } });
  assert.equal(spec.terminationGracePeriodSeconds, 98);
  const { annotations } = all.find(({ kind }) => kind === 'Ingress')?.metadata ?? {};
  assert.equal(annotations?.['alb.ingress.kubernetes.io/healthcheck-path'], '/');
  assert.equal(annotations['alb.ingress.kubernetes.io/success-codes'], '200-499');
});

test('H-045 with lameduck.enabled: false, the chart replaces a probe in the values by a TCP probe if only lameduck serves the path of this probe', async () => {
  const probes = {
    readinessProbe: { httpGet: { path: '/readyz', port: 'probes' }, periodSeconds: 2, failureThreshold: 2 },
    livenessProbe: { httpGet: { path: '/livez', port: 'http' } },
    startupProbe: { grpc: { port: 8_081 } },
  };
  const off = containerOf(await object('Deployment', { lameduck: { enabled: false }, ...probes }));
  for (const name of Object.keys(probes) as (keyof typeof probes)[]) {
    assert.partialDeepStrictEqual(off[name], { tcpSocket: { port: 'http' } }, name);
  }
  const own = { livenessProbe: { httpGet: { path: '/health', port: 'http' } } };
  assert.partialDeepStrictEqual(containerOf(await object('Deployment', { lameduck: { enabled: false }, ...own })), own);
  assert.partialDeepStrictEqual(containerOf(await object('Deployment', probes)), probes);
});

test('H-045 with lameduck.enabled: false, the chart sets TCP health checks for the load balancers of AWS and Google', async () => {
  const off = (front: string, more: Values): Values => ({ lameduck: { enabled: false, front }, ...more });
  const { annotations = {} } = (await object('Service', off('aws', { service: { type: 'LoadBalancer' } }))).metadata;
  const prefix = 'service.beta.kubernetes.io/aws-load-balancer-healthcheck';
  assert.deepEqual([annotations[`${prefix}-protocol`], annotations[`${prefix}-port`]], ['tcp', '8080']);
  assert.equal(annotations[`${prefix}-path`], undefined);
  const httpRoute = { enabled: true, parentRefs: [{ name: 'public' }] };
  const { spec } = (await object('HealthCheckPolicy', off('gce', { httpRoute }))) as unknown as {
    spec: { default: { config: object } };
  };
  assert.deepEqual(spec.default.config, { type: 'TCP', tcpHealthCheck: { port: 8_080 } });
});

test('H-045 with lameduck.enabled: false, the chart accepts a preStop hook in the values if the hook sleeps for at least the shutdown delay', async () => {
  const lameduck = { enabled: false, front: 'nginx', preStopSeconds: 20 };
  for (const preStop of [
    { sleep: { seconds: 15 } },
    { exec: { command: ['sleep', '15'] } },
    { exec: { command: ['sh', '-c', '/bin/leave; sleep 15'] } },
  ]) {
    const { lifecycle } = containerOf(await object('Deployment', { lameduck, lifecycle: { preStop } }));
    assert.deepEqual(lifecycle, { preStop });
  }
});

test('H-070 probes and a container lifecycle in the values replace the probes and the lifecycle of the chart', async () => {
  const given = {
    readinessProbe: { httpGet: { path: '/health', port: 'http' }, periodSeconds: 2 },
    livenessProbe: { exec: { command: ['/bin/alive'] } },
    startupProbe: { tcpSocket: { port: 'http' } },
  };
  const lameduck = { readinessPaths: '/ready,/health', preStopSeconds: 5 };
  const lifecycle = { preStop: { exec: { command: ['/bin/leave'] } } };
  const container = containerOf(await object('Deployment', { ...given, lameduck, lifecycle }));
  assert.partialDeepStrictEqual(container, given);
  assert.deepEqual(container.lifecycle, lifecycle);
  const postStart = { postStart: { exec: { command: ['/bin/warm'] } } };
  const both = containerOf(await object('Deployment', { lifecycle: postStart, lameduck: { preStopSeconds: 5 } }));
  assert.deepEqual(both.lifecycle, { ...postStart, preStop: { sleep: { seconds: 5 } } });
});

test('H-169 a program that npm or a shell starts gets a preStop hook that runs `lameduck stop`', async () => {
  const hook = async (values: Values): Promise<unknown> =>
    (containerOf(await object('Deployment', values)).lifecycle?.preStop as { exec?: { command: string[] } } | undefined)
      ?.exec?.command;
  const injected = ['node', '/opt/lameduck/package/dist/cli/main.js', 'stop'];
  const own = ['node_modules/.bin/lameduck', 'stop'];
  assert.deepEqual(await hook({ command: ['npm', 'start'], inject: { enabled: true } }), injected);
  assert.deepEqual(await hook({ args: ['/bin/sh', '-c', 'node server.js'] }), own);
  assert.deepEqual(await hook({ preStopHook: 'always' }), own);
  assert.equal(await hook({ command: ['npm', 'start'], preStopHook: 'never' }), undefined);
  assert.equal(await hook({ command: ['node', 'server.js'] }), undefined);
  for (const values of wrapped) assert.deepEqual(await hook({ ...values }), own, JSON.stringify(values));
  for (const values of unwrapped) assert.equal(await hook({ ...values }), undefined, JSON.stringify(values));
});

test('H-108 with inject.enabled, the container keeps the user of its image and a writable file system, unless the values say otherwise', async () => {
  const inject = { enabled: true };
  const contexts = async (values: Values): Promise<unknown[]> => {
    const deployment = await object('Deployment', values);
    return [specOf(deployment).template.spec.securityContext, containerOf(deployment).securityContext];
  };
  assert.deepEqual(await contexts({ inject }), [
    { seccompProfile: { type: 'RuntimeDefault' } },
    { allowPrivilegeEscalation: false },
  ]);
  const own = { podSecurityContext: { runAsUser: 1000 }, securityContext: { allowPrivilegeEscalation: null } };
  assert.deepEqual(await contexts({ inject, ...own }), [
    { seccompProfile: { type: 'RuntimeDefault' }, runAsUser: 1000 },
    undefined,
  ]);
  for (const helm of helms) {
    const openshift = { podSecurityContext: { runAsUser: null, runAsGroup: null } };
    const { securityContext } = specOf(await object('Deployment', openshift, { helm })).template.spec;
    assert.deepEqual(securityContext, { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
  }
});

test('the chart renders strings in the values as templates', async () => {
  const name = '{{ .Release.Name }}-settings';
  const values = {
    podAnnotations: { 'example.com/release': '{{ .Release.Name }}' },
    env: { SHOP: '{{ .Release.Namespace }}', PLAIN: 'a{b}', MUSTACHE: 'Hello {{ "{{" }}name}}' },
    extraEnvFrom: [{ configMapRef: { name } }],
    extraVolumes: [{ name: 'settings', configMap: { name } }],
  };
  const deployment = await object('Deployment', values);
  const { metadata, spec } = specOf(deployment).template;
  assert.equal(metadata.annotations?.['example.com/release'], 'shop');
  assert.partialDeepStrictEqual(environmentOf(deployment), {
    SHOP: 'orders',
    PLAIN: 'a{b}',
    MUSTACHE: 'Hello {{name}}',
  });
  assert.deepEqual(containerOf(deployment).envFrom, [{ configMapRef: { name: 'shop-settings' } }]);
  assert.deepEqual((spec['volumes'] as object[]).at(-1), { name: 'settings', configMap: { name: 'shop-settings' } });
  const text = '{{ .Release.Namespace }}';
  const { metadata: service } = await object('Service', { commonLabels: { team: text } });
  assert.equal(service.labels['team'], 'orders');
  for (const block of ['dashboard', 'logRules']) {
    const { metadata: map } = await object('ConfigMap', { [block]: { enabled: true, annotations: { folder: text } } });
    assert.equal(map.annotations?.['folder'], 'orders', block);
  }
  const memory = '{{ .Values.global.memory }}';
  const sized = { global: { memory: '1Gi' }, inject: { enabled: true }, resources: { limits: { memory } } };
  const [init] = specOf(await object('Deployment', sized)).template.spec['initContainers'] as [{ resources: object }];
  assert.deepEqual(init.resources, { limits: { memory: '1Gi' }, requests: { cpu: '100m', memory: '256Mi' } });
  const rules = [{ backendRefs: [{ name: '{{ .Release.Name }}-web', port: 80 }] }];
  const httpRoute = { enabled: true, parentRefs: [{ name: 'public' }], rules };
  const route = await object('HTTPRoute', { lameduck: { front: 'envoy' }, httpRoute });
  assert.partialDeepStrictEqual(route['spec'], { rules: [{ backendRefs: [{ name: 'shop-web', port: 80 }] }] });
});

test('H-077 the chart values image.registry and global.imageRegistry replace the container registry of every image', async () => {
  const inject = { enabled: true, image: 'registry.example:5000/tools/lameduck:1' };
  for (const values of [{ image: { registry: 'mirror.example/' } }, { global: { imageRegistry: 'mirror.example' } }]) {
    const deployment = await object('Deployment', { ...values, inject });
    const [init] = specOf(deployment).template.spec['initContainers'] as { image: string }[];
    assert.equal(containerOf(deployment).image, 'mirror.example/lameduck-reference-service:dev');
    assert.equal(init?.image, 'mirror.example/tools/lameduck:1');
  }
});

test('H-014 the version label is the tag of the image, or the beginning of its digest', async () => {
  const version = async (image: Values): Promise<string | undefined> =>
    (await object('Service', { image })).metadata.labels['app.kubernetes.io/version'];
  assert.equal(await version({ tag: '1.4.2' }), '1.4.2');
  assert.equal(await version({ tag: 'v1_' }), 'v1');
  assert.equal(await version({ tag: '', digest: `sha256:${'0123456789abcdef'.repeat(4)}` }), '0123456789ab');
});

test('H-103 the autoscaler can use memory as its target, with or without CPU', async () => {
  const names = async (autoscaling: Values): Promise<string[]> => {
    const { spec } = (await object('HorizontalPodAutoscaler', { autoscaling: { enabled: true, ...autoscaling } })) as {
      spec?: { metrics: { containerResource: { name: string } }[] };
    } & KubernetesObject;
    return spec?.metrics.map(({ containerResource }) => containerResource.name) ?? [];
  };
  assert.deepEqual(await names({ targetMemoryUtilizationPercentage: 80 }), ['cpu', 'memory']);
  const memory = { targetCPUUtilizationPercentage: null, targetMemoryUtilizationPercentage: 80 };
  assert.deepEqual(await names(memory), ['memory']);
  // If the values set no target utilization, the HorizontalPodAutoscaler by default scales at 80 % of the CPU request.
  const none = await object('HorizontalPodAutoscaler', {
    autoscaling: { enabled: true, targetCPUUtilizationPercentage: null },
  });
  assert.ok(!('metrics' in (none['spec'] as object)));
});

test('H-138 a GRPCRoute routes to the port `grpcRoute.port` of the Service', async () => {
  const grpcRoute = { enabled: true, parentRefs: [{ name: 'public' }], hostnames: ['a.example'], port: 90 };
  const route = await object('GRPCRoute', { lameduck: { front: 'envoy' }, extraPorts: [grpc], grpcRoute });
  assert.deepEqual(route['spec'], {
    parentRefs: [{ name: 'public' }],
    hostnames: ['a.example'],
    rules: [{ backendRefs: [{ name: 'shop-lameduck', port: 90 }] }],
  });
});

test('H-139 an Ingress without hosts applies to every host, and its pathType comes from the values', async () => {
  const hosts = [{ paths: ['/', { path: '/exact', pathType: 'Exact' }] }];
  const ingress = { enabled: true, pathType: 'ImplementationSpecific', hosts };
  const { rules } = (await object('Ingress', { lameduck: { front: 'nginx' }, ingress }))['spec'] as {
    rules: { host?: string; http: { paths: { path: string; pathType: string }[] } }[];
  };
  assert.ok(!('host' in (rules[0] ?? {})));
  assert.deepEqual(
    rules[0]?.http.paths.map(({ path, pathType }) => [path, pathType]),
    [
      ['/', 'ImplementationSpecific'],
      ['/exact', 'Exact'],
    ],
  );
});
