// Tests which cause `lameduck rehearse` reports if the server never serves the clients of one kind, such as HTTP/2
// clients.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { causes, deleted, exit, lost, refused, started, type Story } from '../../support/rehearsal-story.ts';

const counts = (at: number, sent: number, served: string): Story[number] => [
  at,
  'requests',
  { sent, answered: served === '' ? 0 : 5, served },
];
const http1 = 'newConnection, keptConnection';
const unanswered = (at: number, client: string, count?: number): Story[number] => [
  at,
  'requestLost',
  { client, why: 'stream closed with code 2', isUnanswered: true, count },
];
const notUpgraded = (at: number, count?: number): Story[number] => [
  at,
  'requestRefused',
  { client: 'webSocket', why: 'the upgrade failed', count },
];

test('if a server serves HTTP/1.1 but no HTTP/2 request, the rehearsal reports that HTTP/2 was never served, and not that HTTP/2 sessions were cut', () => {
  const story: Story = [
    ...deleted,
    unanswered(2_000, 'http2', 30),
    counts(2_100, 100, http1),
    unanswered(4_100, 'http2', 23),
    exit(0),
  ];
  assert.deepEqual(causes(...story), [
    [
      'clientsNeverServed',
      'not a single HTTP/2 request succeeded: 53 HTTP/2 requests failed, the first with the reason "stream closed with code 2"',
    ],
  ]);
});

test('if a server rejects each upgrade to a WebSocket, the rehearsal reports only that the server served no WebSocket', () => {
  assert.deepEqual(
    causes(...deleted, notUpgraded(2_000, 284), counts(2_100, 100, http1), notUpgraded(4_100), exit(0)),
    [
      [
        'clientsNeverServed',
        'not a single WebSocket succeeded: 285 WebSockets failed, the first with the reason "the upgrade failed"',
      ],
    ],
  );
});

test('if a main process exits with code 0 before its server has responded to a request, the rehearsal reports this exit as the only cause of the lost requests', () => {
  const story: Story = [...started, counts(1_100, 20, ''), unanswered(2_500, 'newConnection', 20), exit(0, 2_500)];
  assert.deepEqual(
    causes(...story).map(([name]) => name),
    ['endedItself'],
  );
});

test('if a server serves HTTP/2 but not HTTP/1.1, the rehearsal reports this once for all clients of HTTP/1.1', () => {
  const story: Story = [
    ...started,
    unanswered(2_000, 'newConnection', 4),
    unanswered(2_000, 'keptConnection', 4),
    [3_000, 'containerKilling', { container: 'app' }],
    unanswered(3_100, 'newConnection'),
    counts(3_200, 100, 'http2'),
    exit(0),
  ];
  assert.deepEqual(
    causes(...story).map(([name, text]) => [name, text.split(',')[0]]),
    [['clientsNeverServed', 'not a single HTTP/1.1 request succeeded: 9 HTTP/1.1 requests failed']],
  );
});

test('if one kind of client was never served, the rehearsal still reports why requests of the other clients were lost', () => {
  const story: Story = [
    ...deleted,
    notUpgraded(2_000),
    counts(2_100, 100, http1),
    lost(4_100, 'keptConnection'),
    exit(0),
  ];
  assert.deepEqual(
    causes(...story).map(([name]) => name),
    ['clientsNeverServed', 'keptConnectionsCut'],
  );
});

for (const [what, losses, served, name] of [
  [
    'was served before',
    [unanswered(2_000, 'http2'), unanswered(4_100, 'http2')],
    `${http1}, http2`,
    'http2SessionsCut',
  ],
  ['failed only after the deletion', [unanswered(4_100, 'http2')], http1, 'http2SessionsCut'],
  ['failed only shortly before the deletion', [unanswered(3_500, 'http2')], http1, 'http2SessionsCut'],
  ['kept a WebSocket open', [notUpgraded(2_000), lost(4_100, 'webSocket')], http1, 'longRequestsCut'],
] as readonly (readonly [string, Story, string, string])[]) {
  test(`if a kind of client ${what}, the rehearsal does not report that the server never served this kind of client`, () => {
    const story: Story = [...deleted, counts(1_500, 100, http1), ...losses, counts(4_200, 200, served), exit(0)];
    assert.deepEqual(
      causes(...story).map(([found]) => found),
      [name],
    );
  });
}

test('if a server serves no client at all, the rehearsal reports one cause for all kinds of clients', () => {
  const story: Story = [
    ...deleted,
    notUpgraded(1_900),
    unanswered(2_000, 'newConnection'),
    counts(2_100, 7, ''),
    refused(4_100, 'ECONNREFUSED'),
    exit(0),
  ];
  assert.deepEqual(causes(...story), [
    ['neverServed', 'none of the 7 requests was served; the first request failed with stream closed with code 2'],
  ]);
});
