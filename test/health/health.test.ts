import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckFunction, CheckOptions } from '../../src/health/check.ts';
import { fails, HealthUnderTest, passes } from '../support/health-under-test.ts';

test('A-072, A-073, A-074 each endpoint has ping and log first, then checks in the order of registration, and /readyz has shutdown last', () => {
  const under = new HealthUnderTest();
  under.health.addReadyz('database', passes);
  under.health.addReadyz('cache', passes);
  under.health.addLivez('worker', passes);
  under.health.close();
  assert.equal(
    under.bodyOf('/readyz?verbose'),
    '[+]ping ok\n[+]log ok\n[+]database ok\n[+]cache ok\n[+]shutdown ok\nreadyz check passed\n',
  );
  assert.equal(under.bodyOf('/livez?verbose'), '[+]ping ok\n[+]log ok\n[+]worker ok\nlivez check passed\n');
  assert.equal(under.bodyOf('/healthz?verbose'), '[+]ping ok\n[+]log ok\n[+]worker ok\nhealthz check passed\n');
});

test('A-003, A-106 /readyz fails as soon as ShutdownInitiated fires, and /livez and /healthz pass', () => {
  const under = new HealthUnderTest();
  under.health.close();
  assert.equal(under.statusOf('/readyz'), 200);
  under.lifecycle.report('ShutdownInitiated');
  assert.deepEqual(
    [under.statusOf('/readyz'), under.bodyOf('/readyz')],
    [500, '[+]ping ok\n[+]log ok\n[-]shutdown failed: reason withheld\nreadyz check failed\n'],
  );
  assert.equal(under.bodyOf('/livez'), 'ok');
  assert.equal(under.bodyOf('/healthz'), 'ok');
});

test('A-097 /readyz/shutdown fails during the shutdown, without its reason', () => {
  const under = new HealthUnderTest();
  under.health.close();
  assert.equal(under.bodyOf('/readyz/shutdown'), 'ok');
  under.lifecycle.report('ShutdownInitiated');
  assert.equal(under.statusOf('/readyz/shutdown'), 500);
  assert.equal(under.bodyOf('/readyz/shutdown'), 'internal server error: reason withheld\n');
});

test('P-091, P-092 a check that reads a flag of the program changes /readyz at the next probe, but cannot make /readyz pass after ShutdownInitiated', () => {
  const under = new HealthUnderTest();
  let isTakenOut = false;
  under.health.addReadyz('taken-out', () => !isTakenOut);
  under.health.close();
  for (let flap = 0; flap < 10; flap++) {
    isTakenOut = !isTakenOut;
    assert.equal(under.statusOf('/readyz'), isTakenOut ? 500 : 200);
  }
  under.lifecycle.report('ShutdownInitiated');
  for (let flap = 0; flap < 10; flap++) {
    isTakenOut = !isTakenOut;
    assert.equal(under.statusOf('/readyz'), 500);
    assert.equal(under.statusOf('/readyz?exclude=taken-out'), 500);
  }
});

test('A-074 no check can be added to any endpoint after the lifecycle has started', () => {
  const { health } = new HealthUnderTest();
  health.close();
  const late = (endpoint: string, name: string): object => ({
    code: 'LAMEDUCK_ERR_REGISTERED_TOO_LATE',
    message: `unable to add check "${name}": the /${endpoint} endpoint accepts no more checks; add the check before listen()`,
  });
  assert.throws(
    () => {
      health.addReadyz('late', passes);
    },
    late('readyz', 'late'),
  );
  assert.throws(
    () => {
      health.addLivez('late', passes);
    },
    late('livez', 'late'),
  );
  assert.throws(
    () => {
      health.addPostStartHook('late', passes);
    },
    late('readyz', 'poststarthook/late'),
  );
});

for (const kind of ['readyz', 'livez'] as const) {
  const add =
    (name: unknown, run: unknown = passes, options?: unknown) =>
    () => {
      const { health } = new HealthUnderTest();
      const [given, check, more] = [name as string, run as CheckFunction, options as CheckOptions];
      if (kind === 'readyz') health.addReadyz(given, check, more);
      else health.addLivez(given, check, more);
    };

  test(`a ${kind} check is rejected if its name is in use, or if its name is invalid in the path of a probe`, () => {
    for (const name of ['ping', 'log']) {
      const taken = {
        code: 'LAMEDUCK_ERR_NAME_TAKEN',
        message: `unable to add ${kind} check "${name}": the name is taken`,
      };
      assert.throws(add(name), taken);
    }
    if (kind === 'readyz') assert.throws(add('shutdown'), { code: 'LAMEDUCK_ERR_NAME_TAKEN' });
    for (const name of [undefined, null, 7, '', ' ', 'a b', '/a', 'a/', 'a?b', 'ä', 'a\nb', {}]) {
      assert.throws(add(name), {
        code: 'LAMEDUCK_ERR_NAME_INVALID',
        message: new RegExp(`^name of a ${kind} check: `),
      });
    }
  });

  test(`a ${kind} check needs a function`, () => {
    for (const run of [null, 'true', true, {}, Promise.resolve()]) {
      assert.throws(add('a', run), {
        code: 'LAMEDUCK_ERR_FUNCTION_INVALID',
        message: new RegExp(`^${kind} check "a": `),
      });
    }
  });

  test(`a ${kind} check accepts no other option than \`group\`, and the value of \`group\` must be a name`, () => {
    for (const options of [null, 'etcd', [], 7, { grup: 'etcd' }, { group: 'etcd', timeout: '1s' }]) {
      assert.throws(add('a', passes, options), {
        code: 'LAMEDUCK_ERR_OPTIONS_INVALID',
        message: new RegExp(`^options of ${kind} check "a": .*: expected an object with group$`),
      });
    }
    for (const group of ['', 'a b', null, 7]) {
      assert.throws(add('a', passes, { group }), {
        code: 'LAMEDUCK_ERR_NAME_INVALID',
        message: new RegExp(`^name of the group of ${kind} check "a": `),
      });
    }
    for (const options of [undefined, {}, { group: undefined }, { group: 'etcd' }]) add('a', passes, options)();
  });
}

test('if the name of a new livez check is taken on /livez or /healthz, the new check is added to neither endpoint', () => {
  const under = new HealthUnderTest();
  under.health.addPostStartHook('warm-up', passes);
  assert.throws(
    () => {
      under.health.addLivez('poststarthook/warm-up', fails);
    },
    {
      code: 'LAMEDUCK_ERR_NAME_TAKEN',
      message: 'unable to add healthz check "poststarthook/warm-up": the name is taken',
    },
  );
  assert.equal(under.bodyOf('/livez?verbose'), '[+]ping ok\n[+]log ok\nlivez check passed\n');
});

for (const livezGracePeriod of [0, 5_000]) {
  test(`A-040 with livezGracePeriod ${String(livezGracePeriod)}ms, the check of a post-start hook is added to no endpoint if its name is in use on /readyz or /livez`, () => {
    for (const kind of ['readyz', 'livez'] as const) {
      const under = new HealthUnderTest({ livezGracePeriod });
      if (kind === 'readyz') under.health.addReadyz('poststarthook/a', passes);
      else under.health.addLivez('poststarthook/a', passes);
      assert.throws(
        () => {
          under.health.addPostStartHook('a', () => false);
        },
        { code: 'LAMEDUCK_ERR_NAME_TAKEN' },
      );
      for (const endpoint of ['/readyz', '/livez', '/healthz']) assert.equal(under.statusOf(endpoint), 200, endpoint);
    }
  });
}

for (const url of ['/readyz', '/readyz/', '/readyz?', '/readyz?a=1', '/readyz/?a=/x', '/READYZ', '/Readyz/?verbose=']) {
  test(`P-080, A-070 ${url} runs all checks of the endpoint, not a single one`, () => {
    const under = new HealthUnderTest();
    assert.equal(under.statusOf(url), 200);
    assert.match(under.bodyOf(url), /^ok$|check passed\n$/);
  });
}

test('A-070, P-085 in the path of a single check, the name of the endpoint may be in upper or lower case, and the name of the check must match exactly', () => {
  const under = new HealthUnderTest();
  under.health.addLivez('a/b', passes);
  under.health.addLivez('bad', fails);
  assert.equal(under.bodyOf('/livez/a/b'), 'ok');
  assert.equal(under.bodyOf('/LIVEZ/a/b?x'), 'ok');
  assert.equal(under.statusOf('/livez/A/b'), 404);
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
  '/readyz#a',
  '/readyz%2fping',
  'http://h',
  'http://h/',
  'http://h/readyz',
  'HTTPS://[::1]:80/livez?verbose',
  'http:///x/readyz',
  'http:/readyz',
  'ftp://h/readyz',
  'readyz',
  'http://h?/readyz',
  'h:80',
];

test('a request whose URL is not a probe path is passed to the program', () => {
  const { health } = new HealthUnderTest();
  for (const url of noProbes) assert.equal(health.answer(url), undefined, url);
});

test('P-084 a failing readyz check is not on /livez, and a failing livez check is not on /readyz', () => {
  const under = new HealthUnderTest();
  under.health.addReadyz('database', () => false);
  assert.equal(under.statusOf('/readyz'), 500);
  assert.equal(under.bodyOf('/livez?verbose'), '[+]ping ok\n[+]log ok\nlivez check passed\n');
  assert.equal(under.statusOf('/readyz/worker'), 404);
  under.health.addLivez('worker', () => false);
  assert.equal(under.statusOf('/livez'), 500);
  assert.equal(under.statusOf('/readyz/worker'), 404);
});

test('P-084 if two lifecycles in one process use the same check function, each of them runs the function itself and stores its own result', async () => {
  const [one, other] = [new HealthUnderTest(), new HealthUnderTest()];
  const gates: PromiseWithResolvers<boolean>[] = [];
  const check = (): Promise<boolean> => {
    const gate = Promise.withResolvers<boolean>();
    gates.push(gate);
    return gate.promise;
  };
  for (const { health } of [one, other]) health.addReadyz('database', check);
  const answers = [one.probe('/readyz'), other.probe('/readyz')] as const;
  assert.equal(gates.length, 2);
  gates[0]?.resolve(false);
  gates[1]?.resolve(true);
  assert.deepEqual([(await answers[0]).status, (await answers[1]).status], [500, 200]);
  one.lifecycle.report('ShutdownInitiated');
  const [red, green] = [one.probe('/readyz'), other.probe('/readyz')];
  for (const gate of gates) gate.resolve(true);
  gates.slice(2).forEach(({ resolve }) => {
    resolve(true);
  });
  assert.deepEqual([(await red).status, (await green).status], [500, 200]);
});

test('P-082 if the livez check NAME is running, all probes of /livez, /healthz, /livez/NAME and /healthz/NAME wait for this run and start no other', async () => {
  const under = new HealthUnderTest();
  let runs = 0;
  const gate = Promise.withResolvers<boolean>();
  under.health.addLivez('worker', () => {
    runs++;
    return gate.promise;
  });
  const answers = ['/livez', '/healthz', '/livez/worker', '/healthz/worker', '/livez?verbose'].map(async (url) =>
    under.probe(url),
  );
  assert.equal(runs, 1);
  gate.resolve(false);
  for (const { status } of await Promise.all(answers)) assert.equal(status, 500);
  assert.equal(runs, 1);
  assert.deepEqual(under.observer.checkChanges, [
    'livez worker: check "worker" failed: the check returned false',
    'healthz worker: check "worker" failed: the check returned false',
  ]);
});
