// Tests which hooks a program can register, and until when.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Hooks } from '../../src/hooks/hooks.ts';
import { settled } from '../support/fake-clock.ts';
import { createHooks, hangs, kinds, never, noting, runAll } from '../support/hooks-under-test.ts';

for (const kind of kinds) {
  const add =
    (hooks: Hooks, name: unknown, hook: unknown): (() => void) =>
    () => {
      hooks.add(kind, name as string, hook as () => void, 1_000);
    };

  test(`A-040, A-055 a ${kind} hook is rejected if its name is in use, or if it has no function`, () => {
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

  test(`A-040, A-055, P-097 a ${kind} hook is rejected if hooks of this kind have already been called`, async () => {
    const { hooks } = createHooks();
    void runAll(hooks, kind);
    assert.throws(
      add(hooks, 'late', () => undefined),
      {
        code: 'LAMEDUCK_ERR_REGISTERED_TOO_LATE',
        message: new RegExp(
          `^unable to add ${kind} hook "late": the ${kind} hooks have already been called; a ${kind} hook must be added before `,
        ),
      },
    );
    const others = kinds.filter((other) => other !== kind);
    for (const other of others) hooks.add(other, 'in-time', () => undefined, 1_000);
    await settled();
  });
}

for (const kind of kinds) {
  test(`P-097 a ${kind} hook fails if it registers another ${kind} hook, but it can register a hook of a kind that runs later`, async () => {
    const { hooks, notes } = createHooks();
    const later = kinds[kinds.indexOf(kind) + 1];
    const add = (): void => {
      if (later !== undefined) hooks.add(later, 'later', () => notes.push('later'), 1_000);
      hooks.add(kind, 'inner', () => notes.push('inner'), 1_000);
    };
    hooks.add(kind, 'outer', add, 1_000);
    await runAll(hooks, kind);
    assert.deepEqual(
      hooks.failures.map(({ error }) => (error.cause as { code?: string }).code),
      ['LAMEDUCK_ERR_REGISTERED_TOO_LATE'],
    );
    if (later !== undefined) await runAll(hooks, later);
    assert.deepEqual(notes, later === undefined ? [] : ['later']);
  });

  test(`a hundred ${kind} hooks cause no warning about too many listeners`, async () => {
    const { hooks, clock, notes } = createHooks();
    for (let index = 0; index < 100; index++) {
      hooks.add(
        kind,
        `hook-${String(index)}`,
        noting(notes, String(index), () => undefined),
        1_000,
      );
    }
    // If Node prints a warning while the 100 hooks of this test run, this test file fails.
    await clock.advanceUntil('their end', runAll(hooks, kind));
    assert.equal(notes.length, 100);
    assert.equal(clock.pending.all, 0);
  });
}

test('hooks of different kinds, such as pre-shutdown and destroy, may share a name', () => {
  const { hooks } = createHooks();
  for (const kind of kinds) hooks.add(kind, 'pool', () => undefined, 1_000);
});

test('a hook that was removed is not called, and another hook may then use its name', async () => {
  const { hooks, notes } = createHooks();
  hooks.remove(hooks.add('destroy', 'pool', () => notes.push('first'), 1_000));
  hooks.add('destroy', 'pool', () => notes.push('second'), 1_000);
  await hooks.runDestroy('test', 3_000, never);
  assert.deepEqual(notes, ['second']);
});

test('the longest pre-shutdown hook timeout ignores hooks of other kinds, and is 0 without pre-shutdown hooks', () => {
  const { hooks } = createHooks();
  hooks.add('post-start', 'endless', hangs, Infinity);
  hooks.add('destroy', 'long', hangs, 60_000);
  assert.equal(hooks.longestPreShutdown, 0);
  hooks.add('pre-shutdown', 'a', hangs, 2_000);
  hooks.add('pre-shutdown', 'b', hangs, 1_000);
  assert.equal(hooks.longestPreShutdown, 2_000);
});
