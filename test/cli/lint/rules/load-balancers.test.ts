// Tests the lint rules that compare a program with the load balancers and proxies in front of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findingsIn } from '../findings.ts';

const delayRule = 'delay-shorter-than-load-balancer';

type Fields = Readonly<Record<string, unknown>>;

interface Front {
  /** container has fields of the program's container. */
  readonly container?: Fields;
  readonly containers?: readonly Fields[];
  /** service has fields of the Service's specification. */
  readonly service?: Fields;
  readonly serviceAnnotations?: Fields;
  readonly ingressClass?: string;
  readonly ingressAnnotations?: Fields;
  /** config is the specification of the BackendConfig `shop`. */
  readonly config?: Fields;
}

function manifest({ container, containers = [], service, config, ...front }: Front): string {
  const labels = { app: 'shop' };
  const spec = { terminationGracePeriodSeconds: 600, containers: [{ name: 'shop', ...container }, ...containers] };
  const backend = { service: { name: 'shop', port: { number: 80 } } };
  const objects = [
    { kind: 'Deployment', metadata: { name: 'shop' }, spec: { template: { metadata: { labels }, spec } } },
    {
      kind: 'Service',
      metadata: { name: 'shop', annotations: front.serviceAnnotations },
      spec: { selector: labels, ports: [{ port: 80, targetPort: 8080 }], ...service },
    },
    ...(front.ingressClass === undefined
      ? []
      : [
          {
            kind: 'Ingress',
            metadata: { name: 'shop', annotations: front.ingressAnnotations },
            spec: { ingressClassName: front.ingressClass, defaultBackend: backend },
          },
        ]),
    ...(config === undefined ? [] : [{ kind: 'BackendConfig', metadata: { name: 'shop' }, spec: config }]),
  ];
  return objects.map((one) => JSON.stringify(one)).join('\n---\n');
}

function messages(front: Front, wanted: string): string[] {
  return findingsIn(manifest(front))
    .filter(({ rule }) => rule === wanted)
    .map(({ message }) => message);
}

function isFound(front: Front, wanted: string): boolean {
  const { length } = messages(front, wanted);
  assert.ok(length <= 1);
  return length === 1;
}

const alb = (attributes: Fields): Fields =>
  Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`alb.ingress.kubernetes.io/${name}`, value]));

const aws = (attributes: Fields): Fields =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [`service.beta.kubernetes.io/aws-load-balancer-${name}`, value]),
  );

const sleep = (seconds: number): Fields => ({ lifecycle: { preStop: { sleep: { seconds } } } });

const neg = { 'cloud.google.com/neg': '{"ingress": true}' };
const withConfig = { 'cloud.google.com/backend-config': '{"default": "shop"}' };

const local = { type: 'LoadBalancer', externalTrafficPolicy: 'Local' };
const check = { 'healthcheck-interval': '10', 'healthcheck-unhealthy-threshold': '3', 'healthcheck-timeout': '5' };

test('H-048 a load balancer of a Service with traffic policy Local needs interval × threshold + timeout', () => {
  const front = { service: local, serviceAnnotations: aws(check) };
  assert.deepEqual(messages({ ...front, container: sleep(34) }, delayRule), [
    'The AWS load balancer can send connections to a pod for 35 s after its deletion (health check: 10 × 3 + 5), but the delay is 34 s.',
  ]);
  assert.ok(!isFound({ ...front, container: sleep(35) }, delayRule));
});

test('H-048 the health check of an Ingress for nodes counts only with traffic policy Local', () => {
  const ingressAnnotations = alb({
    'healthcheck-interval-seconds': '15',
    'unhealthy-threshold-count': '2',
    'healthcheck-timeout-seconds': '5',
  });
  const service = { type: 'NodePort', externalTrafficPolicy: 'Local' };
  const front = { container: sleep(20), service, ingressClass: 'alb', ingressAnnotations };
  assert.ok(isFound(front, delayRule));
  assert.ok(!isFound({ ...front, service: { type: 'NodePort' } }, delayRule));
  assert.ok(
    !isFound({ ...front, ingressAnnotations: { ...ingressAnnotations, ...alb({ 'target-type': 'ip' }) } }, delayRule),
  );
});

test('H-048 the health check of a BackendConfig counts for instance groups, and 40 s for network endpoint groups', () => {
  const config = { healthCheck: { checkIntervalSec: 30, unhealthyThreshold: 3, timeoutSec: 10 } };
  const front = { container: sleep(60), ingressClass: 'gce', config };
  const groups = { ...withConfig, 'cloud.google.com/neg': '{"ingress": false}' };
  assert.ok(isFound({ ...front, serviceAnnotations: groups, service: { externalTrafficPolicy: 'Local' } }, delayRule));
  assert.ok(!isFound({ ...front, serviceAnnotations: groups }, delayRule));
  assert.ok(!isFound({ ...front, serviceAnnotations: { ...withConfig, ...neg } }, delayRule));
  assert.ok(isFound({ ...front, serviceAnnotations: neg, container: sleep(39) }, delayRule));
});

test('H-048 a health check is not judged without each of its three times, or if the load balancer sends requests to pods', () => {
  const front = { container: sleep(5), service: local };
  for (const name of Object.keys(check)) {
    const incomplete = Object.fromEntries(Object.entries(check).filter(([other]) => other !== name));
    assert.ok(!isFound({ ...front, serviceAnnotations: aws(incomplete) }, delayRule), name);
  }
  assert.ok(!isFound({ ...front, serviceAnnotations: aws({ ...check, 'nlb-target-type': 'ip' }) }, delayRule));
  assert.ok(!isFound({ ...front, serviceAnnotations: aws(check), service: { type: 'LoadBalancer' } }, delayRule));
});

test('a load balancer is compared with a container only if its Service can send connections to that container', () => {
  const rule = 'keep-alive-shorter-than-load-balancer';
  const metrics = {
    name: 'metrics',
    args: ['uvicorn', 'app:app', '--timeout-keep-alive=5'],
    ports: [{ containerPort: 9090 }],
  };
  const front = { ingressClass: 'alb', containers: [metrics] };
  const named = { ports: [{ port: 80, targetPort: 'http' }] };
  const http = [{ name: 'http', containerPort: 8080 }];
  assert.ok(isFound(front, rule));
  assert.ok(!isFound({ ...front, container: { ports: http } }, rule));
  assert.ok(!isFound({ ...front, container: { ports: http }, service: named }, rule));
  const both = { ports: [...named.ports, { port: 9090 }] };
  assert.ok(isFound({ ...front, container: { ports: http }, service: both }, rule));
});

test('lint never crashes on an annotation of an unexpected type', () => {
  for (const wrong of [null, [], 7, {}, '', 'null', '[]', '{"ports": 7}', '=,=']) {
    const names = [
      'target-type',
      'target-group-attributes',
      'load-balancer-attributes',
      'healthcheck-interval-seconds',
    ];
    const annotations = {
      ...alb(Object.fromEntries(names.map((name) => [name, wrong]))),
      ...aws(Object.fromEntries([...names, 'type'].map((name) => [name, wrong]))),
      'cloud.google.com/neg': wrong,
      'cloud.google.com/backend-config': wrong,
      'nginx.org/proxy-read-timeout': wrong,
    };
    for (const ingressClass of ['alb', 'gce', 'nginx']) {
      const all = { serviceAnnotations: annotations, ingressAnnotations: annotations, service: local, config: {} };
      findingsIn(manifest({ ...all, container: sleep(5), ingressClass }));
    }
  }
});
