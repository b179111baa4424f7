// Tests how a rehearsal divides its simulated clients and their requests between client threads.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dividePlan, type LoadPlan } from '../../../src/cli/rehearsal/load.ts';

const plan: LoadPlan = {
  rate: 200,
  connections: 40,
  requests: [{ method: 'GET', path: '/' }],
  retry: true,
  longPoll: '/poll',
  stream: '/stream',
  upload: '/upload',
  webSocket: '/socket',
  http2: '/h2',
  seed: 7,
  host: '127.0.0.1',
  port: 80,
};
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

describe('a rehearsal divides its requests between client threads', () => {
  it('at the default request rate, one client thread sends all requests of a rehearsal', () => {
    assert.deepEqual(dividePlan(plan), [plan]);
  });

  it('at a high request rate, several client threads share the requests and the keep-alive connections, and each thread has a random seed of its own', () => {
    const parts = dividePlan({ ...plan, rate: 12_000, connections: 41 });
    assert.deepEqual(
      parts.map(({ connections, seed }) => [connections, seed]),
      [
        [13, 7],
        [14, 8],
        [14, 9],
      ],
    );
    assert.equal(sum(parts.map(({ rate }) => rate)), 12_000);
  });

  it('the additional clients of options such as `--retry` or `--http2` run only in the first client thread', () => {
    const [first, ...others] = dividePlan({ ...plan, rate: 6_000 });
    assert.deepEqual(first && [first.retry, first.longPoll, first.http2], [true, '/poll', '/h2']);
    for (const { retry, longPoll, stream, upload, webSocket, http2 } of others)
      assert.deepEqual(
        [retry, longPoll, stream, upload, webSocket, http2],
        [false, undefined, undefined, undefined, undefined, undefined],
      );
  });

  it('a rehearsal without keep-alive connections uses one client thread, even at a high request rate', () => {
    const parts = dividePlan({ ...plan, rate: 6_000, connections: 0 });
    assert.deepEqual([parts.length, parts[0]?.rate], [1, 6_000]);
  });
});
