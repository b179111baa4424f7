// Tests the lint rules that compare a program with the load balancers and proxies in front of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findingsIn } from '../findings.ts';

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
