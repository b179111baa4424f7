// Tests how the log describes a request that has no response at the deadline of the drain.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Connection } from '../../../src/http/connection.ts';
import { describeUnfinished } from '../../../src/http/in-flight/unfinished.ts';

function connectionOf(url: string, socket: object, arrivedAt: number, headers = {}): Connection {
  const request = { method: 'GET', url, socket, headers };
  return { unfinished: () => [{ state: { is: 'serving' }, request, arrivedAt, head: '' }] } as unknown as Connection;
}

test('P-027 unfinished requests are named in the log by method, path, age and peer, oldest first', () => {
  const connections = [
    connectionOf('/b?secret=1', { remoteAddress: '10.0.3.17', remotePort: 40_022 }, 900),
    connectionOf('/a', { remoteAddress: '::1', remotePort: 40_023 }, 100.4),
    connectionOf('/c', {}, 1_000),
  ];
  assert.deepEqual(describeUnfinished(connections, 1_000, undefined), [
    { method: 'GET', route: '/a', ageMs: 900, peer: '[::1]:40023' },
    { method: 'GET', route: '/b', ageMs: 100, peer: '10.0.3.17:40022' },
    { method: 'GET', route: '/c', ageMs: 0, peer: 'unix:' },
  ]);
});

test('P-027 an unfinished request is named in the log with its traceparent and its x-request-id, up to 128 characters of each', () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const headers = { traceparent, 'x-request-id': 'r'.repeat(200), cookie: 'secret' };
  const [described] = describeUnfinished([connectionOf('/a', {}, 0, headers)], 1, undefined);
  const named = { method: 'GET', route: '/a', ageMs: 1, peer: 'unix:' };
  assert.deepEqual(described, { ...named, traceparent, 'x-request-id': 'r'.repeat(128) });
});

test('P-027 the result of route() replaces the path of an unfinished request', () => {
  const connections = [connectionOf('/users/7', {}, 0)];
  assert.equal(describeUnfinished(connections, 1, () => '/users/:id')[0]?.route, '/users/:id');
});
