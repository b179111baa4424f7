import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadPort, servicePortOf } from '../../../src/cli/rehearsal/port.ts';
import { containerSpec } from '../../support/pod-under-test.ts';

const podOf = (env: Readonly<Record<string, string>>, servicePort: number | undefined = 4_000) => ({
  servicePort,
  containers: [
    containerSpec({ command: ['proxy'], isSidecar: true, env: { PORT: '9999' } }),
    containerSpec({ command: ['server'], env }),
  ],
});

test("`lameduck rehearse` takes the port from --port, then from the container's PORT, then from PORT in the environment", () => {
  const pod = podOf({ PORT: '2000' });
  assert.equal(loadPort(1_000, pod, { PORT: '3000' }), 1_000);
  assert.equal(loadPort(undefined, pod, { PORT: '3000' }), 2_000);
  assert.equal(loadPort(undefined, podOf({}), { PORT: '3000' }), 3_000);
});

test('`lameduck rehearse` takes the port from the manifest if no variable sets it, and has no port if the manifest sets none', () => {
  assert.equal(loadPort(undefined, podOf({}), {}), 4_000);
  assert.equal(loadPort(undefined, { containers: [], servicePort: undefined }, {}), undefined);
});

test('`lameduck rehearse` ignores a port variable whose value is not a port number', () => {
  for (const PORT of ['0', '65536', '/run/app.sock', 'tcp://10.0.0.1:80']) {
    assert.equal(loadPort(undefined, podOf({ PORT }), { PORT }), 4_000);
  }
});

const labels = { app: 'shop' };
const ports = [
  { name: 'metrics', containerPort: 9_090 },
  { name: 'http', containerPort: 8_080 },
];
const serviceOn = (targetPort: unknown, selector: object = labels) => ({
  spec: { selector, ports: [{ port: 80, targetPort }] },
});

test("`lameduck rehearse` accepts a targetPort of a Service as a number or as a name, and uses the Service's port if targetPort is missing", () => {
  for (const [service, expected] of [
    [serviceOn(9_090), 9_090],
    [serviceOn('metrics'), 9_090],
    [{ spec: { selector: labels, ports: [{ port: 3_000 }] } }, 3_000],
  ] as const) {
    assert.equal(servicePortOf({ services: [service], labels, containers: [{ ports }], skipped: [] }), expected);
  }
});

test('`lameduck rehearse` uses the port named http if a Service has several ports', () => {
  const spec = { selector: labels, ports: [{ port: 1 }, { name: 'http', port: 2 }] };
  assert.equal(servicePortOf({ services: [{ spec }], labels, containers: [], skipped: [] }), 2);
});

test('if the manifest has no Service, `lameduck rehearse` uses the port named http of the serving container, or else the first port of this container', () => {
  const services = [serviceOn(1_234, { app: 'other' }), serviceOn('unknown'), serviceOn(1_234, {})];
  assert.equal(servicePortOf({ services, labels, containers: [{ ports }], skipped: [] }), 8_080);
  const unnamed = [{ ports: [{ containerPort: 7_000 }, { containerPort: 7_001 }] }, { ports }];
  assert.equal(servicePortOf({ services: [], labels, containers: unnamed, skipped: [] }), 7_000);
  assert.equal(servicePortOf({ services: [], labels, containers: [], skipped: [] }), undefined);
});

test('the clients of `lameduck rehearse` send no requests to the target port of a Service if the rehearsal does not run the container with this port', () => {
  const proxy = { ports: [{ name: 'proxy', containerPort: 80 }] };
  for (const target of [80, 'proxy']) {
    const pod = { services: [serviceOn(target)], labels, containers: [{ ports }], skipped: [proxy] };
    assert.equal(servicePortOf(pod), 8_080);
  }
});
