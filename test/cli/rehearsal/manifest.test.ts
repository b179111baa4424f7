import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expand } from '../../../src/cli/manifest/container.ts';
import { readManifest, type ManifestReading } from '../../../src/cli/rehearsal/manifest.ts';
import type { PodSpec } from '../../../src/cli/rehearsal/pod.ts';

const deployment = `
apiVersion: v1
kind: Service
metadata: { name: shop }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: shop }
spec:
  template:
    spec:
      terminationGracePeriodSeconds: 45
      initContainers:
        - name: migrate
        - name: proxy
          restartPolicy: Always
      containers:
        - name: shop
          env:
            - { name: GREETING, value: hello }
            - { name: SECRET, valueFrom: { secretKeyRef: { name: a, key: b } } }
          ports:
            - { name: http, containerPort: 8080 }
          lifecycle:
            preStop: { sleep: { seconds: 5 } }
            stopSignal: SIGQUIT
          startupProbe:
            exec: { command: [check, "$(GREETING)", "$(SECRET)"] }
            periodSeconds: 0
          readinessProbe:
            httpGet: { path: /readyz, port: http, httpHeaders: [{ name: X-Probe, value: "1" }] }
            periodSeconds: 2
          livenessProbe:
            grpc: { port: 9090, service: live }
            terminationGracePeriodSeconds: 10
`;

const read = (text: string, commands: Readonly<Record<string, readonly string[]>> = {}): ManifestReading =>
  readManifest(text, 'shop.yaml', new Map(Object.entries(commands)), ['node', 'server.js']);

function podOf(reading: ManifestReading): PodSpec {
  assert.ok('pod' in reading, 'problem' in reading ? reading.problem : '');
  return reading.pod;
}

test('`lameduck rehearse` reads no pod from an object whose kind is named as a kind of Kubernetes but belongs to another API group, such as a StatefulSet of OpenKruise', () => {
  const reading = read(deployment.replace('apps/v1\nkind: Deployment', 'apps.kruise.io/v1beta1\nkind: StatefulSet'));
  assert.deepEqual(reading, { problem: 'shop.yaml has no pod' });
});

test('`lameduck rehearse` reads a Deployment with its probes, hooks and sidecars', () => {
  const reading = read(deployment, { proxy: ['node', 'proxy.js'] });
  const { containers, terminationGracePeriodSeconds, restartPolicy } = podOf(reading);
  assert.deepEqual([terminationGracePeriodSeconds, restartPolicy], [45, 'Always']);
  const [proxy, shop] = containers;
  assert.deepEqual([proxy?.name, proxy?.isSidecar, proxy?.command], ['proxy', true, ['node', 'proxy.js']]);
  assert.deepEqual(shop?.preStop, { kind: 'sleep', seconds: 5 });
  assert.equal(shop.stopSignal, 'SIGQUIT');
  assert.deepEqual(
    shop.probes.map(({ type, handler }) => [type, handler]),
    [
      ['startup', { kind: 'exec', command: ['check', 'hello', '$(SECRET)'] }],
      [
        'readiness',
        {
          kind: 'http',
          port: 8080,
          path: '/readyz',
          scheme: 'HTTP',
          headers: [{ name: 'X-Probe', value: '1' }],
        },
      ],
      ['liveness', { kind: 'grpc', port: 9090, service: 'live' }],
    ],
  );
  assert.deepEqual('warnings' in reading ? reading.warnings : [], ['1 init containers are not run']);
});

test('K-002 a probe field gets its default if the field is absent, or if it is 0 although its minimum is 1', () => {
  const [, shop] = podOf(read(deployment, { proxy: ['proxy'] })).containers;
  const [startup, readiness, liveness] = shop?.probes ?? [];
  assert.deepEqual([startup?.periodSeconds, startup?.failureThreshold, startup?.timeoutSeconds], [10, 3, 1]);
  assert.deepEqual([readiness?.periodSeconds, readiness?.successThreshold], [2, 1]);
  assert.equal(liveness?.terminationGracePeriodSeconds, 10);
});

test('K-008 a probe with an unknown port name can never run', () => {
  const pod = podOf(read(deployment.replace('port: http,', 'port: web,'), { proxy: ['proxy'] }));
  const handler = pod.containers[1]?.probes[1]?.handler;
  assert.deepEqual(handler, { kind: 'broken', reason: 'no port of the container is named "web"' });
});

test('K-038 in an argument of a container, $(VAR) is expanded only if the variable VAR is set with `value`, not with `valueFrom`, and $$ becomes a single $', () => {
  assert.equal(expand('$(A)-$(B)-$$(A)-$A', { A: 'x' }), 'x-$(B)-$(A)-$A');
});

test('`lameduck rehearse` skips a container without a command, with a warning', () => {
  const reading = read(deployment);
  assert.ok('warnings' in reading);
  assert.match(reading.warnings.join(), /container proxy is not run: give its command with --container proxy=COMMAND/);
});

test('`lameduck rehearse` warns if a command is given for a container that the manifest lacks', () => {
  const reading = read(deployment, { proxy: ['proxy'], porxy: ['proxy'] });
  assert.ok('warnings' in reading);
  assert.deepEqual(
    reading.warnings.filter((one) => one.includes('porxy')),
    ['the manifest has no container porxy, so the command of --container porxy=COMMAND is not run'],
  );
});

test('`lameduck rehearse` names a document that is not YAML by file and line, and reads the other documents', () => {
  const reading = read(`a: [\n---\n${deployment}`, { proxy: ['proxy'] });
  assert.ok('warnings' in reading);
  assert.match(reading.warnings[0] ?? '', /^shop\.yaml:\d+: /);
});

test('`lameduck rehearse` sends requests to the target port of the Service in the manifest', () => {
  const service = '---\nkind: Service\nspec: { selector: { app: shop }, ports: [{ port: 80, targetPort: web }] }\n';
  const labelled = deployment
    .replace('template:\n', 'template:\n    metadata: { labels: { app: shop } }\n')
    .replace('ports:\n', 'ports:\n            - { name: web, containerPort: 3000 }\n');
  const portOf = (text: string): number | undefined => podOf(read(text, { proxy: ['proxy'] })).servicePort;
  assert.deepEqual(
    [portOf(labelled + service), portOf(labelled), portOf('kind: Pod\nspec: { containers: [{}] }')],
    [3_000, 8_080, undefined],
  );
});

for (const [from, to, problem] of [
  [
    'periodSeconds: 2',
    'periodSeconds: -1',
    '32: .*readinessProbe.periodSeconds must be an integer from 0 to .*, got -1',
  ],
  ['periodSeconds: 2', 'periodSeconds: "2"', '32: .*periodSeconds must be an integer from .*, got "2"'],
  [
    'periodSeconds: 2',
    'periodSeconds: $(PERIOD)',
    '32: .*periodSeconds must be an integer from .*, got "\\$\\(PERIOD\\)": the variable \\$\\(PERIOD\\) was not substituted',
  ],
  ['periodSeconds: 2', 'periodSeconds: 2147484', '32: .*periodSeconds must be an integer from .*, got 2147484'],
  ['SIGQUIT', 'SIGFOO', '26: .*lifecycle.stopSignal must be a signal such as SIGTERM, got "SIGFOO"'],
  ['seconds: 5', 'seconds: 1.5', '25: .*preStop.sleep.seconds must be an integer from .*, got 1.5'],
  ['Seconds: 45', 'Seconds: -1', '12: spec.template.spec.terminationGracePeriodSeconds must be .*, got -1'],
  [
    'Seconds: 10',
    'Seconds: 0',
    '35: .*livenessProbe.terminationGracePeriodSeconds must be an integer from 1 to .*, got 0',
  ],
  ['Port: 8080', 'Port: 65536', '23: .*ports\\[0\\].containerPort must be an integer from 1 to 65535, got 65536'],
  ['port: 9090', 'port: 0', '34: .*grpc.port must be an integer from 1 to 65535, got 0'],
] as const) {
  test(`the command lameduck rehearse rejects an invalid field such as ${to}, and names file and line`, () => {
    const reading = read(deployment.replace(from, to), { proxy: ['proxy'] });
    assert.ok('problem' in reading);
    assert.match(reading.problem, new RegExp(`^shop\\.yaml:${problem}$`));
  });
}

test('an environment variable with the address of the pod is 0.0.0.0 in a rehearsal, so that a server listens on every address', () => {
  const env = ['status.podIP', 'metadata.name'].map((fieldPath) => ({
    name: fieldPath,
    valueFrom: { fieldRef: { fieldPath } },
  }));
  const reading = read(JSON.stringify({ kind: 'Pod', spec: { containers: [{ name: 'app', env }] } }));
  assert.ok('pod' in reading);
  assert.deepEqual(reading.pod.containers[0]?.env, { 'status.podIP': '0.0.0.0' });
});

test('`lameduck rehearse` reports a manifest that contains no pod, with the name of the file', () => {
  assert.deepEqual(read('kind: ConfigMap'), { problem: 'shop.yaml has no pod' });
});
