// Tests the order in which the hooks of each kind run, and what the failure of one hook means for the others.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settled } from '../support/fake-clock.ts';
import { createHooks, hangs, never, noting } from '../support/hooks-under-test.ts';

test('A-043 all post-start hooks start at the same time, and each is reported when it has ended or failed', async () => {
  const { hooks, notes, observer } = createHooks();
  const slow = Promise.withResolvers<undefined>();
  hooks.add(
    'post-start',
    'slow',
    noting(notes, 'slow starts', () => slow.promise),
    Infinity,
  );
  hooks.add('post-start', 'fails', () => Promise.reject(new Error('no cache')), Infinity);
  hooks.add('post-start', 'quick', () => notes.push('quick starts'), Infinity);
  const all = hooks.runPostStart(never, (name, failure) => notes.push(`${name} ${failure?.error.message ?? 'ended'}`));
  await settled();
  assert.deepEqual(notes.slice(0, 2), ['slow starts', 'quick starts']);
  assert.deepEqual(notes.slice(2).sort(), ['fails post-start hook "fails" failed: no cache', 'quick ended']);
  slow.resolve(undefined);
  await all;
  assert.equal(notes.at(-1), 'slow ended');
  assert.deepEqual(
    observer.hookFailures.map(({ name }) => name),
    ['fails'],
  );
});

test('A-248 post-start hooks that take too long cause one warning with their names, and do not keep the process alive', async () => {
  const { hooks, clock, observer } = createHooks();
  const late = Promise.withResolvers<undefined>();
  hooks.add('post-start', 'poll', hangs, Infinity);
  hooks.add('post-start', 'late', () => late.promise, Infinity);
  hooks.add('post-start', 'quick', () => undefined, Infinity);
  hooks.add('post-start', 'fails', () => Promise.reject(new Error('no')), Infinity);
  void hooks.runPostStart(never, () => undefined);
  await clock.advance(29_999);
  assert.deepEqual(observer.warnings, []);
  assert.equal(clock.pending.holding, 0);
  await clock.advance(1);
  late.resolve(undefined);
  await clock.advance(3_600_000);
  assert.deepEqual(observer.warnings, [
    'post-start hooks have not ended after 30s: "poll", "late"; /readyz fails until these hooks have' +
      ' ended. A hook that starts background work must return without waiting for that work',
  ]);
  assert.equal(clock.pending.all, 0);
});

test('A-248 the warning about slow post-start hooks is not logged if all post-start hooks end, or the shutdown begins, before the warning is due', async () => {
  for (const end of ['work', 'stop']) {
    const { hooks, clock, observer } = createHooks();
    const work = Promise.withResolvers<undefined>();
    const stop = new AbortController();
    hooks.add('post-start', 'warm-up', () => work.promise, Infinity);
    void hooks.runPostStart(stop.signal, () => undefined);
    await clock.advance(20_000);
    if (end === 'work') work.resolve(undefined);
    else stop.abort();
    await settled();
    assert.equal(clock.pending.all, 0, end);
    await clock.advance(60_000);
    assert.deepEqual(observer.warnings, []);
  }
});

test('A-056, P-094, P-097 pre-shutdown hooks run in parallel', async () => {
  const { hooks, clock, notes } = createHooks();
  for (const name of ['a', 'b']) {
    hooks.add(
      'pre-shutdown',
      name,
      ({ reason }) => {
        notes.push(`${name} ${String(reason)}`);
        return hangs();
      },
      5_000,
    );
  }
  let isOver = false;
  void hooks.runPreShutdown('SIGTERM', never).then(() => (isOver = true));
  await settled();
  assert.deepEqual(notes, ['a SIGTERM', 'b SIGTERM']);
  await clock.advance(4_999);
  assert.equal(isOver, false);
  await clock.advance(1);
  assert.equal(isOver, true);
});

test('A-059, P-095 if a pre-shutdown hook fails, the failure is recorded and reported to the observer, and the other hook still runs', async () => {
  const { hooks, notes, observer } = createHooks();
  hooks.add('pre-shutdown', 'bad', () => Promise.reject(new Error('no')), 1_000);
  hooks.add('pre-shutdown', 'good', () => notes.push('good'), 1_000);
  await hooks.runPreShutdown('test', never);
  assert.deepEqual(notes, ['good']);
  assert.deepEqual(hooks.failures, observer.hookFailures);
  assert.equal(hooks.failures[0]?.error.message, 'pre-shutdown hook "bad" failed: no');
});

test('if the deadline of the drain is reached while pre-shutdown hooks are running, the shutdown stops waiting for them and counts them as failed', async () => {
  const { hooks } = createHooks();
  const cut = new AbortController();
  for (const name of ['a', 'b']) hooks.add('pre-shutdown', name, hangs, 5_000);
  const run = hooks.runPreShutdown('test', cut.signal);
  cut.abort();
  await run;
  assert.equal(hooks.failures.length, 2);
});

test('A-058 every pre-shutdown hook runs even if another pre-shutdown hook throws, rejects or does not end, and each failure is recorded with the name of its hook', async () => {
  const { hooks, clock, notes } = createHooks();
  hooks.add('pre-shutdown', 'throws', noting(notes, 'throws', thrower), 1_000);
  hooks.add('pre-shutdown', 'hangs', noting(notes, 'hangs', hangs), 1_000);
  hooks.add(
    'pre-shutdown',
    'rejects',
    noting(notes, 'rejects', () => Promise.reject(new Error('no'))),
    1_000,
  );
  hooks.add(
    'pre-shutdown',
    'ends',
    noting(notes, 'ends', () => undefined),
    1_000,
  );
  await clock.advanceUntil('the end of the pre-shutdown hooks', hooks.runPreShutdown('test', never));
  assert.deepEqual(notes, ['throws', 'hangs', 'rejects', 'ends']);
  assert.deepEqual(hooks.failures.map(({ name }) => name).sort(), ['hangs', 'rejects', 'throws']);
});

function thrower(): never {
  throw new Error('no');
}

test('P-097 destroy hooks run one after another, in reverse order of registration', async () => {
  const { hooks, notes } = createHooks();
  for (const name of ['first', 'second', 'third']) {
    const run = async ({ reason }: { reason: string | undefined }): Promise<void> => {
      notes.push(`${name} begins for ${String(reason)}`);
      await settled();
      notes.push(`${name} ends`);
    };
    hooks.add('destroy', name, run, 3_000);
  }
  await hooks.runDestroy('SIGTERM', 3_000, never);
  assert.deepEqual(
    notes,
    ['third', 'second', 'first'].flatMap((name) => [`${name} begins for SIGTERM`, `${name} ends`]),
  );
});

test('A-018, P-095 every destroy hook is called even if another destroy hook throws, rejects or does not end', async () => {
  const { hooks, clock, notes } = createHooks();
  hooks.add('destroy', 'last', () => notes.push('last'), 3_000);
  hooks.add(
    'destroy',
    'hangs',
    noting(notes, 'hangs', () => hangs()),
    1_000,
  );
  hooks.add(
    'destroy',
    'rejects',
    noting(notes, 'rejects', () => Promise.reject(new Error('no'))),
    3_000,
  );
  const throwing = (): never => {
    notes.push('throws');
    throw new Error('no');
  };
  hooks.add('destroy', 'throws', throwing, 3_000);
  await clock.advanceUntil('the end of the destroy hooks', hooks.runDestroy('test', 3_000, never), 1_100);
  assert.deepEqual(notes, ['throws', 'rejects', 'hangs', 'last']);
  assert.deepEqual(
    hooks.failures.map(({ name }) => name),
    ['throws', 'rejects', 'hangs'],
  );
});

test('destroy hooks share one time limit, and a hook whose turn comes only after this limit is still called', async () => {
  const { hooks, clock, notes } = createHooks();
  hooks.add(
    'destroy',
    'asks-too-late',
    noting(notes, 'asks-too-late', () => hangs()),
    3_000,
  );
  hooks.add('destroy', 'at-once', () => notes.push('at-once'), 3_000);
  hooks.add('destroy', 'hangs', hangs, 60_000);
  const startedAt = clock.now();
  await clock.advanceUntil('the end of the destroy hooks', hooks.runDestroy('test', 2_000, never));
  assert.ok(
    clock.now() - startedAt <= 2_020,
    'the hook must still be called after the time limit of all destroy hooks',
  );
  assert.deepEqual(notes, ['at-once', 'asks-too-late']);
  assert.deepEqual(
    hooks.failures.map(({ name, error }) => `${name}: ${error.message}`),
    [
      'hangs: destroy hook "hangs" had not ended after 2s',
      'asks-too-late: destroy hook "asks-too-late" had not ended after 0s',
    ],
  );
});
