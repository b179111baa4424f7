// Tests the lint rule `wrong-type` with unusual manifests. The examples in docs/lint.md test this rule with usual
// manifests.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Finding } from '../../../../src/cli/lint/judge.ts';
import { findingsIn } from '../findings.ts';

const deployment = `kind: Deployment
metadata: { name: shop }
spec:
  replicas: 2
  template:
    metadata: { labels: { app: shop } }
    spec:
      terminationGracePeriodSeconds: 60
      containers:
        - name: shop
          image: shop:1.0
          command: [node, server.js]
          env: [{ name: PORT, value: '8080' }]
          ports: [{ name: http, containerPort: 8080 }]
          livenessProbe: { httpGet: { port: http }, periodSeconds: 10 }
`;

const errorsIn = (manifest: string): Finding[] => findingsIn(manifest).filter(({ severity }) => severity === 'error');

const wrongIn = (manifest: string): Finding[] => errorsIn(manifest).filter(({ rule }) => rule === 'wrong-type');

for (const [from, to, line, path, message] of [
  ['replicas: 2', 'replicas: "3"', 4, 'spec.replicas', 'an integer, got "3"'],
  ['labels: { app: shop }', 'labels: { app: 1.0 }', 6, 'metadata.labels.app', 'a string, got 1'],
  ['Seconds: 60', 'Seconds: "30"', 8, 'spec.terminationGracePeriodSeconds', 'an integer, got "30"'],
  ['Seconds: 60', 'Seconds: 1.5', 8, 'spec.terminationGracePeriodSeconds', 'an integer, got 1.5'],
  ['[node, server.js]', 'node server.js', 12, 'command', 'a list, got "node server.js"'],
  ['[node, server.js]', '[node, --port, 80]', 12, 'command[2]', 'a string, got 80'],
  ['[{ name: PORT', '[FOO, { name: PORT', 13, 'env[0]', 'an object, got "FOO"'],
  ["'8080' }]", '8080 }]', 13, 'env[0].value', 'a string, got 8080'],
  ['[{ name: http, containerPort: 8080 }]', '8080', 14, 'ports', 'a list, got 8080'],
  ['port: http }', 'port: true }', 15, 'livenessProbe.httpGet.port', 'an integer or a string, got true'],
  ['periodSeconds: 10', 'periodSeconds: abc', 15, 'livenessProbe.periodSeconds', 'an integer, got "abc"'],
] as const) {
  test(`\`lameduck lint\` names line, path, value and expected type of a field with a wrong type: ${to}`, () => {
    const [finding, ...more] = errorsIn(deployment.replace(from, to));
    assert.deepEqual(more, []);
    assert.deepEqual([finding?.rule, finding?.line], ['wrong-type', line]);
    assert.ok(finding?.path.endsWith(path), finding?.path);
    assert.equal(finding?.message, `The value must be ${message}. The API server rejects the object.`);
  });
}

const variables = ['$REPLICAS', '$(REPLICAS)', ...['{REPLICAS}', '{REPLICAS:-3}'].map((name) => `$${name}`)];

for (const [value, name] of variables.flatMap((one) => [
  [one, one] as const,
  [`"${one}"`, one] as const,
  [`1${one}`, one] as const,
])) {
  test(`if a field has a value of a wrong type, and this value contains a variable, the remedy says that the variable was not substituted: ${value}`, () => {
    const [finding] = wrongIn(deployment.replace('replicas: 2', () => `replicas: ${value}`));
    assert.equal(
      finding?.remedy,
      `Substitute the variable ${name} before the lint: run envsubst, helm template or kustomize build first.`,
    );
  });
}

test('if a value with a wrong type contains no variable, the remedy names the expected type', () => {
  for (const value of ['$', '5$', 'US$ 5', '$5', '"{}"'])
    assert.equal(
      wrongIn(deployment.replace('replicas: 2', () => `replicas: ${value}`))[0]?.remedy,
      'Change the value to an integer. In YAML, a value in quotes is a string.',
    );
});

test('`lameduck lint` still judges an object whose containers or another field have a wrong type', () => {
  const findings = errorsIn(
    deployment
      .replace('replicas: 2', 'replicas: many')
      .replace('command:', 'lifecycle: { preStop: { sleep: { seconds: 60 } } }\n          command:'),
  );
  assert.deepEqual(
    findings.map(({ rule, line }) => [rule, line]),
    [
      ['wrong-type', 4],
      ['pre-stop-fills-grace-period', 12],
    ],
  );
  const [finding] = wrongIn(deployment.replace(/containers:[^]*/, 'containers: {}\n'));
  assert.equal(finding?.path, 'spec.template.spec.containers');
});

test('if the number of replicas has a wrong type, `lameduck lint` treats the number as unknown', () => {
  const service = 'kind: Service\nspec: { selector: { app: shop } }';
  const stateful = deployment.replace('Deployment', 'StatefulSet').replace('replicas: 2', 'replicas: "3"');
  assert.deepEqual(
    errorsIn(`${stateful}---\n${service}`).map(({ rule }) => rule),
    ['wrong-type'],
  );
});

test('`lameduck lint` accepts each form of a value that the API server accepts', () => {
  for (const [from, to] of [
    ['replicas: 2', 'replicas: 2.0'],
    ['labels: { app: shop }', 'labels: { app: shop, machine-family: e2 }'],
    ['[node, server.js]', '[node, .]'],
    ["'8080' }", 'e10 }'],
    ['replicas: 2', 'replicas: null'],
    ['replicas: 2', 'strategy: { rollingUpdate: { maxUnavailable: 25%, maxSurge: 1 } }'],
    ['image: shop:1.0', 'resources: { limits: { memory: 1Gi, cpu: 0.5 } }'],
    // In the parsed YAML, a number that is too large for a float is a string.
    ['labels: { app: shop }', 'labels: { commit: 12e4567 }'],
    ['metadata: { name: shop }', 'metadata: { name: shop, annotations: }'],
  ] as const)
    assert.deepEqual(wrongIn(deployment.replace(from, to)), [], to);
  // The type of a field is checked only if a lint rule reads the field.
  assert.deepEqual(wrongIn('kind: Deployment\nspec: { paused: 5 }\n---\nkind: ConfigMap\ndata: { a: 5 }'), []);
});

test('`lameduck lint` does not check the types in a document with placeholders of a Helm template', () => {
  for (const value of ['{{ .Values.replicas }}', '"{{ .Values.replicas }}"'])
    assert.deepEqual(wrongIn(deployment.replace('replicas: 2', `replicas: ${value}`)), []);
  const other = deployment.replace('replicas: 2', 'replicas: two');
  const template = deployment.replace('replicas: 2', 'replicas: {{ .Values.replicas }}');
  assert.equal(wrongIn(`${template}---\n${other}`).length, 1, 'another document of the file is still checked');
});
