// Tests the notes of a rehearsal, which report incidents such as a failed probe even if no request was lost.
import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import type { WriteStream } from 'node:tty';
import { newTallies } from '../../../src/cli/rehearsal/load.ts';
import { notesOf } from '../../../src/cli/rehearsal/notes.ts';
import { page } from '../../../src/cli/rehearsal/report.ts';
import { resultOf, scenarioResult } from '../../../src/cli/rehearsal/result.ts';
import { Terminal } from '../../../src/cli/rehearsal/terminal.ts';
import { deleted, eventsOf, exit, started, type Story } from '../../support/rehearsal-story.ts';

const notes = (...story: Story): string[] => notesOf(eventsOf(story));
const note = (at: number, deed: string): Story[number] => [at, 'note', { text: deed, deed }];
const failed = (at: number, type: string): Story[number] => [
  at,
  'probe',
  { container: 'app', type, result: 'failure', published: 'failure' },
];
const ready = (at: number, isReady: boolean): Story[number] => [at, 'readinessChanged', { isReady }];

const blocked: Story = [
  ...started,
  note(3_000, 'block'),
  failed(11_000, 'readiness'),
  ready(11_000, false),
  [42_900, 'requests', { inFlight: 1_022 }],
  note(43_000, 'unblock'),
  [43_050, 'requests', { inFlight: 3 }],
  ready(43_500, true),
];
const blockedNotes = [
  'the server was blocked for 40.0 s, and 1022 requests were waiting for a response at the end of the block',
  'the pod was not ready for 32.5 s, because its readiness probe failed',
];

test('if the server is blocked, the rehearsal reports how many requests waited for a response, and how long the pod was not ready', () => {
  assert.deepEqual(notes(...blocked), blockedNotes);
});

test('if a container is restarted while its server is blocked, the rehearsal reports that the server was blocked until the container exited', () => {
  const story: Story = [
    ...blocked.slice(0, 4),
    failed(9_000, 'liveness'),
    [9_000, 'containerKilling', { container: 'app' }],
    failed(11_000, 'readiness'),
    ready(11_000, false),
    [18_900, 'requests', { inFlight: 547 }],
    exit(137, 19_000),
    [19_000, 'containerStarted', { container: 'app' }],
    ready(20_000, true),
    [42_900, 'requests', { inFlight: 7 }],
    note(43_000, 'unblock'),
  ];
  assert.deepEqual(notes(...story), [
    'the server was blocked for 16.0 s, and 547 requests were waiting for a response at the end of the block',
    'the pod was not ready for 9.0 s, because its readiness probe failed',
    'the kubelet restarted container app, because its liveness probe failed',
  ]);
});

test('if the pod of a blocked server stays ready, the rehearsal reports that the Service still sent new connections to this pod', () => {
  assert.deepEqual(notes(...started, note(3_000, 'block'), [43_000, 'note', { text: '', deed: 'unblock' }]), [
    'the server was blocked for 40.0 s, and 0 requests were waiting for a response at the end of the block',
    'the pod stayed ready during the block, so the Service still sent new connections to it',
  ]);
});

test('a rehearsal reports a container that the kubelet ended because of a failed liveness probe, and whether it was restarted', () => {
  const killed: Story = [...started, failed(9_000, 'liveness'), [9_001, 'containerKilling', { container: 'app' }]];
  assert.deepEqual(notes(...killed, exit(0, 9_500)), [
    'the kubelet ended container app, because its liveness probe failed',
  ]);
  assert.deepEqual(notes(...killed, exit(0, 9_500), [9_600, 'containerStarted', { container: 'app' }]), [
    'the kubelet restarted container app, because its liveness probe failed',
  ]);
});

test('if a pod is not ready because it is deleted or its container has exited, the result of the rehearsal has no note about the unready pod', () => {
  assert.deepEqual(notes(...deleted, failed(5_000, 'readiness'), ready(5_000, false), exit(0)), []);
  assert.deepEqual(notes(...started, failed(900, 'readiness'), exit(1, 3_000), ready(3_500, false)), []);
});

const failedAfter = (at: number, afterMs: number, count?: number): Story[number] => [
  at,
  'requestLost',
  { client: 'keptConnection', why: 'ECONNRESET', afterMs, count },
];
const lateNote = (requests: string, late: string): string =>
  `${requests} failed while this rehearsal was up to ${late} s late: a rehearsal on a less busy machine shows whether the server loses them`;

for (const [kind, who] of [
  ['loadDelayed', 'its clients'],
  ['kubeletDelayed', 'its kubelet and its Service'],
] as const) {
  test(`a rehearsal reports how late ${who} were while requests failed, and how many requests failed then`, () => {
    const late = (at: number, delayMs: number): Story[number] => [at, kind, { delayMs }];
    assert.deepEqual(notes(...deleted, failedAfter(4_900, 20), failedAfter(5_000, 20, 3), late(5_000, 640)), [
      lateNote('4 requests', '0.6'),
    ]);
    assert.deepEqual(notes(...deleted, late(5_000, 640), failedAfter(5_100, 20), late(6_000, 1_000)), [
      lateNote('1 request', '1.0'),
    ]);
    assert.deepEqual(notes(...deleted, late(5_000, 640), failedAfter(8_000, 2_900)), [lateNote('1 request', '0.6')]);
    assert.deepEqual(
      notes(...deleted, failedAfter(4_000, 20), late(5_000, 640), failedAfter(6_000, 20), late(9_000, 640)),
      [],
    );
    assert.deepEqual(notes(...deleted, late(5_000, 640)), [], 'the verdict is withheld if no request failed');
  });
}

test('the text and the page of a clean scenario contain its notes', () => {
  const tallies = newTallies();
  Object.assign(tallies.newConnection, { sent: 10, answered: 10 });
  const result = scenarioResult({ name: 'blocked-loop', propagationMs: 0 }, tallies, eventsOf(blocked));
  assert.deepEqual([result.verdict, result.notes], ['clean', blockedNotes]);
  let written = '';
  const stream = new Writable({
    write(chunk, _encoding, callback) {
      written += String(chunk);
      callback();
    },
  });
  new Terminal(stream as unknown as WriteStream).verdict(result);
  assert.match(written, /^ {2}note: {3}the pod was not ready for 32\.5 s, because its readiness probe failed$/m);
  const html = page(resultOf([result], { seed: 1, command: ['x'], leftOut: 0 }));
  assert.match(html, /<p>The pod was not ready for 32\.5 s, because its readiness probe failed\.<\/p>/);
});
