// Tests the reason with which the AbortSignal of a hook is aborted.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hangs } from '../support/hooks-under-test.ts';
import { createUnderTest, recordOf } from '../support/lifecycle-under-test.ts';

test('A-045, P-098 the AbortSignal of a finished post-start hook is aborted with AbortError, and that of a timed-out pre-shutdown hook with the timeout error', async () => {
  const parts = createUnderTest({ preShutdownHookTimeout: '1s' });
  const { handle, clock } = parts;
  const signals: Record<string, AbortSignal> = {};
  handle.addPostStartHook('poller', ({ signal }) => {
    signals['post-start'] = signal;
  });
  handle.addPreShutdownHook('hangs', ({ signal }) => {
    signals['pre-shutdown'] = signal;
    return hangs();
  });
  handle.addDestroyHook('ends', ({ signal }) => {
    signals['destroy'] = signal;
  });
  parts.startup.begin();
  await clock.advanceUntil('HasBeenReady', handle.signals.hasBeenReady.signaled);
  void handle.shutdown('test');
  await recordOf(parts);
  assert.equal((signals['post-start']?.reason as Error).name, 'AbortError');
  assert.equal((signals['pre-shutdown']?.reason as { code: string }).code, 'LAMEDUCK_ERR_HOOK_TIMED_OUT');
  assert.equal(signals['destroy']?.aborted, false);
});

test('P-098 pre-shutdown and destroy hooks receive their time limit, and a post-start hook receives Infinity because it has no time limit', async () => {
  const parts = createUnderTest({ destroyHookTimeout: '2s' });
  const { handle, clock } = parts;
  const limits: Record<string, unknown> = {};
  handle.addPostStartHook('a', ({ limit, reason }) => {
    limits['post-start'] = [limit, reason];
  });
  handle.addPreShutdownHook(
    'b',
    ({ limit, reason }) => {
      limits['pre-shutdown'] = [limit, reason];
    },
    { timeout: '1s500ms' },
  );
  handle.addDestroyHook('c', ({ limit, reason }) => {
    limits['destroy'] = [limit, reason];
  });
  parts.startup.begin();
  await clock.advanceUntil('HasBeenReady', handle.signals.hasBeenReady.signaled);
  void handle.shutdown('leaving');
  await recordOf(parts);
  assert.deepEqual(limits, {
    'post-start': [Infinity, undefined],
    'pre-shutdown': [1_500, 'leaving'],
    destroy: [2_000, 'leaving'],
  });
});
