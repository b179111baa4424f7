import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newTallies, type ClientKind, type Tally } from '../../../src/cli/rehearsal/load.ts';
import type { Detail, EventKind, RehearsalEvent } from '../../../src/cli/rehearsal/event-log.ts';
import { resultOf, scenarioResult, type ScenarioResult } from '../../../src/cli/rehearsal/result.ts';

type Story = readonly (readonly [at: number, kind: EventKind, detail?: Detail])[];

const started: Story = [
  [0, 'containerStarted', { container: 'app' }],
  [300, 'containerListening', { port: 3000, isMain: true, isLoopback: false }],
  [1_000, 'readinessChanged', { isReady: true }],
  [4_000, 'podDeleted', { cause: 'deletion' }],
  [4_000, 'stopSignal', { container: 'app', signal: 'SIGTERM' }],
];

function judge(
  story: Story,
  counts: Partial<Record<ClientKind, Partial<Tally>>> = {},
  isWhileStarting = false,
): ScenarioResult {
  const events: RehearsalEvent[] = story.map(([at, kind, detail = {}]) => ({ at, kind, detail }));
  const tallies = newTallies();
  for (const [kind, tally] of Object.entries(counts)) Object.assign(tallies[kind as ClientKind], tally);
  return scenarioResult({ name: 'rollout', propagationMs: 2_000, isWhileStarting }, tallies, events);
}

const namesOf = ({ causes }: ScenarioResult): string[] => causes.map(({ name }) => name);

const exit = (code: number, at = 5_000): Story => [
  [at, 'containerExited', { container: 'app', code }],
  [at, 'podStopped'],
];

test('if every request got its response, the verdict of the scenario is `clean`', () => {
  const result = judge([...started, ...exit(0)], { newConnection: { sent: 100, answered: 100 } });
  assert.deepEqual(
    [result.verdict, result.causes, result.exit],
    ['clean', [], { code: 0, signal: undefined, afterMs: 1_000 }],
  );
  assert.deepEqual(result.notTried, [
    'keptConnection',
    'retryingConnection',
    'longPoll',
    'eventStream',
    'upload',
    'webSocket',
    'http2',
  ]);
});

test('if a container exits on its own, the verdict of the scenario is `lost` even if no request was sent, and the report shows the error of the container', () => {
  const output = 'node:events:505\n    throw er;\n\nError: listen EADDRINUSE: address already in use :::3000\n    at x';
  const result = judge([
    [0, 'containerStarted', { container: 'app' }],
    [140, 'containerExited', { container: 'app', code: 1, output }],
    [1_000, 'readinessChanged', { isReady: true }],
    [4_000, 'podDeleted', { cause: 'deletion' }],
  ]);
  assert.equal(result.verdict, 'lost');
  assert.deepEqual(
    result.causes.map(({ name, text }) => [name, text]),
    [
      [
        'crashed',
        'container app exited on its own with code 1: Error: listen EADDRINUSE: address already in use :::3000',
      ],
    ],
  );
});

test('a container does not count as crashed if the kubelet ended it after a failed liveness probe, or if the rehearsal itself killed it', () => {
  const restarted = judge([
    [0, 'containerStarted', { container: 'app' }],
    [1_000, 'stopSignal', { container: 'app', signal: 'SIGTERM' }],
    ...exit(1),
  ]);
  const killed = judge([[500, 'containerExited', { container: 'app', code: 137, signal: 'SIGKILL' }]]);
  for (const result of [restarted, killed]) assert.ok(!namesOf(result).includes('crashed'));
});

test('if new connections fail after the deletion of the pod, the reported cause is that the listener closed too early', () => {
  const result = judge(
    [
      ...started,
      [4_010, 'listenerClosed'],
      [4_100, 'requestRefused', { client: 'newConnection', why: 'ECONNREFUSED' }],
      ...exit(0),
    ],
    { newConnection: { sent: 100, answered: 99, refused: 1 } },
  );
  assert.deepEqual([result.verdict, namesOf(result)], ['lost', ['listenerClosedTooEarly']]);
  assert.match(result.causes[0]?.text ?? '', /^1 new connection failed, the listener closed 0\.0 s after the deletion/);
});

test('if requests on keep-alive connections are lost, the reported cause is that the server closed the connections while requests were in flight', () => {
  const result = judge(
    [...started, [4_100, 'requestLost', { client: 'keptConnection', why: 'ECONNRESET' }], ...exit(0)],
    {
      keptConnection: { sent: 10, answered: 9, lost: 1 },
    },
  );
  assert.deepEqual(namesOf(result), ['keptConnectionsCut']);
});

test('K-100 a main process that has no signal handler and is killed is reported as ignoring its stop signal', () => {
  const result = judge([
    ...started,
    [34_000, 'killSignal', { container: 'app', signal: 'SIGTERM', isStopSignalHandled: false }],
    [34_005, 'listenerClosed', { port: 3000 }],
    ...exit(137, 34_010),
  ]);
  assert.deepEqual([result.verdict, namesOf(result)], ['lost', ['stopSignalIgnored']]);
});

test('if a process has closed its port after the stop signal, the rehearsal does not report that the process ignored the signal', () => {
  const result = judge([
    ...started,
    [4_100, 'listenerClosed', { port: 3000 }],
    [34_000, 'killSignal', { container: 'app', signal: 'SIGTERM', isStopSignalHandled: false }],
    ...exit(137, 34_010),
  ]);
  assert.deepEqual(namesOf(result), ['gracePeriodTooShort']);
});

test('if a process adds its signal handler only after the stop signal and is killed, the rehearsal reports this, and suggests no longer grace period', () => {
  const detail = { container: 'app', signal: 'SIGTERM', isStopSignalHandled: true, isHandlerLate: true };
  const result = judge([...started, [34_000, 'killSignal', detail], ...exit(137, 34_010)]);
  assert.deepEqual(namesOf(result), ['stopSignalIgnored']);
  assert.match(result.causes[0]?.text ?? '', /added its handler for SIGTERM only after this signal/);
  assert.match(result.causes[0]?.remedy ?? '', /at the start of the program/);
});

test('K-100, K-220 if the main process has no handler for the stop signal and is killed by it, the rehearsal reports that the process would ignore this signal as PID 1 of a container', () => {
  const result = judge([...started, [4_010, 'containerExited', { container: 'app', code: 143, signal: 'SIGTERM' }]], {
    keptConnection: { sent: 10, answered: 9, lost: 1 },
  });
  assert.ok(namesOf(result).includes('stopSignalIgnored'));
});

test('if a process that handles the stop signal runs longer than its grace period, the verdict of the scenario is `lost`', () => {
  const result = judge([
    ...started,
    [34_000, 'killSignal', { container: 'app', signal: 'SIGTERM', isStopSignalHandled: true }],
    ...exit(137, 34_010),
  ]);
  assert.deepEqual([result.verdict, namesOf(result)], ['lost', ['gracePeriodTooShort']]);
});

test('a server in a child process of the main process is reported as the cause of lost requests', () => {
  const story = started.map((event) =>
    event[1] === 'containerListening'
      ? ([300, 'containerListening', { port: 3000, isMain: false, isLoopback: false }] as const)
      : event,
  );
  const loss = [4_100, 'requestLost', { client: 'keptConnection', why: 'ECONNRESET' }] as const;
  const result = judge([...story, loss, ...exit(0)], { keptConnection: { sent: 10, answered: 9, lost: 1 } });
  assert.deepEqual(namesOf(result), ['mainProcessIsNotTheServer', 'keptConnectionsCut']);
});

const loopback = [500, 'containerListening', { port: 3000, isMain: true, isLoopback: true }] as const;

test('K-009 if a server listens only on loopback, the verdict of a scenario is `lost`, and the first reported cause names the loopback address', () => {
  const story: Story = [started[0] as Story[number], loopback, ...started.slice(2)];
  const answered = { newConnection: { sent: 10, answered: 10 } };
  const served = judge([...story, ...exit(0)], answered);
  const neverReady = judge([started[0] as Story[number], loopback]);
  assert.deepEqual([served.verdict, namesOf(served)], ['lost', ['onlyLoopback']]);
  assert.deepEqual([neverReady.verdict, namesOf(neverReady)], ['lost', ['onlyLoopback', 'neverReady']]);
});

test('K-009 if a server listens first only on loopback and later on all addresses, the rehearsal does not report loopback as a cause of lost requests', () => {
  const story: Story = [started[0] as Story[number], loopback, ...started.slice(1)];
  const result = judge([...story, ...exit(0)], { newConnection: { sent: 10, answered: 10 } });
  assert.deepEqual([result.verdict, namesOf(result)], ['clean', []]);
});

test('if a pod never becomes ready, the verdict of a scenario is `lost`, and the report has a cause for it', () => {
  const result = judge([[0, 'containerStarted', { container: 'app' }]]);
  assert.deepEqual([result.verdict, namesOf(result)], ['lost', ['neverReady']]);
});

test('K-129 if connections are refused while the Service has no endpoint, the reported cause is that the last pod was not ready', () => {
  const refused = [6_000, 'requestRefused', { client: 'newConnection', why: 'no endpoint' }] as const;
  const result = judge([...started, refused, ...exit(0)], { newConnection: { sent: 10, answered: 9, refused: 1 } });
  assert.deepEqual(namesOf(result), ['lastEndpointNotReady']);
});

test('a rehearsal on a machine that was too busy for exact timing has no verdict, unless requests were lost', () => {
  const delayed = [2_000, 'loadDelayed', { delayMs: 500 }] as const;
  const clean = judge([...started, delayed, ...exit(0)], { newConnection: { sent: 10, answered: 10 } });
  const lost = judge([...started, delayed, ...exit(0)], { newConnection: { sent: 10, answered: 9, lost: 1 } });
  assert.deepEqual([clean.verdict, lost.verdict], ['withheld', 'lost']);
});

test('the verdict of a rehearsal is the verdict of its worst scenario, and its numbers of requests are the sums over all scenarios', () => {
  const clean = judge([...started, ...exit(0)], { newConnection: { sent: 10, answered: 10 } });
  const lost = judge([...started, ...exit(0)], { newConnection: { sent: 10, answered: 8, lost: 1, refused: 1 } });
  const { verdict, requests, ...result } = resultOf([clean, lost], { seed: 7, command: ['x'], leftOut: 0 });
  assert.deepEqual([verdict, requests, result.lost, result.refused], ['lost', 20, 1, 1]);
});

test('if a scenario sent no request, its verdict is withheld, unless the pod ended before it was ready', () => {
  const [none, early] = [judge([...started, ...exit(0)]), judge([...started, ...exit(0)], {}, true)];
  assert.deepEqual([none.verdict, none.reason], ['withheld', 'no request was sent']);
  assert.deepEqual([early.verdict, early.reason], ['clean', undefined]);
});

test('if a request other than a long poll had no response at the end of a scenario, the verdict of the scenario is withheld', () => {
  const open = judge([...started, ...exit(0)], { newConnection: { sent: 10, answered: 8 } });
  const polling = judge([...started, ...exit(0)], { longPoll: { sent: 10, answered: 8 } });
  assert.deepEqual(
    [open.verdict, open.reason, polling.verdict],
    ['withheld', '2 requests had no response at the end of the scenario', 'clean'],
  );
});

test('if the user interrupts a scenario, the verdict of the scenario is withheld, or `lost` if requests were lost before the interruption', () => {
  const story: Story = [...started, [4_500, 'interrupted'], ...exit(137)];
  const clean = judge(story, { newConnection: { sent: 10, answered: 10 } });
  const lost = judge(story, { newConnection: { sent: 10, answered: 9, lost: 1 } });
  assert.deepEqual([clean.verdict, clean.reason, clean.exit], ['withheld', 'the rehearsal was interrupted', undefined]);
  assert.deepEqual([lost.verdict, lost.reason], ['lost', undefined]);
});

test('if the user interrupts the rehearsal before the pod is ready, the verdict is withheld, and the rehearsal reports no fault of the unready pod', () => {
  const result = judge([
    [0, 'containerStarted', { container: 'app' }],
    [100, 'interrupted'],
    [110, 'containerExited', { container: 'app', code: 137, signal: 'SIGKILL' }],
  ]);
  assert.deepEqual([result.verdict, namesOf(result)], ['withheld', []]);
});

test('if some scenarios did not run, the verdict of the whole rehearsal is withheld', () => {
  const clean = judge([...started, ...exit(0)], { newConnection: { sent: 10, answered: 10 } });
  const lost = judge([...started, ...exit(0)], { newConnection: { sent: 10, answered: 9, lost: 1 } });
  const verdictOf = (one: ScenarioResult): string => resultOf([one], { seed: 7, command: ['x'], leftOut: 8 }).verdict;
  assert.deepEqual([clean, lost].map(verdictOf), ['withheld', 'lost']);
});

const killed: Story = [
  ...started.slice(0, 3),
  [4_000, 'containerKilling', { container: 'app', text: 'Container app failed liveness probe' }],
  [4_000, 'stopSignal', { container: 'app', signal: 'SIGTERM' }],
  [4_010, 'listenerClosed'],
  [4_100, 'requestRefused', { client: 'newConnection', why: 'ECONNREFUSED' }],
];
const refused = { newConnection: { sent: 10, answered: 9, refused: 1 } };
const unready = [4_500, 'readinessChanged', { isReady: false }] as const;

test('K-062 if a container restarts in place and requests are lost, the report says whether the readiness probe failed before the exit', () => {
  const [never, red] = [
    judge(
      [
        ...killed,
        [5_000, 'containerExited', { container: 'app', code: 0 }],
        [5_001, 'readinessChanged', { isReady: false }],
      ],
      refused,
    ),
    judge([...killed, unready, [5_000, 'containerExited', { container: 'app', code: 0 }]], refused),
  ];
  assert.deepEqual(namesOf(never), ['listenerClosedTooEarly', 'readinessNeverRed']);
  assert.deepEqual(namesOf(red), ['listenerClosedTooEarly']);
  assert.match(
    red.causes[0]?.text ?? '',
    /the listener closed 0\.0 s after the kill, from 0\.1 s to 0\.1 s after the kill$/,
  );
});

const withSidecar: Story = [[0, 'containerStarted', { container: 'proxy', isSidecar: true }], ...started];

test('K-105 if a sidecar exits before the regular containers, the rehearsal reports this as a cause of lost requests', () => {
  const story: Story = [...withSidecar, [4_200, 'containerExited', { container: 'proxy', code: 0 }], ...exit(0)];
  const result = judge(story, { newConnection: { sent: 10, answered: 9, lost: 1 } });
  assert.deepEqual(
    result.causes.map(({ name, text }) => [name, text]),
    [['sidecarEndedFirst', 'sidecar proxy exited 0.8 s before container app, which may still need it']],
  );
});

test('K-106 a sidecar that the kubelet kills is reported as a sidecar, and not as the main process of the pod', () => {
  const result = judge([
    ...withSidecar,
    [5_000, 'containerExited', { container: 'app', code: 0 }],
    [5_000, 'stopSignal', { container: 'proxy', signal: 'SIGTERM' }],
    [7_000, 'killSignal', { container: 'proxy', signal: 'SIGTERM', isStopSignalHandled: false }],
    [7_010, 'containerExited', { container: 'proxy', code: 137, signal: 'SIGKILL' }],
  ]);
  assert.equal(result.verdict, 'lost');
  assert.deepEqual(
    result.causes.map(({ name, text }) => [name, text]),
    [['sidecarKilled', 'sidecar proxy was killed 2.0 s after the stop signal, for which it has no handler']],
  );
});

test('if a command exits before its pod is ready, the rehearsal reports that the command ended itself, and not that it was slow to start', () => {
  const result = judge([
    [0, 'containerStarted', { container: 'app' }],
    [100, 'containerExited', { container: 'app', code: 0 }],
    [60_000, 'note', { text: 'the pod did not become ready' }],
  ]);
  assert.deepEqual([result.verdict, namesOf(result)], ['lost', ['endedItself']]);
});

test('if the server listens on another port than the port to which the rehearsal sends requests, the rehearsal reports both ports', () => {
  const result = judge([
    [0, 'containerStarted', { container: 'app' }],
    [60_000, 'note', { text: 'the pod did not become ready', port: 9999, otherPorts: '3000' }],
  ]);
  assert.deepEqual(
    result.causes.map(({ text }) => text),
    ['nothing listened on port 9999, but the command listens on port 3000'],
  );
});
