import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hooks } from '../../src/hooks/hooks.ts';
import type { HookKind } from '../../src/observer.ts';
import { FakeClock, settled } from '../support/fake-clock.ts';
import { RecordingObserver } from '../support/recording-observer.ts';

interface Fixture {
  readonly hooks: Hooks;
  readonly clock: FakeClock;
  readonly observer: RecordingObserver;
  /** What hooks have noted, in order. */
  readonly notes: string[];
}

function createHooks(): Fixture {
  const clock = new FakeClock();
  const observer = new RecordingObserver();
  return { hooks: new Hooks(clock, observer), clock, observer, notes: [] };
}

function hangs(): Promise<never> {
  return new Promise(() => undefined);
}

/** noting is a hook that notes its call and then does its work. */
function noting(notes: string[], note: string, work: () => unknown): () => unknown {
  return () => {
    notes.push(note);
    return work();
  };
}

const never = new AbortController().signal;
const kinds: readonly HookKind[] = ['post-start', 'pre-shutdown', 'destroy'];

function runAll(hooks: Hooks, kind: HookKind): Promise<void> {
  if (kind === 'post-start') return hooks.runPostStart(never, () => undefined);
  return kind === 'pre-shutdown' ? hooks.runPreShutdown('test', never) : hooks.runDestroy('test', 3_000, never);
}

for (const kind of kinds) {
  const add =
    (hooks: Hooks, name: unknown, hook: unknown): (() => void) =>
    () => {
      hooks.add(kind, name as string, hook as () => void, 1_000);
    };

  test(`A-040, A-055 a ${kind} hook needs a name that is free and a function`, () => {
    const { hooks } = createHooks();
    hooks.add(kind, 'pool', () => undefined, 1_000);
    assert.throws(
      add(hooks, 'pool', () => undefined),
      {
        code: 'LAMEDUCK_ERR_NAME_TAKEN',
        message: `unable to add ${kind} hook "pool": the name is taken`,
      },
    );
    assert.throws(
      add(hooks, '', () => undefined),
      { code: 'LAMEDUCK_ERR_NAME_INVALID' },
    );
    assert.throws(
      add(hooks, undefined, () => undefined),
      { code: 'LAMEDUCK_ERR_NAME_INVALID' },
    );
    assert.throws(add(hooks, 'other', undefined), { code: 'LAMEDUCK_ERR_FUNCTION_INVALID' });
  });

  test(`A-040, A-055, P-097 a ${kind} hook that comes when its kind has been called is refused`, async () => {
    const { hooks } = createHooks();
    void runAll(hooks, kind);
    assert.throws(
      add(hooks, 'late', () => undefined),
      {
        code: 'LAMEDUCK_ERR_REGISTERED_TOO_LATE',
        message: new RegExp(
          `^unable to add ${kind} hook "late": the ${kind} hooks have already been called; add it before `,
        ),
      },
    );
    const others = kinds.filter((other) => other !== kind);
    for (const other of others) hooks.add(other, 'in-time', () => undefined, 1_000);
    await settled();
  });
}

test('hooks of different kinds may share a name', () => {
  const { hooks } = createHooks();
  for (const kind of kinds) hooks.add(kind, 'pool', () => undefined, 1_000);
});

test('a hook that is taken back is not called, and its name is free', async () => {
  const { hooks, notes } = createHooks();
  hooks.remove(hooks.add('destroy', 'pool', () => notes.push('first'), 1_000));
  hooks.add('destroy', 'pool', () => notes.push('second'), 1_000);
  await hooks.runDestroy('test', 3_000, never);
  assert.deepEqual(notes, ['second']);
});

test('the longest limit is that of the pre-shutdown hooks alone, and 0 without one', () => {
  const { hooks } = createHooks();
  hooks.add('post-start', 'endless', hangs, Infinity);
  hooks.add('destroy', 'long', hangs, 60_000);
  assert.equal(hooks.longestPreShutdown, 0);
  hooks.add('pre-shutdown', 'a', hangs, 2_000);
  hooks.add('pre-shutdown', 'b', hangs, 1_000);
  assert.equal(hooks.longestPreShutdown, 2_000);
});

test('A-043 post-start hooks all start at once, and each is told done when it has ended or failed', async () => {
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

test('A-056, P-094, P-097 pre-shutdown hooks run beside each other', async () => {
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

test('A-059, P-095 a pre-shutdown hook that fails is recorded, observed, and keeps nothing from going on', async () => {
  const { hooks, notes, observer } = createHooks();
  hooks.add('pre-shutdown', 'bad', () => Promise.reject(new Error('no')), 1_000);
  hooks.add('pre-shutdown', 'good', () => notes.push('good'), 1_000);
  await hooks.runPreShutdown('test', never);
  assert.deepEqual(notes, ['good']);
  assert.deepEqual(hooks.failures, observer.hookFailures);
  assert.equal(hooks.failures[0]?.error.message, 'pre-shutdown hook "bad" failed: no');
});

test('a cut ends the time of all pre-shutdown hooks', async () => {
  const { hooks } = createHooks();
  const cut = new AbortController();
  for (const name of ['a', 'b']) hooks.add('pre-shutdown', name, hangs, 5_000);
  const run = hooks.runPreShutdown('test', cut.signal);
  cut.abort();
  await run;
  assert.equal(hooks.failures.length, 2);
});

test('P-097 destroy hooks run one after another, the last registered first', async () => {
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

test('A-018, P-095 every destroy hook is called, whether another throws, rejects or hangs', async () => {
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

test('destroy hooks share one limit, and those for which no time is left are still called', async () => {
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
  assert.ok(clock.now() - startedAt <= 2_020, 'later than the limit of all');
  assert.deepEqual(notes, ['at-once', 'asks-too-late']);
  assert.deepEqual(
    hooks.failures.map(({ name, error }) => `${name}: ${error.message}`),
    [
      'hangs: destroy hook "hangs" had not ended after 2s',
      'asks-too-late: destroy hook "asks-too-late" had not ended after 0s',
    ],
  );
});
