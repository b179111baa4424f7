import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HttpRequest } from '../../../src/message.ts';
import { describe, lineOf, type Outcome } from '../../../src/observers/audit/event.ts';

const receivedAt = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

function described({ url = '/orders', method = 'GET', headers = {}, remoteAddress = '10.0.3.17' } = {}): ReturnType<
  typeof describe
> {
  return describe({ url, method, headers, socket: { remoteAddress } } as unknown as HttpRequest, 'id', receivedAt);
}

function eventOf(request: ReturnType<typeof describe>, at = receivedAt, outcome: Outcome = {}): object {
  const line = lineOf(request, 'ResponseComplete', at, outcome);
  assert.match(line, /^\{.*\}\n$/);
  return JSON.parse(line) as object;
}

test('A-205 an audit event has the fields of audit.k8s.io/v1 at the level Metadata', () => {
  const headers = {
    'user-agent': 'curl/8',
    traceparent: '00-1-2-01',
    'x-request-id': 'r1',
    authorization: 'Bearer secret',
    cookie: 'secret',
    'x-forwarded-for': '1.2.3.4',
  };
  const request = described({ url: '/orders/7?token=secret', method: 'POST', headers });
  assert.deepEqual(eventOf(request, receivedAt + 22, { code: 201 }), {
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: 'Metadata',
    auditID: 'id',
    stage: 'ResponseComplete',
    requestURI: '/orders/7',
    verb: 'post',
    sourceIPs: ['10.0.3.17'],
    userAgent: 'curl/8',
    responseStatus: { code: 201 },
    requestReceivedTimestamp: '2026-01-02T03:04:05.678000Z',
    stageTimestamp: '2026-01-02T03:04:05.700000Z',
    annotations: { traceparent: '00-1-2-01', 'x-request-id': 'r1' },
  });
});

test('an audit event has no field without a value', () => {
  const names = Object.keys(eventOf(described()));
  for (const name of ['userAgent', 'responseStatus', 'annotations']) assert.ok(!names.includes(name), name);
});

test('the audit event of an incomplete response has an annotation that marks the response as incomplete', () => {
  const outcome = { code: 200, isIncomplete: true };
  const [plain, identified] = [described(), described({ headers: { traceparent: '00' } })].map(
    (request) => (eventOf(request, receivedAt, outcome) as { annotations: object }).annotations,
  );
  assert.deepEqual(plain, { 'lameduck/incomplete': 'true' });
  assert.deepEqual(identified, { traceparent: '00', 'lameduck/incomplete': 'true' });
});

const uris: readonly [method: string, url: string, recorded: string][] = [
  ['GET', '/', '/'],
  ['GET', '/a?b=secret', '/a'],
  ['GET', '/a#secret', '/a'],
  ['GET', '?secret', ''],
  ['OPTIONS', '*', '*'],
  ['GET', 'http://user:secret@host:80/a?secret', '/a'],
  ['GET', '/redirect/http://host/a', '/redirect/http://host/a'],
  ['CONNECT', 'host:443', 'host:443'],
  ['CONNECT', 'user:secret@host:443', 'host:443'],
];
for (const [method, url, recorded] of uris) {
  test(`the audit event of the request ${method} ${url} has ${recorded === '' ? 'an empty requestURI' : `the requestURI ${recorded}`}`, () => {
    assert.equal((eventOf(described({ method, url })) as { requestURI: string }).requestURI, recorded);
  });
}

test('an audit event has an IPv4-mapped IPv6 address in the IPv4 form, and no address for a unix socket', () => {
  const sourceIPs = (request: ReturnType<typeof describe>): unknown =>
    (eventOf(request) as { sourceIPs: unknown }).sourceIPs;
  assert.deepEqual(sourceIPs(described({ remoteAddress: '::ffff:10.0.0.1' })), ['10.0.0.1']);
  assert.deepEqual(sourceIPs(described({ remoteAddress: '::1' })), ['::1']);
  const onUnixSocket = { url: '/', headers: {}, socket: {} } as unknown as HttpRequest;
  assert.deepEqual(sourceIPs(describe(onUnixSocket, 'id', receivedAt)), []);
});

test('an audit line has at most 4096 bytes, whatever a client sends', () => {
  const long = '"'.repeat(9_000);
  const headers = { 'user-agent': 'ä'.repeat(9_000), traceparent: long, 'x-request-id': long };
  const socket = { remoteAddress: 'f'.repeat(39) };
  const request = { url: `/${long}`, method: 'X'.repeat(9_000), headers, socket } as unknown as HttpRequest;
  const audited = describe(request, 'a'.repeat(36), receivedAt);
  const bytes = Buffer.byteLength(lineOf(audited, 'ResponseComplete', receivedAt, { code: 200, isIncomplete: true }));
  assert.ok(bytes <= 4_096 && bytes > 3_500, String(bytes));
});

test('if the program itself creates a request object without a method, URL and user agent, the audit event of this request has none of them either', () => {
  const made = { url: null, method: null, headers: { 'user-agent': 7 }, socket: {} } as unknown as HttpRequest;
  const { requestURI, verb, userAgent } = eventOf(describe(made, 'id', receivedAt)) as Record<string, unknown>;
  assert.deepEqual([requestURI, verb, userAgent], ['', '', undefined]);
});
