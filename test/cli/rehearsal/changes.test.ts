// Tests which changes to the manifest `lameduck rehearse` suggests for each cause of lost requests.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesFor } from '../../../src/cli/rehearsal/changes.ts';
import type { Detail, EventKind } from '../../../src/cli/rehearsal/event-log.ts';
import { readManifest } from '../../../src/cli/rehearsal/manifest.ts';

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: { name: shop }
spec:
  template:
    spec:
      terminationGracePeriodSeconds: 30
      containers:
        - name: shop
          command: [npm, start]
          env:
            - { name: HOST, value: 127.0.0.1 }
          ports:
            - { name: http, containerPort: 8080 }
          readinessProbe:
            httpGet: { path: /readyz, port: http }
            periodSeconds: 1
`;

type Story = readonly (readonly [at: number, kind: EventKind, detail?: Detail])[];

function changes(cause: string, story: Story, manifest = deployment): string[] {
  const reading = readManifest(manifest, 'shop.yaml', new Map(), ['node', 'server.js']);
  assert.ok('manifest' in reading);
  const events = story.map(([at, kind, detail = {}]) => ({ at, kind, detail }));
  return changesFor(cause, events, reading.manifest);
}

const deleted: Story = [
  [4_000, 'podDeleted', { cause: 'deletion', gracePeriodSeconds: 30 }],
  [4_000, 'containerKilling', { container: 'shop', gracePeriodSeconds: 30 }],
  [4_000, 'stopSignal', { container: 'shop', signal: 'SIGTERM' }],
];
const killed: Story = [...deleted, [34_000, 'killSignal', { container: 'shop' }]];
const refused: Story = [
  ...deleted,
  [6_100, 'requestRefused', { client: 'newConnection', why: 'ECONNREFUSED' }],
  [9_000, 'containerExited', { container: 'shop', code: 0 }],
];

const grace = 'shop.yaml:7 spec.template.spec.terminationGracePeriodSeconds: 30';
const container = 'spec.template.spec.containers[0]';

for (const [cause, story, expected] of [
  ['gracePeriodTooShort', killed, [`${grace} -> 45`]],
  ['longRequestsCut', killed, [`${grace} -> 45`]],
  ['longRequestsCut', deleted, []],
  ['listenerClosedTooEarly', refused, [`shop.yaml:9 ${container}.lifecycle.preStop.sleep.seconds: not set -> 5`]],
  ['stopSignalIgnored', killed, [`shop.yaml:10 ${container}.command: ["npm","start"]`]],
  ['mainProcessIsNotTheServer', killed, [`shop.yaml:10 ${container}.command: ["npm","start"]`]],
  ['onlyLoopback', [], [`shop.yaml:12 ${container}.env[0].value: "127.0.0.1" -> "0.0.0.0"`]],
  [
    'neverReady',
    [[300, 'containerListening', { port: 3000 }]],
    [`shop.yaml:14 ${container}.ports[0].containerPort: 8080 -> 3000`],
  ],
  [
    'neverReady',
    [
      [300, 'containerListening', { port: 8080 }],
      [400, 'probe', { result: 'failure', output: 'HTTP probe failed with statuscode: 404' }],
    ],
    [`shop.yaml:16 ${container}.readinessProbe.httpGet.path: "/readyz"`],
  ],
  ['readinessNeverRed', [], [`shop.yaml:15 ${container}.readinessProbe.failureThreshold: not set -> 1`]],
  ['lastEndpointNotReady', deleted, ['shop.yaml:4 spec.replicas: not set -> 2']],
  ['keptConnectionsCut', refused, []],
] as readonly (readonly [string, Story, string[]])[]) {
  test(`for the cause ${cause}, lameduck rehearse suggests ${expected[0] ?? 'no change to the manifest'}`, () => {
    assert.deepEqual(changes(cause, story), expected);
  });
}

test('for a postStart hook that does not end, lameduck rehearse names the hook of the container that serves the requests', () => {
  const withHook = deployment.replace(
    '          ports:',
    '          lifecycle: { postStart: { exec: { command: [wait] } } }\n          ports:',
  );
  assert.deepEqual(changes('postStartNeverEnded', [], withHook), [
    `shop.yaml:13 ${container}.lifecycle.postStart: {"exec":{"command":["wait"]}}`,
  ]);
  assert.deepEqual(changes('postStartNeverEnded', []), []);
});

test('lameduck rehearse suggests a preStop hook and a longer grace period if the hook does not fit into the current grace period', () => {
  const short = deployment.replace(': 30', ': 8');
  const sleeping = short.replace(
    '          ports:',
    '          lifecycle: { preStop: { sleep: { seconds: 1 } } }\n          ports:',
  );
  assert.deepEqual(changes('listenerClosedTooEarly', refused, sleeping), [
    `shop.yaml:13 ${container}.lifecycle.preStop.sleep.seconds: 1 -> 5`,
    'shop.yaml:7 spec.template.spec.terminationGracePeriodSeconds: 8 -> 12',
  ]);
});

test('`lameduck rehearse` suggests a longer LAMEDUCK_SHUTDOWN_DELAY_DURATION instead of a preStop hook if the variable is set', () => {
  const own = deployment.replace('HOST, value: 127.0.0.1', 'LAMEDUCK_SHUTDOWN_DELAY_DURATION, value: 0s');
  assert.deepEqual(changes('listenerClosedTooEarly', refused, own), [
    `shop.yaml:12 ${container}.env[0].value: "0s" -> "5s"`,
  ]);
});

test('K-175 `lameduck rehearse` suggests no change for an eviction, because no field makes its grace period longer', () => {
  const evicted: Story = killed.map(([at, kind, detail = {}]) => [
    at,
    kind,
    kind === 'podDeleted' ? { cause: 'hardEviction', gracePeriodSeconds: 1 } : detail,
  ]);
  assert.deepEqual([changes('gracePeriodTooShort', evicted), changes('listenerClosedTooEarly', evicted)], [[], []]);
});
