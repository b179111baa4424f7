import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Check } from '../../src/health/check.ts';
import { Endpoint } from '../../src/health/endpoint.ts';
import { reasons } from '../../src/health/readyz.ts';
import { fails, hangs, HealthUnderTest, passes } from '../support/health-under-test.ts';

const headers = {
  'Content-Type': 'text/plain; charset=utf-8',
  'Cache-Control': 'no-cache, private, no-store',
  'X-Content-Type-Options': 'nosniff',
};

test('A-085 an endpoint whose checks pass responds with status 200 and the body ok, without a newline', () => {
  for (const url of ['/readyz', '/livez', '/healthz']) {
    assert.deepEqual(new HealthUnderTest().ask(url), { status: 200, headers, body: 'ok' });
  }
});

test('/readyz has the check worker-threads only while a worker thread with a server exists', () => {
  const under = new HealthUnderTest();
  let isPresent = false;
  const ready = (): Promise<void> => Promise.reject(new Error('not ready'));
  under.health.addOwnReadyz(reasons.threads({ isPresent: () => isPresent, ready }));
  assert.equal(under.statusOf('/readyz'), 200);
  assert.equal(under.statusOf('/readyz/worker-threads'), 404);
  isPresent = true;
  assert.ok(under.health.answer('/readyz') instanceof Promise);
  assert.throws(() => {
    under.health.addReadyz('worker-threads', passes);
  }, /the name is taken/);
});

test('P-086 all probe responses have Cache-Control: no-store; all except the response `ok` to a probe of a single check also have X-Content-Type-Options', () => {
  const under = new HealthUnderTest();
  under.health.addLivez('bad', fails);
  for (const url of ['/livez', '/livez/ping', '/livez/bad', '/livez/nothing']) {
    const { 'X-Content-Type-Options': sniffing, ...others } = headers;
    assert.deepEqual(
      under.ask(url).headers,
      url === '/livez/ping' ? others : { ...others, 'X-Content-Type-Options': sniffing },
    );
  }
});

test('A-086 the parameter verbose lists all checks by name, whatever its value', () => {
  const under = new HealthUnderTest();
  under.health.addLivez('worker', passes);
  for (const query of ['verbose', 'verbose=true', 'verbose=false', 'verbose=', 'a=1&verbose']) {
    const { status, body } = under.ask(`/healthz?${query}`);
    assert.deepEqual([status, body], [200, '[+]ping ok\n[+]log ok\n[+]worker ok\nhealthz check passed\n'], query);
  }
  for (const query of ['Verbose', 'verbos', 'x=verbose']) assert.equal(under.bodyOf(`/healthz?${query}`), 'ok', query);
});

test('A-087, A-088, A-092 a failing endpoint responds with 500 and every check in the order of registration, without reasons', () => {
  const under = new HealthUnderTest();
  under.health.addLivez('bad', fails);
  under.health.addLivez('good', passes);
  const answer = under.ask('/livez');
  assert.deepEqual(answer, {
    status: 500,
    headers,
    body: '[+]ping ok\n[+]log ok\n[-]bad failed: reason withheld\n[+]good ok\nlivez check failed\n',
  });
  assert.deepEqual(under.ask('/livez?verbose'), answer);
  assert.deepEqual(under.ask('/LiveZ/'), answer, 'the last line must have the name of the endpoint, not of the URL');
});

test('A-088, A-089 an excluded check is not run and is listed as excluded', () => {
  const under = new HealthUnderTest();
  let runs = 0;
  under.health.addReadyz('slow', () => runs++);
  under.health.addReadyz('bad', fails);
  assert.equal(under.bodyOf('/readyz?exclude=bad&exclude=slow'), 'ok');
  assert.equal(
    under.bodyOf('/readyz?exclude=bad&exclude=slow&verbose'),
    '[+]ping ok\n[+]log ok\n[+]slow excluded: ok\n[+]bad excluded: ok\n[+]shutdown ok\nreadyz check passed\n',
  );
  assert.equal(runs, 0);
  assert.equal(under.statusOf('/readyz?exclude=slow'), 500);
  assert.equal(under.statusOf('/readyz?exclude=slow,bad'), 500, 'commas must not separate names');
});

test('A-090 a probe with exclude=shutdown passes during the shutdown, because the parameter excludes the check `shutdown`', () => {
  const under = new HealthUnderTest();
  under.lifecycle.report('ShutdownInitiated');
  assert.equal(under.statusOf('/readyz'), 500);
  assert.equal(
    under.bodyOf('/readyz?exclude=shutdown&verbose'),
    '[+]ping ok\n[+]log ok\n[+]shutdown excluded: ok\nreadyz check passed\n',
  );
  assert.equal(under.statusOf('/readyz?exclude=shutdown'), 200);
});

test("A-070 each check has its own path, and slashes in the check's name are slashes in the path", () => {
  const under = new HealthUnderTest();
  let runs = 0;
  under.health.addReadyz('cache/warm', () => runs++);
  under.health.addReadyz('bad', fails);
  assert.equal(under.bodyOf('/readyz/cache/warm'), 'ok');
  assert.equal(runs, 1, 'only the check that the path names may run');
  assert.equal(under.statusOf('/readyz/warm'), 404);
  assert.equal(under.statusOf('/readyz/ping/'), 404);
});

test('A-095 a probe of a single check gets 200 and ok if the check passes, and otherwise 500 without the reason', () => {
  const under = new HealthUnderTest();
  under.health.addReadyz('bad', fails);
  const { status, body } = under.ask('/readyz/bad?verbose');
  assert.deepEqual([status, body], [500, 'internal server error: reason withheld\n']);
  assert.deepEqual([under.statusOf('/readyz/ping'), under.bodyOf('/readyz/ping')], [200, 'ok']);
});

test('A-096 a probe of a single check, such as /readyz/NAME, ignores the query parameters verbose and exclude, and its result is not counted in the metrics', () => {
  const under = new HealthUnderTest();
  let runs = 0;
  under.health.addReadyz('counted', () => runs++);
  assert.equal(under.bodyOf('/readyz/counted?exclude=counted&verbose'), 'ok');
  assert.equal(runs, 1);
  assert.deepEqual(under.observer.checkResults, []);
});

test('a probe of a health check that does not exist gets a 404 response', () => {
  const under = new HealthUnderTest();
  for (const url of ['/readyz/nothing', '/readyz//', '/readyz//ping', '/livez/shutdown', '/readyz/__proto__']) {
    assert.deepEqual(under.ask(url), { status: 404, headers, body: '404 page not found\n' }, url);
  }
});

test('P-081 health checks that hang fail together at their time limit, and the other health checks of the endpoint report their results', async () => {
  const under = new HealthUnderTest();
  under.health.addReadyz('hangs', hangs);
  under.health.addReadyz('hangs-too', hangs);
  under.health.addReadyz('good', async () => true);
  const answer = under.probe('/readyz');
  await under.clock.advance(900);
  assert.equal(
    (await answer).body,
    '[+]ping ok\n[+]log ok\n[-]hangs failed: reason withheld\n[-]hangs-too failed: reason withheld\n[+]good ok\n[+]shutdown ok\nreadyz check failed\n',
  );
  assert.equal(under.clock.pending.all, 0);
});

test('an asynchronous health check has a probe path of its own, as a synchronous health check has', async () => {
  const under = new HealthUnderTest();
  under.health.addReadyz('good', async () => true);
  under.health.addReadyz('bad', async () => false);
  assert.equal((await under.probe('/readyz/good')).status, 200);
  assert.equal((await under.probe('/readyz/bad')).status, 500);
});

test('P-082 a hundred simultaneous probes, of /readyz and of a single readyz check, share one run of each check', async () => {
  const under = new HealthUnderTest();
  const runs = { slow: 0, slower: 0 };
  const gate = Promise.withResolvers<boolean>();
  under.health.addReadyz('slow', async () => {
    runs.slow++;
    return gate.promise;
  });
  under.health.addReadyz('slower', async () => {
    runs.slower++;
    return gate.promise;
  });
  const whole = Array.from({ length: 50 }, async () => under.probe('/readyz'));
  const verbose = Array.from({ length: 25 }, async () => under.probe('/readyz?verbose'));
  const single = Array.from({ length: 25 }, async () => under.probe('/readyz/slow'));
  assert.deepEqual(runs, { slow: 1, slower: 1 });
  gate.resolve(true);
  for (const answer of await Promise.all([...whole, ...single])) assert.equal(answer.body, 'ok');
  for (const answer of await Promise.all(verbose)) assert.match(answer.body, /slower ok\n.*\nreadyz check passed\n$/);
  assert.deepEqual(runs, { slow: 1, slower: 1 });
  await under.probe('/readyz?exclude=slow');
  assert.deepEqual(runs, { slow: 1, slower: 2 });
});

test('P-082 probes that share a run of a health check fail together, and the observer of the lifecycle is notified of only one change', async () => {
  const under = new HealthUnderTest();
  const gate = Promise.withResolvers<boolean>();
  under.health.addReadyz('database', () => gate.promise);
  const probes = Array.from({ length: 10 }, async () => under.probe('/readyz'));
  gate.resolve(false);
  for (const { status } of await Promise.all(probes)) assert.equal(status, 500);
  assert.deepEqual(under.observer.checkChanges, ['readyz database: check "database" failed: the check returned false']);
});

test('A-104, P-083 the observer of the lifecycle gets the reason of a failed check only when the result of the check changes, not at each probe', () => {
  const under = new HealthUnderTest();
  let isDown = false;
  under.health.addReadyz('database', () => {
    if (isDown) throw new Error('secret reason');
  });
  for (const next of [false, true, true, false, false, true]) {
    isDown = next;
    assert.doesNotMatch(under.bodyOf('/readyz?verbose'), /secret/);
    assert.doesNotMatch(under.bodyOf('/readyz/database'), /secret/);
  }
  assert.deepEqual(under.observer.checkChanges, [
    'readyz database: check "database" failed: secret reason',
    'readyz database: passes',
    'readyz database: check "database" failed: secret reason',
  ]);
});

test('A-181 if a probe of an endpoint such as /readyz runs checks, the metrics count the result of each check, except the checks that the probe excludes', async () => {
  const under = new HealthUnderTest();
  under.health.addReadyz('bad', fails);
  under.health.addReadyz('slow', async () => true);
  await under.probe('/readyz?exclude=log');
  assert.deepEqual(under.observer.checkResults.splice(0), [
    'readyz ping: passed',
    'readyz bad: failed',
    'readyz slow: passed',
    'readyz shutdown: passed',
  ]);
  assert.equal(await under.health.readyz.passes(), false);
  assert.deepEqual(under.observer.checkResults, [], 'a run of the checks without a probe must not be counted');
});

test('P-088 the lifecycle runs the readyz checks itself, without a probe, and gets their result', async () => {
  const under = new HealthUnderTest();
  let isUp = false;
  under.health.addReadyz('database', async () => isUp);
  assert.equal(await under.health.readyz.passes(), false);
  isUp = true;
  assert.equal(await under.health.readyz.passes(), true);
  under.lifecycle.report('ShutdownInitiated');
  assert.equal(await under.health.readyz.passes(), false);
});

test('P-091 a readiness probe that still waits for a check when the shutdown begins gets a 500', async () => {
  const under = new HealthUnderTest();
  const gate = Promise.withResolvers<boolean>();
  under.health.addReadyz('slow', () => gate.promise);
  const answer = under.probe('/readyz');
  under.lifecycle.report('ShutdownInitiated');
  gate.resolve(true);
  assert.deepEqual(
    [(await answer).status, (await answer).body],
    [500, '[+]ping ok\n[+]log ok\n[+]slow ok\n[-]shutdown failed: reason withheld\nreadyz check failed\n'],
  );
});

test('A-089 if a livez check passes only because of its grace period, and the probe excludes the group of the check, the metrics do not count the result of the check', () => {
  const { clock, observer } = new HealthUnderTest();
  const endpoint = new Endpoint('livez', { clock, observer });
  const check = new Check('boot', fails, { clock, checkTimeout: 900 }, { group: 'start' });
  endpoint.add(check, clock.now() + 10_000);
  const ask = (query: string): unknown => endpoint.answer('', new URLSearchParams(query));
  assert.deepEqual(ask('verbose&exclude=start'), {
    status: 200,
    headers,
    body: '[+]boot excluded with start: ok\nlivez check passed\n',
  });
  assert.deepEqual(ask(''), { status: 200, headers, body: 'ok' });
  assert.deepEqual(observer.checkResults, []);
});
