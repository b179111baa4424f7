// Tests from which time on /readyz, /livez and /healthz contain the check of a post-start hook: at once, after
// livezGracePeriod, or never.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HealthUnderTest } from '../support/health-under-test.ts';

test('A-042 the check of a post-start hook is on /readyz and /healthz from the start, and on /livez only if livezGracePeriod is set', async () => {
  const under = new HealthUnderTest({ livezGracePeriod: 0 });
  let isFinished = false;
  under.health.addPostStartHook('warm-up', () => isFinished);
  await under.clock.advance(3_600_000);
  assert.equal(
    under.bodyOf('/readyz'),
    '[+]ping ok\n[+]log ok\n[-]poststarthook/warm-up failed: reason withheld\n[+]shutdown ok\nreadyz check failed\n',
  );
  assert.equal(
    under.bodyOf('/healthz'),
    '[+]ping ok\n[+]log ok\n[-]poststarthook/warm-up failed: reason withheld\nhealthz check failed\n',
  );
  assert.equal(under.bodyOf('/livez?verbose'), '[+]ping ok\n[+]log ok\nlivez check passed\n');
  assert.equal(under.statusOf('/livez/poststarthook/warm-up'), 404);
  isFinished = true;
  for (const url of ['/readyz', '/healthz']) assert.equal(under.statusOf(url), 200);
});

test('A-043 the check of a post-start hook fails until the hook has ended, but the observer of the lifecycle gets no event about a changed check', () => {
  const under = new HealthUnderTest();
  let isFinished = false;
  under.health.addPostStartHook('warm-up', () => isFinished);
  assert.equal(under.statusOf('/readyz'), 500);
  isFinished = true;
  assert.equal(under.statusOf('/readyz'), 200);
  assert.deepEqual(under.observer.checkChanges, []);
});

test('A-075, P-087 during livezGracePeriod, /livez passes without running the check of a post-start hook; a millisecond after livezGracePeriod, /livez runs this check and fails if the hook has not ended', async () => {
  const under = new HealthUnderTest({ livezGracePeriod: 10_000 });
  let runs = 0;
  let isFinished = false;
  await under.clock.advance(1_234);
  under.health.addPostStartHook('warm-up', () => {
    runs++;
    return isFinished;
  });
  const verbose = '[+]ping ok\n[+]log ok\n[+]poststarthook/warm-up ok\nlivez check passed\n';
  for (const step of [0, 9_999, 1]) {
    await under.clock.advance(step);
    assert.equal(under.bodyOf('/livez?verbose'), verbose);
    assert.equal(under.bodyOf('/livez/poststarthook/warm-up'), 'ok');
  }
  assert.equal(runs, 0);
  assert.equal(under.statusOf('/healthz'), 500, 'the livez grace period must not apply to /healthz');
  assert.equal(runs, 1);

  await under.clock.advance(1);
  assert.equal(
    under.bodyOf('/livez'),
    '[+]ping ok\n[+]log ok\n[-]poststarthook/warm-up failed: reason withheld\nlivez check failed\n',
  );
  assert.equal(under.statusOf('/livez/poststarthook/warm-up'), 500);
  isFinished = true;
  assert.equal(under.bodyOf('/livez?verbose'), verbose);
  assert.equal(under.bodyOf('/livez/poststarthook/warm-up'), 'ok');
});

test('A-075 a post-start hook that finishes within livezGracePeriod never makes /livez fail', async () => {
  const under = new HealthUnderTest({ livezGracePeriod: 10_000 });
  let isFinished = false;
  under.health.addPostStartHook('warm-up', () => isFinished);
  for (let second = 0; second < 20; second++) {
    assert.equal(under.statusOf('/livez'), 200);
    if (second === 3) isFinished = true;
    await under.clock.advance(1_000);
  }
  assert.deepEqual(
    under.observer.checkChanges.filter((change) => change.startsWith('livez')),
    [],
  );
});

test('A-075 the livezGracePeriod of a post-start hook begins when the hook is registered', async () => {
  const under = new HealthUnderTest({ livezGracePeriod: 10_000 });
  under.health.addPostStartHook('first', () => false);
  await under.clock.advance(6_000);
  under.health.addPostStartHook('second', () => false);
  await under.clock.advance(4_001);
  assert.match(under.bodyOf('/livez'), /\[-\]poststarthook\/first failed.*\n\[\+\]poststarthook\/second ok\n/);
  await under.clock.advance(6_000);
  assert.match(under.bodyOf('/livez'), /\[-\]poststarthook\/second failed/);
});

test('A-181 during livezGracePeriod, the metrics of /livez do not count the check of a post-start hook', async () => {
  const under = new HealthUnderTest({ livezGracePeriod: 10_000 });
  under.health.addPostStartHook('warm-up', () => false);
  under.ask('/livez');
  assert.deepEqual(under.observer.checkResults.splice(0), ['livez ping: passed', 'livez log: passed']);
  await under.clock.advance(10_001);
  under.ask('/livez');
  assert.deepEqual(under.observer.checkResults, [
    'livez ping: passed',
    'livez log: passed',
    'livez poststarthook/warm-up: failed',
  ]);
});

test("P-087 livezGracePeriod does not apply to the program's own livez checks", () => {
  const under = new HealthUnderTest({ livezGracePeriod: 10_000 });
  under.health.addLivez('worker', () => false);
  assert.equal(under.statusOf('/livez'), 500);
});
