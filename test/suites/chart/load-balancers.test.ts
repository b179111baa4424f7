// Tests which settings of load balancers in the cloud the chart adds to the settings in the values.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { object, template } from './chart.ts';
import { specOf } from './pods.ts';

const hosts = [{ host: 'shop.example' }];

test('H-135 the chart merges the attributes of an ALB by key, and sets its idle timeout only if the values set frontIdleTimeout', async () => {
  const prefix = 'alb.ingress.kubernetes.io';
  const attributes = async (target: string, balancer: string) => {
    const own = {
      [`${prefix}/target-group-attributes`]: target,
      [`${prefix}/load-balancer-attributes`]: balancer,
    };
    const values = {
      lameduck: { front: 'aws', frontIdleTimeout: '50s' },
      ingress: { enabled: true, annotations: own, hosts },
    };
    const told = (await object('Ingress', values)).metadata.annotations ?? {};
    return ['target-group', 'load-balancer'].map((name) => told[`${prefix}/${name}-attributes`]);
  };
  assert.deepEqual(await attributes('stickiness.enabled=true', 'access_logs.s3.enabled=true'), [
    'stickiness.enabled=true,deregistration_delay.timeout_seconds=75',
    'access_logs.s3.enabled=true,idle_timeout.timeout_seconds=50',
  ]);
  const given = ['deregistration_delay.timeout_seconds=80', 'idle_timeout.timeout_seconds=55'] as const;
  assert.deepEqual(await attributes(...given), [...given]);
});

test('H-051 with `front: azure`, the Application Gateway drains a removed pod for longer than lameduck.longestRequestDuration', async () => {
  const prefix = 'appgw.ingress.kubernetes.io/connection-draining';
  const drain = async (annotations: Record<string, string>): Promise<unknown[]> => {
    const lameduck = { front: 'azure', longestRequestDuration: '100s' };
    const told = await object('Ingress', { lameduck, ingress: { enabled: true, hosts, annotations } });
    return [told.metadata.annotations?.[prefix], told.metadata.annotations?.[`${prefix}-timeout`]];
  };
  assert.deepEqual(await drain({}), ['true', '145']);
  assert.deepEqual(await drain({ [`${prefix}-timeout`]: '200' }), ['true', '200']);
});

test('an annotation in the values replaces the same annotation of the chart, even with an empty value', async () => {
  const [native, check, kind] = [
    'sidecar.istio.io/nativeSidecar',
    'alb.ingress.kubernetes.io/healthcheck-path',
    'service.beta.kubernetes.io/aws-load-balancer-type',
  ];
  const pods = specOf(
    await object('Deployment', { lameduck: { front: 'istio' }, podAnnotations: { [native]: '' } }),
  ).template;
  assert.equal(pods.metadata.annotations?.[native], '');
  const lameduck = { front: 'aws' };
  const ingress = await object('Ingress', {
    lameduck,
    ingress: { enabled: true, hosts, annotations: { [check]: '' } },
  });
  assert.equal(ingress.metadata.annotations?.[check], '');
  const service = await object('Service', { lameduck, service: { type: 'LoadBalancer', annotations: { [kind]: '' } } });
  assert.equal(service.metadata.annotations?.[kind], '');
});

test('H-136 a Google load balancer waits for a response for as long as the longest request takes', async () => {
  const lameduck = { front: 'gce', longestRequestDuration: '90500ms' };
  const [config, policy] = await Promise.all([
    object('BackendConfig', { lameduck, ingress: { enabled: true, hosts } }),
    object('GCPBackendPolicy', { lameduck, httpRoute: { enabled: true, parentRefs: [{ name: 'gateway' }] } }),
  ]);
  assert.equal((config['spec'] as { timeoutSec: number }).timeoutSec, 91);
  assert.equal((policy['spec'] as { default: { timeoutSec: number } }).default.timeoutSec, 91);
});

test('H-140 the chart makes the proxy of a service mesh a native sidecar, unless podAnnotations disable native sidecars', async () => {
  const annotations = async (front: string, podAnnotations = {}): Promise<Record<string, string> | undefined> =>
    specOf(await object('Deployment', { lameduck: { front }, podAnnotations })).template.metadata.annotations;
  const native = 'sidecar.istio.io/nativeSidecar';
  const config = '{"proxyMetadata":{"EXIT_ON_ZERO_ACTIVE_CONNECTIONS":"true"}}';
  assert.deepEqual(await annotations('istio'), { [native]: 'true', 'proxy.istio.io/config': config });
  assert.equal((await annotations('istio', { [native]: 'false' }))?.[native], 'false');
  assert.equal((await annotations('linkerd'))?.['config.beta.linkerd.io/proxy-enable-native-sidecar'], 'true');
  assert.equal(await annotations('envoy'), undefined);
});

test('H-140 the chart accepts a proxy as a native sidecar, and an extra container that is not a proxy', async () => {
  const sidecar = { name: 'cloud-sql-proxy', image: 'registry.example/cloud-sql-proxy:2', restartPolicy: 'Always' };
  await template({
    initContainers: [sidecar],
    extraContainers: [
      { name: 'logs', image: 'docker-proxy.example/nginx/fluent-bit:4' },
      { name: 'metrics', image: 'registry.example/nginx-prometheus-exporter:1' },
    ],
  });
  await template({ extraContainers: [{ ...sidecar, restartPolicy: undefined }], allowSidecarProxies: true });
});
