// Tests how the load of a rehearsal is divided between client threads.
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

describe('the client threads of a rehearsal', () => {
  it('one thread sends the whole load at the default rate', () => {
    assert.deepEqual(dividePlan(plan), [plan]);
  });

  it('several threads share the requests and keep-alive connections of a high rate, and have different seeds', () => {
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

  it('only the first thread has the clients that an option adds', () => {
    const [first, ...others] = dividePlan({ ...plan, rate: 6_000 });
    assert.deepEqual(first && [first.retry, first.longPoll, first.http2], [true, '/poll', '/h2']);
    for (const { retry, longPoll, stream, upload, webSocket, http2 } of others)
      assert.deepEqual(
        [retry, longPoll, stream, upload, webSocket, http2],
        [false, undefined, undefined, undefined, undefined, undefined],
      );
  });

  it('one thread sends the load if there is no keep-alive connection', () => {
    const parts = dividePlan({ ...plan, rate: 6_000, connections: 0 });
    assert.deepEqual([parts.length, parts[0]?.rate], [1, 6_000]);
  });
});
