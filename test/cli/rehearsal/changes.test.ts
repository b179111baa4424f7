// Tests which changes to the manifest `lameduck rehearse` suggests for each cause of lost requests.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesFor, type RehearsedManifest } from '../../../src/cli/rehearsal/changes.ts';
import type { Detail, EventKind, RehearsalEvent } from '../../../src/cli/rehearsal/event-log.ts';
import { newTallies } from '../../../src/cli/rehearsal/load.ts';
import { readManifest } from '../../../src/cli/rehearsal/manifest.ts';
import { page } from '../../../src/cli/rehearsal/report.ts';
import { resultOf, scenarioResult, type Result } from '../../../src/cli/rehearsal/result.ts';

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

function read(text: string): RehearsedManifest {
  const reading = readManifest(text, 'shop.yaml', new Map(), ['node', 'server.js']);
  assert.ok('manifest' in reading);
  return reading.manifest;
}

const eventsOf = (story: Story): RehearsalEvent[] => story.map(([at, kind, detail = {}]) => ({ at, kind, detail }));

const changes = (cause: string, story: Story, manifest = deployment): readonly string[] =>
  changesFor([{ cause, scenario: 'rollout', events: eventsOf(story) }], read(manifest)).all;

/** Returns the result of a rehearsal with these scenarios. */
function rehearsed(scenarios: Readonly<Record<string, Story>>, manifest: string): Result {
  const tallies = newTallies();
  Object.assign(tallies.newConnection, { sent: 100, answered: 99, refused: 1 });
  const results = Object.entries(scenarios).map(([name, story]) =>
    scenarioResult({ name, propagationMs: 2_000 }, tallies, eventsOf(story)),
  );
  return resultOf(results, { seed: 1, command: ['node'], leftOut: 0, manifest: read(manifest) });
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
const readiness = { container: 'shop', type: 'readiness' };

for (const [cause, story, expected] of [
  ['gracePeriodTooShort', killed, [`${grace} -> 45`]],
  ['longRequestsCut', killed, [`${grace} -> 45`]],
  ['longRequestsCut', deleted, []],
  ['listenerClosedTooEarly', refused, [`shop.yaml:9 ${container}.lifecycle.preStop.sleep.seconds: not set -> 5`]],
  ['killedWhileBlocked', killed, [`shop.yaml:9 ${container}.livenessProbe.failureThreshold: not set`]],
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
      [400, 'probe', { ...readiness, result: 'failure', output: 'HTTP probe failed with statuscode: 404' }],
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

test('if the program adds its signal handler too late, `lameduck rehearse` does not suggest another command for the container', () => {
  const late: Story = [...deleted, [34_000, 'killSignal', { container: 'shop', isHandlerLate: true }]];
  assert.deepEqual(changes('stopSignalIgnored', late), []);
});

test('if a postStart hook does not end, `lameduck rehearse` names the postStart hook of the container that serves the requests', () => {
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

const short = deployment.replace(': 30', ': 3');
const answered = [3_000, 'requests', { sent: 100, answered: 100 }] as const;

/** Returns the events of a pod that refuses a connection and is killed `took` milliseconds after its deletion. */
const refusedAndKilled = (took: number): Story => [
  answered,
  [4_000, 'podDeleted', { cause: 'deletion', gracePeriodSeconds: 3 }],
  [4_000, 'containerKilling', { container: 'shop', gracePeriodSeconds: 3 }],
  [4_000, 'stopSignal', { container: 'shop', signal: 'SIGTERM' }],
  [6_100, 'requestRefused', { client: 'newConnection', why: 'ECONNREFUSED' }],
  [4_000 + took, 'killSignal', { container: 'shop', signal: 'SIGTERM', isStopSignalHandled: true }],
  [4_000 + took, 'containerExited', { container: 'shop', code: 137, signal: 'SIGKILL' }],
];

test('if two causes need different grace periods, `lameduck rehearse` suggests only the longer one', () => {
  const { scenarios, changes: found } = rehearsed({ rollout: refusedAndKilled(3_000) }, short);
  const longer = 'shop.yaml:7 spec.template.spec.terminationGracePeriodSeconds: 3 -> 10';
  const delay = `shop.yaml:9 ${container}.lifecycle.preStop.sleep.seconds: not set -> 5`;
  assert.deepEqual(
    scenarios[0]?.causes.map((cause) => [cause.name, cause.changes]),
    [
      ['gracePeriodTooShort', [longer]],
      ['listenerClosedTooEarly', [delay, longer]],
    ],
  );
  assert.deepEqual(found, [longer, delay]);
});

test('if two scenarios need different values of a field, `lameduck rehearse` and its HTML report suggest only the largest value, and name both scenarios', () => {
  const result = rehearsed({ rollout: refusedAndKilled(3_000), overload: refusedAndKilled(4_500) }, short);
  const field = 'shop.yaml:7 spec.template.spec.terminationGracePeriodSeconds';
  const isGrace = (line: string): boolean => line.startsWith(field);
  assert.deepEqual(result.changes.filter(isGrace), [`${field}: 3 -> 12 (rollout, overload)`]);
  const html = page(result);
  assert.equal(html.split(field).length, html.split(`${field}: 3 -&#62; 12`).length);
});

test('if two scenarios need different shutdown delays, `lameduck rehearse` suggests the longer one', () => {
  const own = short.replace('HOST, value: 127.0.0.1', 'LAMEDUCK_SHUTDOWN_DELAY_DURATION, value: 0s');
  const late: Story = [
    ...refusedAndKilled(20_000),
    [14_000, 'requestRefused', { client: 'newConnection', why: 'ECONNREFUSED' }],
  ];
  const { changes: found } = rehearsed({ rollout: refusedAndKilled(3_000), sidecars: late }, own);
  assert.deepEqual(
    found.filter((line) => line.includes('env')),
    [`shop.yaml:12 ${container}.env[0].value: "0s" -> "12s" (rollout, sidecars)`],
  );
});

const elsewhere = (otherPorts: string): Story => [
  [1_000, 'probe', { ...readiness, result: 'failure', output: 'ECONNREFUSED' }],
  [60_000, 'note', { text: 'the pod did not become ready', port: 8080, otherPorts }],
];
const numbered = deployment.replace('port: http', 'port: 8080');
const readinessPort = `shop.yaml:16 ${container}.readinessProbe.httpGet.port`;
const containerPort = `shop.yaml:14 ${container}.ports[0].containerPort`;

for (const [title, story, manifest, expected] of [
  [
    'a probe and its container',
    elsewhere('3000'),
    numbered,
    [`${readinessPort}: 8080 -> 3000`, `${containerPort}: 8080 -> 3000`],
  ],
  ['a port that the probe names', elsewhere('3000'), deployment, [`${containerPort}: 8080 -> 3000`]],
  [
    'a probe with the name of no port',
    elsewhere('3000'),
    deployment.replace('port: http', 'port: web'),
    [`${readinessPort}: "web" -> 3000`],
  ],
  [
    'a liveness probe',
    [[300, 'containerListening', { port: 8080 }]],
    deployment.replace('readinessProbe', 'livenessProbe').replace('port: http', 'port: 9090'),
    [`shop.yaml:16 ${container}.livenessProbe.httpGet.port: 9090 -> 8080`],
  ],
] as readonly (readonly [string, Story, string, string[]])[]) {
  test(`\`lameduck rehearse\` suggests the port on which the container listens for ${title}`, () => {
    assert.deepEqual(changes('neverReady', story, manifest), expected);
  });
}

test('if the container listens on several ports other than that of its probe, `lameduck rehearse` names the port of the probe, but suggests no value', () => {
  assert.deepEqual(changes('neverReady', elsewhere('3000, 9229')), [`${containerPort}: 8080`]);
});

test('if a probe fails on a port on which the container listens, `lameduck rehearse` suggests no other port for this probe', () => {
  const failed = { ...readiness, result: 'failure', output: 'statuscode: 404' };
  const story: Story = [
    [300, 'containerListening', { port: 3000 }],
    [1_000, 'probe', failed],
    [60_000, 'note', { text: 'the pod did not become ready', port: 3000, otherPorts: '8080' }],
  ];
  assert.deepEqual(changes('neverReady', story), [`shop.yaml:16 ${container}.readinessProbe.httpGet.path: "/readyz"`]);
});

const threeReplicas = deployment.replace('spec:\n  template', 'spec:\n  replicas: 3\n  template');
const shortRun: Story = killed.map(([at, kind, detail = {}]) => [
  at,
  kind,
  'gracePeriodSeconds' in detail ? { ...detail, gracePeriodSeconds: 2 } : detail,
]);
const ownDelay = deployment.replace('HOST, value: 127.0.0.1', 'LAMEDUCK_SHUTDOWN_DELAY_DURATION, value: 1m30s');

for (const [what, cause, story, manifest] of [
  ['grace period, if --grace-period is shorter', 'gracePeriodTooShort', shortRun, deployment],
  [
    'grace period, if it is not set and --grace-period is shorter than its default',
    'gracePeriodTooShort',
    shortRun,
    deployment.replace('      terminationGracePeriodSeconds: 30\n', ''),
  ],
  ['number of replicas', 'lastEndpointNotReady', deleted, threeReplicas],
  ['number of replicas, if it is equal', 'lastEndpointNotReady', deleted, threeReplicas.replace('s: 3', 's: 2')],
  ['shutdown delay', 'listenerClosedTooEarly', refused, ownDelay],
] as const) {
  test(`\`lameduck rehearse\` suggests no value that is smaller than the value in the manifest: ${what}`, () => {
    assert.deepEqual(changes(cause, story, manifest), []);
  });
}

test('for a readiness probe that fails too late, `lameduck rehearse` suggests a smaller periodSeconds and failureThreshold', () => {
  const slow = deployment.replace('periodSeconds: 1', 'periodSeconds: 10\n            failureThreshold: 3');
  assert.deepEqual(changes('readinessNeverRed', [], slow), [
    `shop.yaml:18 ${container}.readinessProbe.failureThreshold: 3 -> 1`,
    `shop.yaml:17 ${container}.readinessProbe.periodSeconds: 10 -> 1`,
  ]);
});
