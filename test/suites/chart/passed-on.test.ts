// Tests the chart values that the chart copies unchanged into a field of a Kubernetes object. If the chart left such a
// field out, the API server would report no error.
import assert from 'node:assert/strict';
import { before, describe, it, test } from 'node:test';
import { object, objects, type KubernetesObject, type Values } from './chart.ts';
import { specOf } from './pods.ts';

const labels = { team: 'shop' };
const annotations = { 'example.com/owner': 'shop' };
const peer = [{ podSelector: { matchLabels: labels } }];

/**
 * Each row has the name of a chart value, and a test input for this value. It also has the kind of object, and the path
 * of the field to which the chart copies the input.
 */
const passedOn: readonly [value: string, given: unknown, kind: string, where: string][] = [
  ['ingress.className', 'internal', 'Ingress', 'spec.ingressClassName'],
  ['ingress.labels', labels, 'Ingress', 'metadata.labels'],
  ['ingress.annotations', annotations, 'Ingress', 'metadata.annotations'],
  ['ingress.tls', [{ hosts: ['a.example'], secretName: 'a' }], 'Ingress', 'spec.tls'],
  ['httpRoute.labels', labels, 'HTTPRoute', 'metadata.labels'],
  ['httpRoute.annotations', annotations, 'HTTPRoute', 'metadata.annotations'],
  ['httpRoute.parentRefs', [{ name: 'public' }], 'HTTPRoute', 'spec.parentRefs'],
  ['httpRoute.hostnames', ['a.example'], 'HTTPRoute', 'spec.hostnames'],
  ['httpRoute.matches', [{ method: 'GET' }], 'HTTPRoute', 'spec.rules.0.matches'],
  ['httpRoute.filters', [{ type: 'URLRewrite' }], 'HTTPRoute', 'spec.rules.0.filters'],
  ['httpRoute.timeouts', { request: '30s' }, 'HTTPRoute', 'spec.rules.0.timeouts'],
  ['service.port', 8443, 'HTTPRoute', 'spec.rules.0.backendRefs.0.port'],
  ['networkPolicy.from', peer, 'NetworkPolicy', 'spec.ingress.0.from'],
  ['networkPolicy.probesFrom', peer, 'NetworkPolicy', 'spec.ingress.1.from'],
  ['networkPolicy.egress', [{ to: peer }], 'NetworkPolicy', 'spec.egress.-1'],
  ['autoscaling.metrics', [{ type: 'External' }], 'HorizontalPodAutoscaler', 'spec.metrics'],
  ['autoscaling.minReplicas', 3, 'HorizontalPodAutoscaler', 'spec.minReplicas'],
  ['autoscaling.maxReplicas', 30, 'HorizontalPodAutoscaler', 'spec.maxReplicas'],
  ['service.type', 'NodePort', 'Service', 'spec.type'],
  ['service.labels', labels, 'Service', 'metadata.labels'],
  ['service.annotations', annotations, 'Service', 'metadata.annotations'],
  ['service.appProtocol', 'kubernetes.io/h2c', 'Service', 'spec.ports.0.appProtocol'],
  ['service.trafficDistribution', 'PreferClose', 'Service', 'spec.trafficDistribution'],
  ['service.internalTrafficPolicy', 'Local', 'Service', 'spec.internalTrafficPolicy'],
  ['service.sessionAffinity', 'ClientIP', 'Service', 'spec.sessionAffinity'],
  ['service.clusterIP', '10.96.7.7', 'Service', 'spec.clusterIP'],
  ['service.ipFamilyPolicy', 'PreferDualStack', 'Service', 'spec.ipFamilyPolicy'],
  ['service.ipFamilies', ['IPv6', 'IPv4'], 'Service', 'spec.ipFamilies'],
  ['service.externalIPs', ['192.0.2.7'], 'Service', 'spec.externalIPs'],
  ['service.loadBalancerIP', '192.0.2.8', 'Service', 'spec.loadBalancerIP'],
  ['service.loadBalancerSourceRanges', ['192.0.2.0/24'], 'Service', 'spec.loadBalancerSourceRanges'],
  ['service.externalTrafficPolicy', 'Local', 'Service', 'spec.externalTrafficPolicy'],
  ['serviceAccount.name', 'runner', 'ServiceAccount', 'metadata.name'],
  ['serviceAccount.labels', labels, 'ServiceAccount', 'metadata.labels'],
  ['serviceAccount.annotations', annotations, 'ServiceAccount', 'metadata.annotations'],
  ['serviceAccount.automount', true, 'ServiceAccount', 'automountServiceAccountToken'],
  ['commonLabels', { tier: 'web' }, 'Deployment', 'metadata.labels'],
  ['minReadySeconds', 7, 'Deployment', 'spec.minReadySeconds'],
  ['progressDeadlineSeconds', 900, 'Deployment', 'spec.progressDeadlineSeconds'],
  ['revisionHistoryLimit', 5, 'Deployment', 'spec.revisionHistoryLimit'],
  ['strategy.maxSurge', '25%', 'Deployment', 'spec.strategy.rollingUpdate.maxSurge'],
  ['podLabels', labels, 'Deployment', 'spec.template.metadata.labels'],
  ['podAnnotations', annotations, 'Deployment', 'spec.template.metadata.annotations'],
  ['imagePullSecrets', [{ name: 'registry' }], 'Deployment', 'spec.template.spec.imagePullSecrets'],
  ['priorityClassName', 'high', 'Deployment', 'spec.template.spec.priorityClassName'],
  ['hostAliases', [{ ip: '192.0.2.7', hostnames: ['a.example'] }], 'Deployment', 'spec.template.spec.hostAliases'],
  ['readinessGates', [{ conditionType: 'a' }], 'Deployment', 'spec.template.spec.readinessGates'],
  ['nodeSelector', { 'kubernetes.io/os': 'linux' }, 'Deployment', 'spec.template.spec.nodeSelector'],
  ['tolerations', [{ operator: 'Exists' }], 'Deployment', 'spec.template.spec.tolerations'],
  ['affinity', { nodeAffinity: {} }, 'Deployment', 'spec.template.spec.affinity'],
  ['initContainers', [{ name: 'migrate' }], 'Deployment', 'spec.template.spec.initContainers'],
  ['extraContainers', [{ name: 'beside' }], 'Deployment', 'spec.template.spec.containers.-1'],
  ['extraVolumes', [{ name: 'cache', emptyDir: {} }], 'Deployment', 'spec.template.spec.volumes.-1'],
  ['podSecurityContext', { fsGroup: 2000 }, 'Deployment', 'spec.template.spec.securityContext'],
  ['tmp', { medium: 'Memory' }, 'Deployment', 'spec.template.spec.volumes.0.emptyDir'],
  ['image.pullPolicy', 'Always', 'Deployment', 'spec.template.spec.containers.0.imagePullPolicy'],
  ['command', ['/bin/a'], 'Deployment', 'spec.template.spec.containers.0.command'],
  ['args', ['b'], 'Deployment', 'spec.template.spec.containers.0.args'],
  ['extraEnv', [{ name: 'A', value: 'x' }], 'Deployment', 'spec.template.spec.containers.0.env.-1'],
  ['extraEnvFrom', [{ secretRef: { name: 'a' } }], 'Deployment', 'spec.template.spec.containers.0.envFrom'],
  [
    'extraVolumeMounts',
    [{ name: 'cache', mountPath: '/c' }],
    'Deployment',
    `spec.template.spec.containers.0.volumeMounts.-1`,
  ],
  ['securityContext', { runAsUser: 5 }, 'Deployment', 'spec.template.spec.containers.0.securityContext'],
  ['resources', { requests: { memory: '1Gi' } }, 'Deployment', 'spec.template.spec.containers.0.resources'],
  [
    'probes.startup.initialDelaySeconds',
    9,
    'Deployment',
    'spec.template.spec.containers.0.startupProbe.initialDelaySeconds',
  ],
  [
    'probes.startup.failureThreshold',
    90,
    'Deployment',
    'spec.template.spec.containers.0.startupProbe.failureThreshold',
  ],
  ['podMonitor.labels', labels, 'PodMonitor', 'metadata.labels'],
  ['podMonitor.interval', '20s', 'PodMonitor', 'spec.podMetricsEndpoints.0.interval'],
  ['podMonitor.scrapeTimeout', '9s', 'PodMonitor', 'spec.podMetricsEndpoints.1.scrapeTimeout'],
  ['podMonitor.metricRelabelings', [{ action: 'drop' }], 'PodMonitor', 'spec.podMetricsEndpoints.0.metricRelabelings'],
  ['prometheusRule.labels', labels, 'PrometheusRule', 'metadata.labels'],
  ['dashboard.labels', labels, 'ConfigMap', 'metadata.labels'],
  ['dashboard.annotations', annotations, 'ConfigMap', 'metadata.annotations'],
];

// Returns the part of `value` at `path`. The key −1 in `path` means the last elements of a list, as many as the list
// `given` has.
function at(value: unknown, path: string, given: unknown): unknown {
  return path.split('.').reduce<unknown>((found, key) => {
    if (key === '-1') return (found as unknown[]).slice(-(given as unknown[]).length);
    return (found as Record<string, unknown> | undefined)?.[key];
  }, value);
}

function set(values: Values, path: string, given: unknown): void {
  const [first = '', ...rest] = path.split('.');
  if (rest.length === 0) values[first] = given;
  else set((values[first] ??= {}) as Values, rest.join('.'), given);
}

describe('H-122 H-138 H-141 HC-28 HC-29 the chart copies each value of the table `passedOn` unchanged to a Kubernetes object', () => {
  const all: KubernetesObject[] = [];

  before(async () => {
    const values: Values = { lameduck: { front: 'nginx' }, ingress: { hosts: [{ host: 'a.example' }] } };
    for (const [value, given] of passedOn) set(values, value, given);
    const switched = [
      'ingress',
      'httpRoute',
      'networkPolicy',
      'autoscaling',
      'podMonitor',
      'prometheusRule',
      'dashboard',
    ];
    for (const name of switched) set(values, `${name}.enabled`, true);
    all.push(...(await objects(values)));
  });

  for (const [value, given, kind, where] of passedOn) {
    it(`the chart copies its value ${value} into the ${kind}`, () => {
      const found = at(
        all.find((one) => one.kind === kind),
        where,
        given,
      );
      // If a chart value is a map, the chart may add keys of its own when it copies the map into an object. So the test
      // accepts additional keys in this map.
      if (typeof given === 'object' && !Array.isArray(given)) assert.partialDeepStrictEqual(found, given);
      else assert.deepEqual(found, given);
    });
  }
});

test('H-136 HC-07 a Gateway of Google gets the same health check and timeouts as an Ingress of Google', async () => {
  const httpRoute = { enabled: true, parentRefs: [{ name: 'public' }] };
  const all = await objects({ lameduck: { front: 'gce' }, httpRoute });
  const policyOf = (kind: string): unknown =>
    (all.find((one) => one.kind === kind)?.['spec'] as { default: unknown } | undefined)?.default;
  assert.deepEqual(policyOf('GCPBackendPolicy'), { timeoutSec: 30, connectionDraining: { drainingTimeoutSec: 53 } });
  assert.partialDeepStrictEqual(policyOf('HealthCheckPolicy'), {
    config: { type: 'HTTP', httpHealthCheck: { port: 8081, requestPath: '/readyz' } },
  });
});

test('H-135 HC-07 ALBs and NLBs probe readiness on the probe port', async () => {
  const service = await object('Service', { lameduck: { front: 'aws' }, service: { type: 'LoadBalancer' } });
  const ingress = { enabled: true, hosts: [{ host: 'a.example' }] };
  const asked = [service, await object('Ingress', { lameduck: { front: 'aws' }, ingress })].map(({ metadata }) => {
    const told = Object.entries(metadata.annotations ?? {});
    return ['healthcheck-path', 'healthcheck-port'].map((name) => told.find(([key]) => key.endsWith(name))?.[1]);
  });
  assert.deepEqual(asked, Array(2).fill(['/readyz', '8081']));
});

test('H-135 HC-07 the target groups of an AWS Gateway get the same health check and deregistration delay as those of an ALB', async () => {
  const httpRoute = { enabled: true, parentRefs: [{ name: 'public' }] };
  const spec = async (enabled: boolean): Promise<unknown> =>
    (await object('TargetGroupConfiguration', { lameduck: { front: 'aws', enabled }, httpRoute }))['spec'];
  const healthCheckConfig = {
    healthCheckPath: '/readyz',
    healthCheckPort: '8081',
    healthCheckInterval: 5,
    healthCheckTimeout: 2,
    healthyThresholdCount: 2,
    unhealthyThresholdCount: 2,
  };
  const withCheck = (config: object): object => ({
    targetReference: { name: 'shop-lameduck' },
    defaultConfiguration: {
      targetType: 'ip',
      targetGroupAttributes: [{ key: 'deregistration_delay.timeout_seconds', value: '75' }],
    },
    routeConfigurations: [{ routeIdentifier: { kind: 'HTTPRoute' }, targetGroupProps: { healthCheckConfig: config } }],
  });
  assert.deepEqual(await spec(true), withCheck(healthCheckConfig));
  const off = { healthCheckPath: '/', healthCheckPort: '8080', matcher: { httpCode: '200-499' } };
  assert.deepEqual(await spec(false), withCheck({ ...healthCheckConfig, ...off }));
});

test('H-136 HC-07 the chart gives a Service with a Google Ingress the annotation for network endpoint groups', async () => {
  const ingress = { enabled: true, hosts: [{ host: 'a.example' }] };
  const { metadata } = await object('Service', { lameduck: { front: 'gce' }, ingress });
  assert.equal(metadata.annotations?.['cloud.google.com/neg'], '{"ingress": true}');
});

test("if the values set no metrics, the autoscaler uses the CPU of the server's container as its target", async () => {
  const autoscaling = { enabled: true, targetCPUUtilizationPercentage: 55 };
  const { metrics } = (await object('HorizontalPodAutoscaler', { autoscaling }))['spec'] as { metrics: object[] };
  const target = { type: 'Utilization', averageUtilization: 55 };
  assert.deepEqual(metrics, [
    { type: 'ContainerResource', containerResource: { container: 'server', name: 'cpu', target } },
  ]);
});

test('H-112 if the chart creates no ServiceAccount, the pods use the one that the values name, or the default one', async () => {
  for (const [name, expected] of Object.entries({ runner: 'runner', '': 'default' })) {
    const deployment = await object('Deployment', { serviceAccount: { create: false, name } });
    assert.equal(specOf(deployment).template.spec.serviceAccountName, expected);
  }
});
