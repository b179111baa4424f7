import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import {
  chart,
  documentsIn,
  helms,
  object,
  objects,
  refusals,
  run,
  template,
  type KubernetesObject,
  type Values,
} from './chart.ts';
import { containerOf, environmentOf, specOf } from './pods.ts';
import { valueSets } from './value-sets.ts';

async function annotations(kind: string, set: string): Promise<Record<string, string>> {
  return (await object(kind, valueSets[set] ?? {})).metadata.annotations ?? {};
}

async function kinds(values: Values): Promise<string[]> {
  return (await objects(values)).map(({ kind }) => kind).sort();
}

test('the chart values of each documented example render to the same objects with each version of Helm', async () => {
  for (const [name, values] of Object.entries(valueSets)) {
    const [first, second] = await Promise.all(helms.map((helm) => objects(values, { helm })));
    assert.deepEqual(first, second, name);
    assert.doesNotMatch(await template(values), /<nil>|<no value>|e\+\d/, name);
  }
});

test('each optional object is rendered if and only if its value enables it', async () => {
  const always = ['Deployment', 'Pod', 'PodDisruptionBudget', 'Service', 'ServiceAccount'];
  assert.deepEqual(await kinds({}), always);
  const parentRefs = [{ name: 'gateway' }];
  const lameduck = { front: 'envoy' };
  const more: [Values, string[]][] = [
    [{ autoscaling: { enabled: true } }, ['HorizontalPodAutoscaler']],
    [{ networkPolicy: { enabled: true } }, ['NetworkPolicy']],
    [{ leaderElection: { enabled: true } }, ['Role', 'RoleBinding']],
    [{ podMonitor: { enabled: true } }, ['PodMonitor']],
    [{ serviceMonitor: { enabled: true } }, ['Service', 'ServiceMonitor']],
    [{ prometheusRule: { enabled: true } }, ['PrometheusRule']],
    [{ logRules: { enabled: true } }, ['ConfigMap']],
    [{ dashboard: { enabled: true } }, ['ConfigMap']],
    [{ lameduck, ingress: { enabled: true, hosts: [{ host: 'a.example' }] } }, ['Ingress']],
    [{ lameduck, httpRoute: { enabled: true, parentRefs } }, ['HTTPRoute']],
    [{ lameduck, grpcRoute: { enabled: true, parentRefs } }, ['GRPCRoute']],
    [
      { httpRoute: { enabled: true, parentRefs }, lameduck: { front: 'gce' } },
      ['GCPBackendPolicy', 'HTTPRoute', 'HealthCheckPolicy'],
    ],
    [
      { grpcRoute: { enabled: true, parentRefs }, lameduck: { front: 'gce' } },
      ['GCPBackendPolicy', 'GRPCRoute', 'HealthCheckPolicy'],
    ],
    [
      { httpRoute: { enabled: true, parentRefs }, lameduck: { front: 'aws' } },
      ['HTTPRoute', 'TargetGroupConfiguration'],
    ],
    [
      { grpcRoute: { enabled: true, parentRefs }, lameduck: { front: 'aws' } },
      ['GRPCRoute', 'TargetGroupConfiguration'],
    ],
  ];
  for (const [values, added] of more) assert.deepEqual(await kinds(values), [...always, ...added].sort());
  const least = {
    podDisruptionBudget: { enabled: false, allowNone: true },
    service: { enabled: false },
    serviceAccount: { create: false },
  };
  assert.deepEqual(await kinds(least), ['Deployment']);
});

describe('the chart can deploy the image of any other project', () => {
  const values = valueSets['any image'] ?? {};
  let deployment: KubernetesObject;

  it('H-127 an image with a digest is deployed by its digest', async () => {
    deployment = await object('Deployment', values);
    const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;
    assert.equal(containerOf(deployment).image, `registry.example/shop/api:1.4.2@${digest}`);
  });

  it("H-118 H-119 HC-25 the variables from the value env come after lameduck's settings, and numbers are rendered without an exponent", () => {
    const environment = environmentOf(deployment);
    assert.equal(environment['PORT'], '3000');
    assert.equal(environment['LIMIT'], '10000000');
    assert.deepEqual([environment['RATIO'], environment['OFFSET'], environment['CHANCE']], ['10.5', '-0.5', '0.00002']);
    assert.equal(environment['LOG_COLOURS'], 'false');
    assert.equal(environment['LAMEDUCK_SHUTDOWN_DELAY_DURATION'], '12s500ms');
    assert.equal(environment['LAMEDUCK_GOAWAY_CHANCE'], '0.001');
    assert.equal(environment['LAMEDUCK_SHUTDOWN_SEND_RETRY_AFTER'], 'true');
    assert.equal(environment['LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS'], '111');
    assert.ok(containerOf(deployment).env.some(({ name, valueFrom }) => name === 'DATABASE_URL' && valueFrom));
  });

  it('H-122 the values of the chart can set every field of the pod that the chart does not compute', () => {
    const { spec, metadata } = specOf(deployment).template;
    assert.deepEqual(spec['tolerations'], [{ key: 'dedicated', operator: 'Exists' }]);
    assert.equal(spec.serviceAccountName, 'api-runner');
    assert.equal(metadata.labels['team'], 'shop');
    assert.deepEqual(
      containerOf(deployment).volumeMounts.map(({ mountPath }) => mountPath),
      ['/tmp', '/run/lameduck', '/var/cache/api'],
    );
    assert.equal(containerOf(deployment).terminationMessagePath, '/dev/termination-log');
    assert.deepEqual(
      spec.topologySpreadConstraints?.map(({ whenUnsatisfiable }) => whenUnsatisfiable),
      Array(2).fill('DoNotSchedule'),
    );
  });
});

test('H-101 H-102 HC-12 the Deployment has no field replicas if autoscaling.enabled is true, or if replicaCount is null', async () => {
  assert.ok(!('replicas' in specOf(await object('Deployment', { autoscaling: { enabled: true } }))));
  assert.ok(!('replicas' in specOf(await object('Deployment', { replicaCount: null }))));
});

test('without a probe port, the kubelet probes the container port `http`, on which the program also serves its clients', async () => {
  const { ports, readinessProbe } = containerOf(await object('Deployment', valueSets['no probe port'] ?? {}));
  assert.deepEqual(ports, [{ name: 'http', containerPort: 8080 }]);
  assert.equal(readinessProbe.httpGet.port, 'http');
});

test('an unquoted `off` in the values counts as off, although YAML reads it as false', async () => {
  const values = 'lameduck: { probePort: off, metricsPath: off, terminationMessagePath: off }';
  for (const helm of helms) {
    const { code, output, errors } = await run(helm, ['template', 'shop', chart, '--values', '-'], values);
    assert.equal(code, 0, errors);
    const deployment = documentsIn(output).find(({ kind }) => kind === 'Deployment') as KubernetesObject;
    const environment = environmentOf(deployment);
    for (const name of ['PROBE_PORT', 'METRICS_PATH', 'TERMINATION_MESSAGE_PATH']) {
      assert.equal(environment[`LAMEDUCK_${name}`], 'off', name);
    }
    const { ports, readinessProbe, terminationMessagePath } = containerOf(deployment);
    assert.deepEqual([ports.length, readinessProbe.httpGet.port, terminationMessagePath], [1, 'http', undefined]);
  }
  const lines = await refusals({ lameduck: { probePort: true } });
  assert.match(
    lines.join('\n'),
    /^lameduck\.probePort \(true\): must be a TCP port from 1 to 65535, or the word off; /m,
  );
});

test('H-135 HC-07 an ALB gets its health check and its deregistration delay from the chart', async () => {
  const told = await annotations('Ingress', 'an ALB in front');
  const prefix = 'alb.ingress.kubernetes.io';
  assert.equal(told[`${prefix}/target-type`], 'ip');
  assert.equal(told[`${prefix}/target-group-attributes`], 'deregistration_delay.timeout_seconds=75');
  assert.equal(told[`${prefix}/load-balancer-attributes`], undefined);
  assert.equal(told[`${prefix}/healthcheck-port`], '8081');
});

test('H-048 the health check of an ALB removes a terminating pod before the shortest shutdown delay that the chart allows has ended', async () => {
  const told = await annotations('Ingress', 'an ALB in front');
  const [interval = 0, timeout = 0, threshold = 0] = [
    'healthcheck-interval-seconds',
    'healthcheck-timeout-seconds',
    'unhealthy-threshold-count',
  ].map((name) => Number(told[`alb.ingress.kubernetes.io/${name}`]));
  assert.ok(interval * threshold + timeout <= 15 && interval * threshold + timeout > 0);
});

test('H-135 HC-07 an NLB gets its deregistration delay from an annotation of the Service, and the values can override it', async () => {
  const key = 'service.beta.kubernetes.io/aws-load-balancer-target-group-attributes';
  const told = await annotations('Service', 'an NLB in front');
  assert.equal(told[key], 'deregistration_delay.timeout_seconds=75');
  const own = 'deregistration_delay.timeout_seconds=90';
  const values = { lameduck: { front: 'aws' }, service: { type: 'LoadBalancer', annotations: { [key]: own } } };
  assert.equal((await object('Service', values)).metadata.annotations?.[key], own);
});

test('H-051 the chart sets the drain time of a load balancer to at most one hour, because load balancers accept no longer time', async () => {
  const lameduck = { front: 'aws', longestRequestDuration: '59m55s', allowLongGracePeriod: true };
  const told = await object('Ingress', { lameduck, ingress: { enabled: true, hosts: [{ host: 'a.example' }] } });
  const attributes = told.metadata.annotations?.['alb.ingress.kubernetes.io/target-group-attributes'];
  assert.equal(attributes, 'deregistration_delay.timeout_seconds=3600');
});

test('H-136 HC-07 a Google load balancer gets its health check and drain time from a BackendConfig', async () => {
  const { spec } = (await object('BackendConfig', valueSets['an Ingress of Google in front'] ?? {})) as unknown as {
    spec: { connectionDraining: object; healthCheck: { port: number } };
  };
  assert.deepEqual(spec.connectionDraining, { drainingTimeoutSec: 53 });
  assert.equal(spec.healthCheck.port, 8081);
  const told = await annotations('Service', 'an Ingress of Google in front');
  assert.equal(told['cloud.google.com/backend-config'], '{"default": "shop-lameduck"}');
});

test('H-142 HC-16 for a ServiceMonitor, the chart renders an additional Service, which also includes terminating pods', async () => {
  const all = await objects(valueSets['a ServiceMonitor'] ?? {});
  const services = all.filter(({ kind }) => kind === 'Service');
  const publishes = services.map(({ metadata, spec }) => [
    metadata.name,
    (spec as { publishNotReadyAddresses?: boolean }).publishNotReadyAddresses,
  ]);
  assert.deepEqual(Object.fromEntries(publishes), { 'shop-lameduck': undefined, 'shop-lameduck-metrics': true });
  const monitor = all.find(({ kind }) => kind === 'ServiceMonitor')?.['spec'] as {
    selector: { matchLabels: Record<string, string> };
  };
  const found = services.filter(({ metadata: { labels } }) =>
    Object.entries(monitor.selector.matchLabels).every(([label, value]) => labels[label] === value),
  );
  assert.deepEqual(
    found.map(({ metadata }) => metadata.name),
    ['shop-lameduck-metrics'],
  );
});

test('H-142 Prometheus stores separate time series for the two metrics paths, also separate series of `up`', async () => {
  const relabelings = [{ action: 'labeldrop', regex: 'endpoint' }];
  const { spec } = (await object('PodMonitor', { podMonitor: { enabled: true, relabelings } })) as unknown as {
    spec: { podMetricsEndpoints: { path: string; relabelings: object[] }[] };
  };
  const own = [
    { sourceLabels: ['__metrics_path__'], targetLabel: 'metrics_path' },
    { targetLabel: 'release', replacement: 'shop' },
    { targetLabel: 'workload', replacement: 'shop-lameduck' },
  ];
  assert.deepEqual(
    spec.podMetricsEndpoints.map(({ path, relabelings: all }) => [path, all]),
    ['/metrics', '/metrics/slis'].map((path) => [path, [...own, ...relabelings]]),
  );
});

test("HC-27 the pod of helm test uses the pull secrets and the node selector of the service's pods", async () => {
  const values = valueSets['any image'] ?? {};
  const { spec } = (await object('Pod', values)) as unknown as { spec: Record<string, unknown> };
  for (const field of ['imagePullSecrets', 'nodeSelector', 'tolerations']) {
    assert.deepEqual(spec[field], values[field], field);
  }
});

test('H-141 HC-29 a NetworkPolicy controls incoming and outgoing connections, and allows DNS and probes', async () => {
  const spec = (await object('NetworkPolicy', { networkPolicy: { enabled: true } }))['spec'] as Record<string, unknown>;
  assert.deepEqual(spec['policyTypes'], ['Ingress', 'Egress']);
  assert.deepEqual(spec['ingress'], [{ ports: [{ port: 'http' }] }, { ports: [{ port: 'probes' }] }]);
  assert.deepEqual(spec['egress'], [
    {
      ports: [
        { port: 53, protocol: 'UDP' },
        { port: 53, protocol: 'TCP' },
      ],
    },
  ]);
});

test('H-138 HC-28 an HTTPRoute routes to the Service of the chart by default', async () => {
  const { rules } = (await object('HTTPRoute', valueSets['a gateway in front'] ?? {}))['spec'] as { rules: object[] };
  assert.deepEqual(rules, [
    { matches: [{ path: { type: 'PathPrefix', value: '/' } }], backendRefs: [{ name: 'shop-lameduck', port: 80 }] },
  ]);
});

test('H-109 if the values set runAsUser to null, the pods have no user ID, so that OpenShift can choose one', async () => {
  const { spec } = specOf(await object('Deployment', valueSets['a security context of OpenShift'] ?? {})).template;
  assert.deepEqual(spec.securityContext, { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
});

test('H-027 a field that the values set to null does not appear in the rendered objects', async () => {
  const gone = ['resources', 'tmp', 'securityContext', 'env', 'extraEnv', 'extraVolumes', 'podLabels', 'tolerations'];
  const values: Values = {
    ...Object.fromEntries(gone.map((name) => [name, null])),
    service: { annotations: null },
    lameduck: { preStopSeconds: null, longestRequestDuration: null, probePort: null },
  };
  const container = containerOf(await object('Deployment', values));
  for (const field of ['resources', 'securityContext', 'lifecycle']) assert.ok(!Object.keys(container).includes(field));
  assert.equal(container.readinessProbe.httpGet.port, 'http');
  assert.doesNotMatch(await template(values), /null|nil/);
  const env = { LEFT: 'x', GONE: null, PORT: null, NODE_OPTIONS: null };
  const environment = environmentOf(await object('Deployment', { env, inject: { enabled: true } }));
  assert.deepEqual([environment['LEFT'], 'GONE' in environment, environment['PORT']], ['x', false, '8080']);
  assert.equal(environment['NODE_OPTIONS'], '--import=/opt/lameduck/package/dist/register.cjs');
});

test('H-077 with inject.nodeOption require, the package is loaded with --require', async () => {
  const inject = { enabled: true, nodeOption: 'require' };
  const environment = environmentOf(await object('Deployment', { inject }));
  assert.equal(environment['NODE_OPTIONS'], '--require=/opt/lameduck/package/dist/register.cjs');
});

test('with inject.enabled, the chart appends the option that loads the package to the NODE_OPTIONS of the values, and only the init container can write to the copied package', async () => {
  const deployment = await object('Deployment', valueSets['injection'] ?? {});
  const { initContainers, volumes } = specOf(deployment).template.spec as unknown as {
    initContainers: { name: string; volumeMounts: object[] }[];
    volumes: { name: string }[];
  };
  const options = containerOf(deployment).env.filter(({ name }) => name === 'NODE_OPTIONS');
  const loaded = '--require=/app/tracing.cjs --import=/opt/lameduck/package/dist/register.cjs';
  assert.deepEqual(options, [{ name: 'NODE_OPTIONS', value: loaded }]);
  assert.deepEqual(
    initContainers.map(({ name, volumeMounts }) => [name, volumeMounts]),
    [['lameduck', [{ name: 'lameduck', mountPath: '/opt/lameduck' }]]],
  );
  assert.ok(volumes.some(({ name }) => name === 'lameduck'));
  const mount = containerOf(deployment).volumeMounts.find(({ name }) => name === 'lameduck');
  assert.deepEqual(mount, { name: 'lameduck', mountPath: '/opt/lameduck', readOnly: true });
});
