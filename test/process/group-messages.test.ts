// Tests the message with which a primary of node:cluster, or a main thread with worker threads, shuts down its workers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendShutdown } from '../../src/process/group-messages.ts';
import { FakeClock } from '../support/fake-clock.ts';

test('P-071 the shutdown budget of a cluster worker ends before the budget of its primary, so that the worker can exit in time: by 1.5 s, or by a quarter of the budget if a quarter is less', () => {
  const clock = new FakeClock();
  const budgets = [20_000, 2_000, -1].map((left) => {
    const sent: object[] = [];
    const channel = { connected: true, send: (message: object) => sent.push(message), on: () => undefined };
    sendShutdown(channel, { signal: 'SIGTERM', endsAt: clock.now() + left }, clock);
    return (sent[0] as { readonly budgetMs: number }).budgetMs;
  });
  assert.deepEqual(budgets, [18_500, 1_500, 0]);
});
