import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from '../../src/health/endpoint.ts';
import { Health } from '../../src/health/health.ts';
import { createLifecycle, type Lifecycle } from '../../src/lifecycle/signals.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { RecordingObserver } from '../support/recording-observer.ts';

interface Fixture {
  readonly health: Health;
  readonly lifecycle: Lifecycle;
  readonly ask: (url: string) => Answer;
}

function createHealth(): Fixture {
  const lifecycle = createLifecycle(false);
  const health = new Health(lifecycle.signals, {
    clock: new FakeClock(),
    checkTimeout: 900,
    observer: new RecordingObserver(),
  });
  return {
    health,
    lifecycle,
    ask(url) {
      const answer = health.answer(url);
      assert.ok(answer !== undefined && !(answer instanceof Promise), url);
      return answer;
    },
  };
}

test('A-072 ping is a check of each endpoint, and shutdown is the last check of /readyz alone', () => {
  const { health, ask } = createHealth();
  health.readyz.add('database', () => true);
  health.close();
  assert.equal(ask('/readyz?verbose').body, '[+]ping ok\n[+]database ok\n[+]shutdown ok\nreadyz check passed\n');
  assert.equal(ask('/livez?verbose').body, '[+]ping ok\nlivez check passed\n');
  assert.equal(ask('/healthz?verbose').body, '[+]ping ok\nhealthz check passed\n');
});

test('A-003 readyz fails as soon as ShutdownInitiated is signaled, and livez and healthz stay green', () => {
  const { health, lifecycle, ask } = createHealth();
  health.close();
  assert.equal(ask('/readyz').status, 200);
  lifecycle.report('ShutdownInitiated');
  assert.deepEqual(
    [ask('/readyz').status, ask('/readyz').body],
    [500, '[+]ping ok\n[-]shutdown failed: reason withheld\nreadyz check failed\n'],
  );
  assert.equal(ask('/livez').body, 'ok');
  assert.equal(ask('/healthz').body, 'ok');
});

test('A-097 /readyz/shutdown fails during the shutdown, with the reason withheld', () => {
  const { health, lifecycle, ask } = createHealth();
  health.close();
  assert.equal(ask('/readyz/shutdown').body, 'ok');
  lifecycle.report('ShutdownInitiated');
  assert.equal(ask('/readyz/shutdown').status, 500);
  assert.equal(ask('/readyz/shutdown').body, 'internal server error: reason withheld\n');
});

test('P-091 a check can turn readyz red and green again before the shutdown, and not green after it', () => {
  const { health, lifecycle, ask } = createHealth();
  let isOverloaded = false;
  health.readyz.add('load', () => !isOverloaded);
  health.close();
  isOverloaded = true;
  assert.equal(ask('/readyz').status, 500);
  isOverloaded = false;
  assert.equal(ask('/readyz').status, 200);
  lifecycle.report('ShutdownInitiated');
  assert.equal(ask('/readyz').status, 500);
});

test('A-074 all three endpoints are closed to new checks once they are installed', () => {
  const { health } = createHealth();
  health.close();
  for (const endpoint of [health.readyz, health.livez, health.healthz]) {
    assert.throws(
      () => {
        endpoint.add('late', () => true);
      },
      { code: 'LAMEDUCK_ERR_REGISTERED_TOO_LATE' },
    );
  }
});

test('the name of the shutdown check is taken from the start', () => {
  const { health } = createHealth();
  assert.throws(
    () => {
      health.readyz.add('shutdown', () => true);
    },
    { code: 'LAMEDUCK_ERR_NAME_TAKEN' },
  );
  health.close();
});

for (const url of ['/readyz', '/readyz/', '/readyz?', '/readyz?a=1', '/readyz/?a=/x', '/READYZ', '/Readyz/?verbose=']) {
  test(`P-080, A-070 ${url} asks the whole endpoint`, () => {
    const { health, ask } = createHealth();
    health.close();
    assert.equal(ask(url).status, 200);
    assert.match(ask(url).body, /^ok$|check passed\n$/);
  });
}

test('A-070 the path of one check is found behind that of its endpoint, in any case of letters of the endpoint', () => {
  const { health, ask } = createHealth();
  health.livez.add('a/b', () => true);
  assert.equal(ask('/livez/a/b').body, 'ok');
  assert.equal(ask('/LIVEZ/a/b?x').body, 'ok');
  assert.equal(ask('/livez/nothing').status, 404);
});

const noProbes = [
  '',
  '/',
  '*',
  '/r',
  '/readyzz',
  '/readyz2/ping',
  '//readyz',
  '/api/readyz',
  '/health',
  'http://h/readyz',
];

test('any other URL is no probe and belongs to the program', () => {
  const { health } = createHealth();
  for (const url of noProbes) assert.equal(health.answer(url), undefined, url);
});

test('P-084 a failing check of one endpoint does not show in another', () => {
  const { health, ask } = createHealth();
  health.readyz.add('database', () => false);
  assert.equal(ask('/readyz').status, 500);
  assert.equal(ask('/livez?verbose').body, '[+]ping ok\nlivez check passed\n');
});
