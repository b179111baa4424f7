// Tests which causes of lost requests `lameduck rehearse` finds in the events of a scenario.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { causeNames } from '../../../src/cli/rehearsal/causes.ts';
import { causes, deleted, exit, lost, refused, started, type Story } from '../../support/rehearsal-story.ts';

const counts = (at: number, sent: number, answered: number): Story[number] => [at, 'requests', { sent, answered }];

test('docs/rehearse.md lists the name of each cause of lost requests once, in the order of the report', () => {
  const page = readFileSync(new URL('../../../docs/rehearse.md', import.meta.url), 'utf8');
  const [, section = ''] = page.split('## Causes');
  const listed = [...section.matchAll(/^\| `(\w+)` /gm)].map(([, name]) => name);
  assert.deepEqual(listed, causeNames);
});

test('a reported cause of lost requests counts the lost requests and not the events, because one event can record several lost requests', () => {
  const [cause] = causes(
    ...deleted,
    [4_010, 'listenerClosed'],
    refused(4_100, 'ECONNREFUSED'),
    refused(9_000, 'ECONNREFUSED', 40),
  );
  assert.equal(
    cause?.[1],
    '41 new connections failed, the listener closed 0.0 s after the deletion, from 0.1 s to 5.0 s after the deletion',
  );
});

test('if a postStart hook never ends, the rehearsal reports this hook as the cause of the failure, unless the user interrupted the rehearsal', () => {
  const hook: Story = [
    [0, 'containerStarted', { container: 'app' }],
    [10, 'postStartStarted', { container: 'app' }],
    [300, 'podDeleted', { cause: 'deletion' }],
    [90_010, 'note'],
  ];
  assert.deepEqual(causes(...hook), [
    ['postStartNeverEnded', 'the postStart hook of container app was still running after 90.0 s'],
  ]);
  assert.deepEqual(causes(...hook, [90_020, 'interrupted']), []);
  assert.deepEqual(causes(...hook.slice(0, 3), [400, 'postStartEnded', { container: 'app' }]), []);
});

test('if the server responds to a request with a refusal, the rehearsal does not report that the listening socket closed too early', () => {
  assert.deepEqual(
    causes(
      ...deleted,
      counts(3_900, 10, 10),
      refused(4_100, 'status 503'),
      refused(4_500, 'status 503', 2),
      [5_000, 'listenerClosed'],
      exit(0),
    ),
    [['refusedByStatus', '3 requests got status 503, from 0.1 s to 0.5 s after the deletion']],
  );
});

for (const [first, last, text] of [
  [3_000, 3_500, 'from 1.0 s to 0.5 s before the deletion'],
  [3_000, 4_500, 'from 1.0 s before to 0.5 s after the deletion'],
  [4_500, 5_500, 'from 0.5 s to 1.5 s after the deletion'],
] as const) {
  test(`for requests that are lost ${String(first)} ms and ${String(last)} ms after the start of a scenario, the rehearsal reports the time ${text}`, () => {
    const [cause] = causes(
      ...deleted,
      counts(2_000, 9, 9),
      refused(first, 'status 429'),
      refused(last, 'status 429'),
      exit(0),
    );
    assert.equal(cause?.[1], `2 requests got status 429, ${text}`);
  });
}

for (const [what, failures, text] of [
  ['expects TLS', [lost(3_000, 'newConnection')], 'was served; the first request failed with ECONNRESET'],
  ['refuses every request', [refused(3_000, 'status 503')], 'was served; the first request failed with status 503'],
  ['never responds', [], 'got a response'],
] as const) {
  test(`if a server ${what}, the rehearsal reports that the server served no request, and does not report that the server stopped listening too early`, () => {
    assert.deepEqual(
      causes(
        ...deleted,
        counts(2_000, 5, 0),
        ...failures,
        lost(4_050, 'keptConnection'),
        lost(4_100, 'newConnection'),
        counts(4_200, 9, 0),
        exit(0),
      ),
      [['neverServed', `none of the 9 requests ${text}`]],
    );
  });
}

test('if the pod is deleted before its server could serve a request, the first cause that the rehearsal reports is that the server stopped listening too early', () => {
  const [cause] = causes(...deleted, counts(3_500, 5, 0), lost(4_050, 'newConnection'), exit(0));
  assert.equal(cause?.[0], 'listenerClosedTooEarly');
});

test('if a pod never becomes ready, the reported cause names the last failed probe', () => {
  const output = 'HTTP probe failed with statuscode: 404';
  assert.deepEqual(causes(...started.slice(0, 2), [1_000, 'probe', { type: 'readiness', result: 'failure', output }]), [
    ['neverReady', `the server listened, but the pod never became ready: readiness probe: ${output}`],
  ]);
});

for (const code of [126, 127]) {
  test(`if a command cannot be started and exits with ${String(code)}, the rehearsal reports this as the only cause of the failure`, () => {
    assert.deepEqual(causes([100, 'containerExited', { container: 'app', code, output: 'failed to execute x' }]), [
      ['commandNotStarted', 'the command cannot be started: failed to execute x'],
    ]);
  });
}

test('if a container crashes before its pod becomes ready, the rehearsal first reports the crash, and then that the pod never became ready', () => {
  assert.deepEqual(
    causes(exit(3)).map(([name]) => name),
    ['crashed', 'neverReady'],
  );
});

test('a server that listens on another port after its restart is reported with its old and its new port', () => {
  const [cause] = causes(
    ...started,
    [4_000, 'containerKilling', { container: 'app' }],
    [4_000, 'stopSignal', { container: 'app', signal: 'SIGTERM' }],
    exit(0),
    [30_000, 'note', { text: 'the pod did not become ready', port: 3000, otherPorts: '4000' }],
  );
  assert.deepEqual(cause, ['portChanged', 'after a restart, the server listened on port 4000 instead of port 3000']);
});

test('if a restarted server needs some time until it listens on its old port, the rehearsal does not report that it listens on another port', () => {
  const listening: Story[number] = [9_000, 'containerListening', { port: 3000, isMain: true, isLoopback: false }];
  assert.deepEqual(causes(...started, [8_000, 'note', { port: 3000, otherPorts: '4000' }], listening), []);
});

test('if nothing listens on the port to which a rehearsal sends requests, the rehearsal reports the port on which the program listens', () => {
  const [cause] = causes(
    [300, 'containerListening', { port: 4000 }],
    [60_000, 'note', { port: 3000, otherPorts: '4000' }],
  );
  assert.deepEqual(cause, ['neverReady', 'nothing listened on port 3000, but the command listens on port 4000']);
});

test('K-106 a sidecar that the kubelet ends at the end of the grace period is not reported as ending too early', () => {
  const story: Story = [
    [0, 'containerStarted', { container: 'proxy', isSidecar: true }],
    ...deleted,
    [7_000, 'killSignal', { container: 'app', signal: 'SIGTERM', isStopSignalHandled: true }],
    [4_000, 'stopSignal', { container: 'app', signal: 'SIGTERM' }],
    [7_000, 'stopSignal', { container: 'proxy', signal: 'SIGTERM' }],
    [7_010, 'containerExited', { container: 'proxy', code: 0 }],
    exit(137, 9_000),
  ];
  assert.deepEqual(
    causes(...story).map(([name]) => name),
    ['gracePeriodTooShort'],
  );
});

test('if the event loop of the server was blocked, and requests on kept-alive connections then fail, the rehearsal reports the blocked event loop as the cause', () => {
  const lostAfter = (at: number, afterMs: number): Story[number] => [
    at,
    'requestLost',
    { client: 'keptConnection', why: 'ECONNRESET', afterMs },
  ];
  const story: Story = [
    ...started,
    [3_000, 'note', { deed: 'block' }],
    [43_000, 'note', { deed: 'unblock' }],
    lostAfter(43_010, 39_000),
    lostAfter(43_200, 20),
  ];
  const byBlock = [
    'cutAfterBlock',
    '2 requests on kept-alive connections failed after the server had been blocked for 40.0 s',
  ];
  assert.deepEqual(causes(...story), [byBlock]);
  assert.deepEqual(causes(...story, lostAfter(47_000, 20)), [
    byBlock,
    ['keptConnectionsCut', '1 request on kept-alive connections failed, without a deletion of the pod'],
  ]);
});

test('K-175 for a process that a hard eviction kills, the report does not suggest a longer grace period', () => {
  const story: Story = [
    ...started,
    [4_000, 'podDeleted', { cause: 'hardEviction' }],
    [4_000, 'stopSignal', { container: 'app', signal: 'SIGTERM' }],
    [6_000, 'killSignal', { container: 'app', signal: 'SIGTERM', isStopSignalHandled: true }],
    exit(137, 6_010),
  ];
  assert.deepEqual(causes(...story), [
    ['evictedWhileRunning', 'the kubelet killed the process two seconds after the start of the hard eviction'],
  ]);
});

test('requests that fail on an HTTP/2 session are not reported as requests on kept-alive connections, because HTTP/2 has no header Connection', () => {
  const story: Story = [
    ...deleted,
    counts(3_000, 100, 100),
    [4_100, 'requestLost', { client: 'http2', why: 'stream closed with code 2', count: 2 }],
    [4_200, 'requestRefused', { client: 'http2', why: 'REFUSED_STREAM' }],
    [4_300, 'requestRefused', { client: 'http2', why: 'ECONNREFUSED' }],
    exit(0),
  ];
  assert.deepEqual(causes(...story), [
    ['http2SessionsCut', '3 HTTP/2 requests failed on open sessions, from 0.1 s to 0.2 s after the deletion'],
  ]);
});
