// Tests which causes `lameduck rehearse` finds if the main process of a container ends on its own, or is killed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Detail } from '../../../src/cli/rehearsal/event-log.ts';
import { causes, deleted, exit, killed, lost, refused, started, type Story } from '../../support/rehearsal-story.ts';

const listening = (at: number, isMain: boolean): Story[number] => [
  at,
  'containerListening',
  { port: 3000, isMain, isLoopback: false },
];
const restart = (at: number): Story => [
  [at, 'containerStarted', { container: 'app', restarts: 1 }],
  listening(at, true),
];
const note = (at: number, deed: string): Story[number] => [at, 'note', { text: deed, deed }];
const namesOf = (...story: Story): string[] => causes(...story).map(([name]) => name);

const ended = 'the container ended because its main process exited by itself with code 0';

for (const [when, before, text] of [
  ['before it listens', [], `${ended} before the container listened on a port`],
  [
    'after its child process has begun to listen',
    [listening(100, false)],
    `${ended}, 0.4 s after a child process began to listen on port 3000`,
  ],
  [
    'after it has begun to listen',
    [listening(100, true)],
    `${ended}, 0.4 s after the main process began to listen on port 3000`,
  ],
] as const) {
  test(`if a main process exits with code 0 ${when}, the rehearsal reports that the main process ended itself`, () => {
    const story: Story = [[0, 'containerStarted', { container: 'app' }], ...before, exit(0, 500)];
    assert.deepEqual(causes(...story), [['endedItself', text]]);
  });
}

test('if the main process exits on its own with code 0, the rehearsal reports this exit as the only cause of lost requests, and no fault of the shutdown', () => {
  const story: Story = [
    ...started,
    exit(0, 2_000),
    lost(2_050, 'keptConnection'),
    lost(2_060, 'http2'),
    lost(2_070, 'webSocket'),
    [4_000, 'podDeleted', { cause: 'deletion' }],
    refused(4_100, 'ECONNREFUSED'),
    [4_200, 'podStopped'],
  ];
  assert.deepEqual(namesOf(...story), ['endedItself']);
});

for (const [who, story] of [
  ['after the deletion of its pod', [...deleted, exit(0)]],
  [
    'in the preStop hook of a restart',
    [...started, [3_000, 'containerKilling', { container: 'app' }], exit(0), ...restart(6_000)],
  ],
  ['after its stop signal', [...started, [3_000, 'stopSignal', { container: 'app' }], exit(0)]],
  ['after an interruption of the rehearsal', [...started, [3_000, 'interrupted'], exit(0)]],
  [
    'in a sidecar',
    [
      [0, 'containerStarted', { container: 'proxy', isSidecar: true }],
      [900, 'containerExited', { container: 'proxy', code: 0 }],
      ...started,
    ],
  ],
  [
    'in a container that does not serve requests',
    [
      ...started,
      [1_000, 'containerStarted', { container: 'migration' }],
      [1_500, 'containerExited', { container: 'migration', code: 0 }],
    ],
  ],
] as readonly (readonly [string, Story])[]) {
  test(`if a main process exits with code 0 ${who}, the rehearsal does not report that the main process ended itself`, () => {
    assert.ok(!namesOf(...story).includes('endedItself'));
  });
}

test('if the main process is killed with SIGKILL, the rehearsal reports the SIGKILL as the only cause of all requests that fail until the server listens again, and counts these requests', () => {
  const crash = (at: number): Story => [
    note(at, 'crash'),
    lost(at + 5, 'keptConnection'),
    killed(at + 10),
    lost(at + 60, 'http2'),
    lost(at + 70, 'eventStream'),
    refused(at + 100, 'ECONNREFUSED', 20),
  ];
  assert.deepEqual(causes(...started, ...crash(3_000), ...restart(4_000), ...crash(8_000), ...restart(9_000)), [
    ['mainProcessKilled', 'the main process was killed with SIGKILL 2 times, and 46 requests failed'],
  ]);
});

test('if the main process is killed with SIGKILL more than once, the rehearsal also counts a SIGKILL after which no request failed', () => {
  const story: Story = [
    ...started,
    note(3_000, 'crash'),
    killed(3_010),
    ...restart(4_000),
    note(8_000, 'crash'),
    killed(8_010),
    lost(8_060, 'keptConnection'),
  ];
  assert.deepEqual(causes(...story), [
    ['mainProcessKilled', 'the main process was killed with SIGKILL 2 times, and 1 request failed'],
  ]);
});

test('if a request on a kept-alive connection fails three seconds after the restart of a crashed container, the rehearsal does not name the crash as the cause of this failure', () => {
  const story: Story = [
    ...started,
    note(3_000, 'crash'),
    killed(3_010),
    lost(3_060, 'keptConnection'),
    ...restart(4_000),
    lost(7_000, 'keptConnection'),
  ];
  assert.deepEqual(causes(...story), [
    ['mainProcessKilled', 'the main process was killed with SIGKILL, and 1 request failed'],
    ['keptConnectionsCut', '1 request on kept-alive connections failed, without a deletion of the pod'],
  ]);
});

test('the SIGKILL with which the rehearsal ends a scenario is not reported as a cause of lost requests', () => {
  const story: Story = [...started, lost(7_000, 'keptConnection'), [7_100, 'loadEnded'], killed(7_110)];
  assert.deepEqual(namesOf(...story), ['keptConnectionsCut']);
});

test('if a server crashes, the rehearsal reports the crash as the only cause of the lost requests', () => {
  assert.deepEqual(namesOf(...started, lost(2_990, 'keptConnection'), exit(1, 3_000)), ['crashed']);
  const aborted = [3_000, 'containerExited', { container: 'app', code: 134, signal: 'SIGABRT', output: '' }] as const;
  assert.deepEqual(causes(...started, aborted, lost(3_050, 'keptConnection')), [
    ['crashed', 'container app exited on its own with code 134 (SIGABRT)'],
  ]);
});

const nodeError = 'throw er;\n^\n\nError: boom\n    at main.js:1:1\n\nNode.js v24.21.0\n';
const pythonError = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    f()\nValueError: x\n';
const goError = 'panic: boom\n\ngoroutine 1 [running]:\nmain.main()\n\t/a.go:3 +0x1d\nexit status 2\n';
const crashed = (detail: Detail, at = 6_000): Story[number] => [
  at,
  'containerExited',
  { container: 'app', code: 1, ...detail },
];
const stopped: Story = [
  ...deleted,
  [4_000, 'containerKilling', { container: 'app' }],
  [4_000, 'stopSignal', { container: 'app', signal: 'SIGTERM' }],
];
const lostByExit: Story = [
  lost(6_050, 'keptConnection'),
  lost(6_060, 'newConnection'),
  lost(6_070, 'http2'),
  lost(6_080, 'webSocket'),
  refused(6_100, 'ECONNREFUSED', 20),
];

for (const [what, detail] of [
  ['an uncaught error of Node', { output: nodeError }],
  ['an uncaught error of Python', { output: pythonError }],
  ['a panic of Go', { code: 2, output: goError }],
  ['SIGSEGV', { code: 139, signal: 'SIGSEGV', output: '' }],
  ['SIGABRT in a child of the main process', { code: 134, output: 'Aborted\n' }],
] as const) {
  test(`if a server crashes after its stop signal, the rehearsal reports the crash as the only cause of the requests that it loses: ${what}`, () => {
    assert.deepEqual(namesOf(...stopped, crashed(detail), ...lostByExit), ['crashed']);
    assert.deepEqual(namesOf(...deleted, crashed(detail), ...lostByExit), ['crashed']);
  });
}

test('requests that are lost well before a crash still have their own cause', () => {
  const story: Story = [...stopped, lost(4_100, 'keptConnection'), crashed({ output: nodeError }), ...lostByExit];
  assert.deepEqual(namesOf(...story), ['crashed', 'keptConnectionsCut']);
});

for (const [what, detail] of [
  ['code 1', { output: 'stopped\n' }],
  ['the code of SIGTERM', { code: 143, output: '' }],
  ['code 1 after a logged error', { output: `${nodeError}stopped\n` }],
] as const) {
  test(`an exit after the stop signal with ${what} is not reported as a crash`, () => {
    assert.deepEqual(namesOf(...stopped, crashed(detail), lost(6_050, 'keptConnection')), ['keptConnectionsCut']);
  });
}

test('a crash after the stop signal that loses no request is not reported as a cause', () => {
  assert.deepEqual(namesOf(...stopped, crashed({ output: nodeError })), []);
});

const kill = (at: number): Story[number] => [
  at,
  'killSignal',
  { container: 'app', signal: 'SIGTERM', isStopSignalHandled: true },
];

test('K-175 if requests are lost because a hard eviction killed the process, the rehearsal reports only the eviction as the cause', () => {
  const story: Story = [
    ...started,
    [4_000, 'podDeleted', { cause: 'hardEviction' }],
    [4_000, 'containerKilling', { container: 'app' }],
    [4_000, 'stopSignal', { container: 'app', signal: 'SIGTERM' }],
    kill(6_000),
    killed(6_010),
    lost(6_060, 'keptConnection'),
    [6_070, 'listenerClosed', { port: 3000 }],
    refused(6_100, 'ECONNREFUSED', 100),
  ];
  assert.deepEqual(namesOf(...story), ['evictedWhileRunning']);
});

test('if a process is killed at the end of its grace period, the cause `keptConnectionsCut` counts only the requests that were lost before the kill', () => {
  const story: Story = [
    ...deleted,
    [4_000, 'containerKilling', { container: 'app' }],
    [4_000, 'stopSignal', { container: 'app', signal: 'SIGTERM' }],
    lost(4_100, 'keptConnection'),
    kill(34_000),
    killed(34_010),
    lost(34_050, 'keptConnection'),
  ];
  assert.deepEqual(causes(...story), [
    ['gracePeriodTooShort', 'the process was still running 30.0 s after the stop signal and was killed'],
    ['keptConnectionsCut', '1 request on kept-alive connections failed, from 0.1 s to 0.1 s after the deletion'],
  ]);
});

test('if the kubelet kills a process while the process is blocked, the rehearsal reports the failed liveness probe as the cause, and not the grace period', () => {
  const blocked: Story = [
    ...started,
    note(3_000, 'block'),
    [9_000, 'readinessChanged', { isReady: false }],
    [10_000, 'containerKilling', { container: 'app' }],
    [10_000, 'stopSignal', { container: 'app', signal: 'SIGTERM' }],
  ];
  const loses: Story = [kill(40_000), killed(40_010), lost(40_050, 'keptConnection')];
  assert.deepEqual(causes(...blocked, ...loses), [
    [
      'killedWhileBlocked',
      'the liveness probe failed while the server was blocked, and the kubelet killed the process 30.0 s after the stop signal',
    ],
  ]);
  assert.deepEqual(namesOf(...blocked, note(39_000, 'unblock'), ...loses), ['gracePeriodTooShort']);
});

test('if the server exits after its stop signal, the cause `keptConnectionsCut` counts the requests that are lost by this exit', () => {
  const story: Story = [
    ...deleted,
    [4_000, 'containerKilling', { container: 'app' }],
    [4_000, 'stopSignal', { container: 'app', signal: 'SIGTERM' }],
    exit(1),
    lost(5_060, 'keptConnection'),
  ];
  assert.deepEqual(namesOf(...story), ['keptConnectionsCut']);
});
