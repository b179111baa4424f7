import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settled } from '../support/fake-clock.ts';
import { HealthUnderTest } from '../support/health-under-test.ts';

const minute = 60_000;

interface Flushes {
  readonly under: HealthUnderTest;
  readonly count: () => number;
  readonly how: { answer: () => unknown };
}

function withLog(answer: () => unknown): Flushes {
  let flushes = 0;
  const how = { answer };
  const under = new HealthUnderTest({
    flushLog() {
      flushes++;
      return how.answer();
    },
  });
  return { under, how, count: () => flushes };
}

test('A-072, A-077 each endpoint lists the check "log" after the check "ping", and all endpoints share one instance of the check "log"', () => {
  const { under, count } = withLog(() => undefined);
  for (const endpoint of ['readyz', 'livez', 'healthz']) {
    assert.match(under.bodyOf(`/${endpoint}?verbose`), /^\[\+\]ping ok\n\[\+\]log ok\n/);
    assert.equal(under.bodyOf(`/${endpoint}/log`), 'ok');
  }
  assert.equal(count(), 1);
});

test('A-077 the log is flushed at the first run of the check "log" and every minute after that, and not before', async () => {
  const { under, count } = withLog(() => undefined);
  await under.clock.advance(10 * minute);
  assert.equal(count(), 0);
  under.ask('/livez');
  assert.equal(count(), 1);
  await under.clock.advance(minute - 1);
  assert.equal(count(), 1);
  await under.clock.advance(1);
  assert.equal(count(), 2);
  await under.clock.advance(10 * minute);
  assert.equal(count(), 12);
  assert.equal(under.statusOf('/livez'), 200);
});

const blocked: Readonly<Record<string, () => unknown>> = {
  'that throws': () => {
    throw new Error('blocked');
  },
  'that rejects': () => Promise.reject(new Error('blocked')),
  'that hangs': () => new Promise(() => undefined),
};

for (const [what, answer] of Object.entries(blocked)) {
  test(`A-077 after the log gets a flush function ${what}, the check "log" passes for two minutes after the last completed flush, and then fails`, async () => {
    const { under, how } = withLog(() => undefined);
    under.ask('/livez');
    await under.clock.advance(5 * minute);
    how.answer = answer;
    await under.clock.advance(2 * minute - 1);
    assert.equal(under.bodyOf('/livez'), 'ok');
    await under.clock.advance(1);
    assert.equal(under.bodyOf('/livez'), '[+]ping ok\n[-]log failed: reason withheld\nlivez check failed\n');
    assert.equal(under.statusOf('/readyz/log'), 500);
    assert.deepEqual(under.observer.checkChanges.slice(0, 1), ['livez log: check "log" failed: logging blocked']);
  });

  test(`A-077 with a flush function ${what} from the start, the check "log" passes for two minutes after its first run, and then fails`, async () => {
    const { under } = withLog(answer);
    await under.clock.advance(10 * minute);
    assert.equal(under.statusOf('/livez'), 200);
    await under.clock.advance(2 * minute - 1);
    assert.equal(under.statusOf('/livez'), 200);
    await under.clock.advance(1);
    assert.equal(under.statusOf('/livez'), 500);
  });
}

test('A-077 while a slow flush of the log is running, the check "log" waits for it and starts no other flush', async () => {
  const { under, how, count } = withLog(() => undefined);
  under.ask('/livez');
  const slow = Promise.withResolvers<undefined>();
  how.answer = () => slow.promise;
  await under.clock.advance(10 * minute);
  assert.equal(count(), 2);
  assert.equal(under.statusOf('/livez'), 500);
  assert.equal(count(), 2);
  slow.resolve(undefined);
  await settled();
  assert.equal(under.statusOf('/livez'), 200);
  await under.clock.advance(minute);
  assert.equal(count(), 3);
});

test('A-077 the check "log" passes at the next probe after the log is writable again', async () => {
  const { under, how } = withLog(() => {
    throw new Error('blocked');
  });
  under.ask('/livez');
  await under.clock.advance(3 * minute + 1);
  assert.equal(under.statusOf('/livez'), 500);
  how.answer = () => undefined;
  assert.equal(under.statusOf('/livez'), 200);
});

test('a process that was suspended for more than two minutes does not fail the check "log" because of that', async () => {
  const { under } = withLog(() => undefined);
  under.ask('/livez');
  const now = under.clock.now.bind(under.clock);
  under.clock.now = () => now() + 60 * minute;
  assert.equal(
    under.statusOf('/livez'),
    200,
    'the probe must arrive before the timer for the next flush of the log runs',
  );
});

test('A-077 the check "log" always passes and has no timer if the logger has no flush function', async () => {
  const under = new HealthUnderTest({ flushLog: undefined });
  for (let probe = 0; probe < 3; probe++) {
    assert.equal(under.statusOf('/livez'), 200);
    await under.clock.advance(10 * minute);
  }
  assert.equal(under.clock.pending.all, 0);
});

test('P-073 the timer that flushes the log does not keep the process alive, and is cancelled when the lifecycle ends', async () => {
  const { under, count } = withLog(() => undefined);
  under.ask('/livez');
  assert.deepEqual(under.clock.pending, { all: 1, holding: 0 });
  under.health.stop();
  assert.equal(under.clock.pending.all, 0);
  await under.clock.advance(10 * minute);
  assert.equal(under.statusOf('/livez'), 200);
  assert.equal(count(), 1);
});

test('P-073 if a flush of the log is still running when the lifecycle ends, no timer for a further flush is started', async () => {
  const slow = Promise.withResolvers<undefined>();
  const { under } = withLog(() => slow.promise);
  under.ask('/livez');
  under.health.stop();
  slow.resolve(undefined);
  await settled();
  assert.equal(under.clock.pending.all, 0);
});

test('if the result of a flush of the log resolves twice, only one timer for the next flush is started', async () => {
  const { under } = withLog(() => ({
    then(resolve: () => void) {
      resolve();
      resolve();
    },
  }));
  under.ask('/livez');
  assert.equal(under.clock.pending.all, 1);
});
