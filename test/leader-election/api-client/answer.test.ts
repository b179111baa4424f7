import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, type Received } from '../../../src/leader-election/api-client/answer.ts';
import { status } from '../../support/lease-store.ts';

function received(code: number, body: unknown, headers: Record<string, string> = {}): Received {
  return { status: code, headers, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

test('L-037, LT-42 the elector reads the time to wait before a retry from the header Retry-After of a 429 or 503, or from retryAfterSeconds in the Status body of a ServerTimeout', () => {
  const cases: [Received, number | undefined][] = [
    [received(429, 'Too many requests', { 'retry-after': '1' }), 1_000],
    [received(503, 'shutting down', { 'retry-after': '5' }), 5_000],
    [received(500, status(500, 'ServerTimeout', 'x', { retryAfterSeconds: 2 }).body), 2_000],
    [received(500, status(500, 'InternalError', 'x').body), undefined],
    [received(503, 'x', { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }), undefined],
    [received(429, 'x', { 'retry-after': '-1' }), undefined],
  ];
  for (const [answer, retryAfter] of cases) {
    const { reply } = answerOf({ method: 'PUT' }, answer);
    assert.equal(reply.kind === 'failed' ? reply.retryAfter : reply.kind, retryAfter, answer.body);
  }
});

test('if a write of the Lease gets a 4xx response, the API server has not stored it; after a 5xx response, it may have stored it', () => {
  for (const [code, isRejected] of [
    [403, true],
    [422, true],
    [429, true],
    [500, false],
    [504, false],
  ] as const) {
    const { reply } = answerOf({ method: 'POST' }, received(code, 'x'));
    assert.partialDeepStrictEqual(reply, { kind: 'failed', isRejected });
  }
});

test('each failed request to the API server is classified as one of eleven kinds of failure; a response that the election protocol expects is no failure', () => {
  const kinds = [
    received(401, status(401, 'Unauthorized', 'x').body),
    received(429, 'x'),
    received(503, 'x'),
    received(500, 'x'),
    received(200, '{'),
    received(201, '{}'),
    received(409, status(409, 'Conflict', 'x').body),
    received(404, status(404, 'NotFound', 'x').body),
    received(404, 'page not found'),
  ].map((answer) => answerOf({ method: 'PUT' }, answer).problem?.kind);
  assert.deepEqual(kinds, [
    'unauthorized',
    'throttled',
    'throttled',
    'unexpected',
    'malformed',
    'recreated',
    undefined,
    undefined,
    'unexpected',
  ]);
});
