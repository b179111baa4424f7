// Tests the lint rules that compare a program with the load balancers and proxies in front of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findingsIn } from '../findings.ts';

const delayRule = 'delay-shorter-than-load-balancer';
const timeoutRule = 'drain-shorter-than-proxy-timeout';
const drainRule = 'deregistration-delay-shorter-than-drain';

type Fields = Readonly<Record<string, unknown>>;

interface Front {
  /** Fields to add to the program's container in the linted manifest. */
  readonly container?: Fields;
  readonly containers?: readonly Fields[];
  readonly gracePeriodSeconds?: number;
  /** Fields to add to the specification of the Service in the manifest. */
  readonly service?: Fields;
  readonly serviceAnnotations?: Fields;
  readonly ingressClass?: string;
  readonly ingressAnnotations?: Fields;
  /** The `spec` of a BackendConfig that is named `shop`. An annotation of the Service refers to this BackendConfig. */
  readonly config?: Fields;
}

function manifest({ container, containers = [], service, config, ...front }: Front): string {
  const labels = { app: 'shop' };
  const spec = {
    terminationGracePeriodSeconds: front.gracePeriodSeconds ?? 600,
    containers: [{ name: 'shop', ...container }, ...containers],
  };
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

const gunicorn = (drain: number): Fields => ({ args: ['gunicorn', 'app', `--graceful-timeout=${String(drain)}`] });

const variables = (values: Readonly<Record<string, string>>): Fields => ({
  env: Object.entries(values).map(([name, value]) => ({ name: `LAMEDUCK_${name}`, value })),
});

const sleep = (seconds: number): Fields => ({ lifecycle: { preStop: { sleep: { seconds } } } });

const neg = { 'cloud.google.com/neg': '{"ingress": true}' };
const withConfig = { 'cloud.google.com/backend-config': '{"default": "shop"}' };

const local = { type: 'LoadBalancer', externalTrafficPolicy: 'Local' };
const check = { 'healthcheck-interval': '10', 'healthcheck-unhealthy-threshold': '3', 'healthcheck-timeout': '5' };

test('H-048 with externalTrafficPolicy Local, `lameduck lint` requires a delay of at least interval × threshold + timeout of the health check', () => {
  const front = { service: local, serviceAnnotations: aws(check) };
  assert.deepEqual(messages({ ...front, container: sleep(34) }, delayRule), [
    'The AWS load balancer can send connections to a pod for 35 s after its deletion (health check: 10 × 3 + 5), but the container stops accepting connections after 34 s.',
  ]);
  assert.ok(!isFound({ ...front, container: sleep(35) }, delayRule));
});

test('H-048 `lameduck lint` uses the health check of an Ingress with node targets only if the Service has externalTrafficPolicy Local', () => {
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

test('H-048 `lameduck lint` uses the health check of a BackendConfig for instance groups, and assumes a delay of 40 s for network endpoint groups', () => {
  const config = { healthCheck: { checkIntervalSec: 30, unhealthyThreshold: 3, timeoutSec: 10 } };
  const front = { container: sleep(60), ingressClass: 'gce', config };
  const groups = { ...withConfig, 'cloud.google.com/neg': '{"ingress": false}' };
  assert.ok(isFound({ ...front, serviceAnnotations: groups, service: { externalTrafficPolicy: 'Local' } }, delayRule));
  assert.ok(!isFound({ ...front, serviceAnnotations: groups }, delayRule));
  assert.ok(!isFound({ ...front, serviceAnnotations: { ...withConfig, ...neg } }, delayRule));
  assert.ok(isFound({ ...front, serviceAnnotations: neg, container: sleep(39) }, delayRule));
});

test('H-048 `lameduck lint` compares the shutdown delay with a health check of a load balancer only if the health check sets interval, threshold and timeout, and if the load balancer sends requests to nodes', () => {
  const front = { container: sleep(5), service: local };
  for (const name of Object.keys(check)) {
    const incomplete = Object.fromEntries(Object.entries(check).filter(([other]) => other !== name));
    assert.ok(!isFound({ ...front, serviceAnnotations: aws(incomplete) }, delayRule), name);
  }
  assert.ok(!isFound({ ...front, serviceAnnotations: aws({ ...check, 'nlb-target-type': 'ip' }) }, delayRule));
  assert.ok(!isFound({ ...front, serviceAnnotations: aws(check), service: { type: 'LoadBalancer' } }, delayRule));
});

test('H-050 `lameduck lint` compares the drain of the program with the timeout in the annotations of an nginx Ingress, and with 60 s if no annotation sets the timeout', () => {
  const community = 'nginx.ingress.kubernetes.io/proxy-read-timeout';
  for (const [drain, annotations, found] of [
    [59, {}, true],
    [60, {}, false],
    [30, { [community]: '30' }, false],
    [30, { [community]: '31' }, true],
    [60, { 'nginx.org/proxy-read-timeout': '2m' }, true],
    [60, { 'nginx.org/proxy-read-timeout': '60s' }, false],
    [30, { [community]: 'long' }, false],
  ] as const) {
    const front = { container: gunicorn(drain), ingressClass: 'nginx', ingressAnnotations: annotations };
    assert.equal(isFound(front, timeoutRule), found, JSON.stringify([drain, annotations]));
  }
});

test('H-050 `lameduck lint` compares the drain of the program with the idle timeout of an Application Load Balancer', () => {
  const idle = (seconds: number): Fields =>
    alb({ 'load-balancer-attributes': `routing.http2.enabled=true, idle_timeout.timeout_seconds=${String(seconds)}` });
  const front = { container: gunicorn(50), ingressClass: 'alb' };
  assert.ok(isFound(front, timeoutRule));
  assert.ok(!isFound({ ...front, ingressAnnotations: idle(50) }, timeoutRule));
  assert.ok(isFound({ ...front, ingressAnnotations: idle(51) }, timeoutRule));
});

test('H-050 `lameduck lint` compares the drain with timeoutSec of a BackendConfig, or by default with 30 s', () => {
  const front = { container: gunicorn(29), ingressClass: 'gce' };
  assert.ok(isFound(front, timeoutRule));
  assert.ok(isFound({ ...front, serviceAnnotations: withConfig, config: {} }, timeoutRule));
  assert.ok(!isFound({ ...front, serviceAnnotations: withConfig, config: { timeoutSec: 20 } }, timeoutRule));
  assert.ok(!isFound({ ...front, container: gunicorn(30) }, timeoutRule));
});

test('H-050 `lameduck lint` ignores the timeout of a BackendConfig if the manifest lacks the BackendConfig, or if the annotation of the Service names a different BackendConfig for each port', () => {
  const front = { container: gunicorn(5), ingressClass: 'gce' };
  const named = (json: string): Fields => ({ 'cloud.google.com/backend-config': json });
  assert.ok(!isFound({ ...front, serviceAnnotations: withConfig }, timeoutRule));
  for (const [json, found] of [
    ['{"ports": {"80": "shop"}}', true],
    ['{"ports": {"80": "shop"}, "default": "shop"}', true],
    ['{"ports": {"80": "shop"}, "default": "other"}', false],
    ['{"ports": {"80": "shop", "81": "other"}}', false],
    ['{}', false],
    ['shop', false],
  ] as const) {
    assert.equal(isFound({ ...front, serviceAnnotations: named(json), config: {} }, timeoutRule), found, json);
  }
  const ports = [
    { port: 80, targetPort: 8080 },
    { port: 81, targetPort: 8081 },
  ];
  const onlyOne = { serviceAnnotations: named('{"ports": {"80": "shop"}}'), config: {}, service: { ports } };
  assert.ok(!isFound({ ...front, ...onlyOne }, timeoutRule));
});

test("H-050 `lameduck lint` computes how long lameduck's drain can last, and accepts a request timeout that fits into the drain", () => {
  const grace = { TERMINATION_GRACE_PERIOD_SECONDS: '68', SHUTDOWN_DELAY_DURATION: '30s' };
  const found = (more: Readonly<Record<string, string>>, others: Fields = {}): string[] =>
    messages({ container: { ...variables(more), ...others }, ingressClass: 'nginx' }, timeoutRule);
  assert.match(
    found({ ...grace, DESTROY_HOOK_TIMEOUT: '3s' }).join(),
    /only 33 s, because LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS limits/,
  );
  assert.match(found(grace).join(), /requests in flight have only 36 s/);
  assert.match(found({ ...grace, PRE_STOP_SECONDS: '10' }).join(), /requests in flight have only 26 s/);
  assert.match(found(grace, sleep(6)).join(), /requests in flight have only 30 s/);
  assert.deepEqual(found({ ...grace, TERMINATION_GRACE_PERIOD_SECONDS: '92' }), []);
  assert.deepEqual(found({ ...grace, TERMINATION_GRACE_PERIOD_SECONDS: '32' }), []);
  assert.deepEqual(found({ TERMINATION_GRACE_PERIOD_SECONDS: '68' }), []);
  assert.deepEqual(found({ ...grace, REQUEST_TIMEOUT: '36s' }), []);
  assert.equal(found({ ...grace, REQUEST_TIMEOUT: '37s' }).length, 1);
  assert.equal(found({ ...grace, REQUEST_TIMEOUT: '0s' }).length, 1);
});

test('H-050 `lameduck lint` does not compare the drain timeout of a program with a load balancer if the class of the Ingress is unknown, if there is no Ingress, or if the manifest sets no drain timeout', () => {
  assert.ok(!isFound({ container: gunicorn(5), ingressClass: 'traefik' }, timeoutRule));
  assert.ok(!isFound({ container: { args: ['gunicorn', 'app'] }, ingressClass: 'nginx' }, timeoutRule));
  assert.ok(!isFound({ container: gunicorn(5) }, timeoutRule));
});

const deregistration = (seconds: number): string =>
  `stickiness.enabled=true,deregistration_delay.timeout_seconds=${String(seconds)}`;

test("H-051 if an Application Load Balancer has IP targets, `lameduck lint` checks its deregistration delay, and the Service's value overrides the Ingress's value", () => {
  const ingressAnnotations = alb({ 'target-type': 'ip', 'target-group-attributes': deregistration(59) });
  const front = { container: gunicorn(60), ingressClass: 'alb', ingressAnnotations };
  assert.deepEqual(messages(front, drainRule), [
    'The AWS Application Load Balancer ends the requests to a removed pod after 59 s, but --graceful-timeout lets them take 60 s.',
  ]);
  const own = (attributes: Fields): Front => ({ ...front, serviceAnnotations: alb(attributes) });
  assert.ok(!isFound(own({ 'target-group-attributes': deregistration(60) }), drainRule));
  assert.ok(!isFound(own({ 'target-type': 'instance' }), drainRule));
  // With a grace period of 59 s, the kubelet kills the pod before the load balancer's deregistration delay of 59 s has
  // passed. So the load balancer ends no request.
  assert.ok(!isFound({ ...front, gracePeriodSeconds: 59 }, drainRule));
  assert.ok(!isFound(own({ 'target-group-attributes': 'stickiness.enabled=true' }), drainRule));
});

test('H-051 `lameduck lint` checks the deregistration delay of a Network Load Balancer only for IP targets with connection termination', () => {
  const ends = 'deregistration_delay.connection_termination.enabled=true';
  const front = (attributes: string, type = 'ip'): Front => ({
    container: gunicorn(60),
    service: { type: 'LoadBalancer' },
    serviceAnnotations: aws({ 'nlb-target-type': type, 'target-group-attributes': attributes }),
  });
  assert.ok(isFound(front(`${deregistration(30)},${ends}`), drainRule));
  assert.ok(!isFound(front(`${deregistration(60)},${ends}`), drainRule));
  assert.ok(!isFound(front(deregistration(30)), drainRule));
  assert.ok(!isFound(front(`${deregistration(30)},${ends}`, 'instance'), drainRule));
  assert.ok(!isFound({ ...front(`${deregistration(30)},${ends}`), service: { type: 'ClusterIP' } }, drainRule));
});

test('H-051 if a load balancer sends requests to network endpoint groups, `lameduck lint` checks the draining timeout in its BackendConfig', () => {
  const config = (drainingTimeoutSec: number): Fields => ({ connectionDraining: { drainingTimeoutSec } });
  const front = { container: gunicorn(60), ingressClass: 'gce', serviceAnnotations: { ...withConfig, ...neg } };
  assert.ok(isFound({ ...front, config: config(0) }, drainRule));
  assert.ok(isFound({ ...front, config: config(59) }, drainRule));
  assert.ok(!isFound({ ...front, config: config(60) }, drainRule));
  assert.ok(!isFound({ ...front, config: {} }, drainRule));
  assert.ok(!isFound({ ...front, config: config(0), serviceAnnotations: withConfig }, drainRule));
  assert.ok(
    isFound({ ...front, config: config(0), serviceAnnotations: withConfig, ingressClass: 'gce-internal' }, drainRule),
  );
});

test('H-051 if the manifest sets the request timeout of lameduck, `lameduck lint` compares the deregistration delay with this timeout, and not with the time for the drain, which is longer', () => {
  const ingressAnnotations = alb({ 'target-type': 'ip', 'target-group-attributes': deregistration(30) });
  const grace = { TERMINATION_GRACE_PERIOD_SECONDS: '100', SHUTDOWN_DELAY_DURATION: '30s' };
  const found = (values: Readonly<Record<string, string>>, program: Fields = {}): boolean =>
    isFound({ container: { ...variables(values), ...program }, ingressClass: 'alb', ingressAnnotations }, drainRule);
  assert.ok(!found(grace));
  assert.ok(!found({ ...grace, REQUEST_TIMEOUT: '30s' }));
  assert.ok(!found({ ...grace, REQUEST_TIMEOUT: '0s' }));
  assert.ok(found({ ...grace, REQUEST_TIMEOUT: '31s' }));
  assert.ok(!found({ REQUEST_TIMEOUT: '30s' }, gunicorn(60)));
});

test('`lameduck lint` compares a container with a load balancer only if the Service can send connections to the container', () => {
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

test('`lameduck lint` never crashes on an annotation of an unexpected type', () => {
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
      findingsIn(manifest({ ...all, container: gunicorn(5), ingressClass }));
    }
  }
});
