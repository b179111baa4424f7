import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deadline } from '../src/deadline.ts';
import { runStep } from '../src/step.ts';
import { FakeClock, settled } from './support/fake-clock.ts';

class StepUnderTest {
  readonly clock = new FakeClock();
  readonly by = new Deadline(this.clock, this.clock.now() + 1_000);
  readonly failures: unknown[] = [];
  hasEnded = false;

  run(step: () => unknown): void {
    const onFailure = (error: unknown): void => void this.failures.push(error);
    void runStep({ clock: this.clock, by: this.by, onFailure }, step).then(() => (this.hasEnded = true));
  }
}

test('the function of a shutdown step is called at once, and the step ends when the promise of this function resolves', async () => {
  const under = new StepUnderTest();
  const work = Promise.withResolvers<undefined>();
  let hasBegun = false;
  under.run(() => {
    hasBegun = true;
    return work.promise;
  });
  assert.equal(hasBegun, true);
  await settled();
  assert.equal(under.hasEnded, false);
  work.resolve(undefined);
  await settled();
  assert.deepEqual([under.hasEnded, under.failures], [true, []]);
});

test('P-023 the shutdown continues after a step that throws or rejects, and reports the failure', async () => {
  const error = new Error('broken');
  for (const step of [
    () => {
      throw error;
    },
    () => Promise.reject(error),
  ]) {
    const under = new StepUnderTest();
    under.run(step);
    await settled();
    assert.deepEqual([under.hasEnded, under.failures], [true, [error]]);
  }
});

test('P-023 if a step of the shutdown hangs, the shutdown stops waiting for it shortly after the deadline of the step, and leaves no active timer', async () => {
  const under = new StepUnderTest();
  under.run(() => new Promise(() => undefined));
  await under.clock.advance(1_049);
  assert.equal(under.hasEnded, false);
  await under.clock.advance(1);
  assert.equal(under.hasEnded, true);
  assert.deepEqual(under.failures.map(String), ['Error: had not ended at its deadline']);
  assert.equal(under.clock.pending.all, 0);
});

test('P-023 a step of the shutdown that is cut short by its deadline does not count as failed', async () => {
  const under = new StepUnderTest();
  under.run(() => under.by.reached.then(() => undefined));
  await under.clock.advance(1_000);
  assert.deepEqual([under.hasEnded, under.failures], [true, []]);
  assert.equal(under.clock.pending.all, 0);
});
