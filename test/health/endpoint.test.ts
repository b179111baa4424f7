import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Endpoint, type Answer } from '../../src/health/endpoint.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { RecordingObserver } from '../support/recording-observer.ts';

interface Fixture {
  readonly endpoint: Endpoint;
  readonly clock: FakeClock;
  readonly observer: RecordingObserver;
  readonly ask: (path?: string, query?: string) => Answer;
}

function createEndpoint(name: 'readyz' | 'livez' | 'healthz' = 'readyz'): Fixture {
  const clock = new FakeClock();
  const observer = new RecordingObserver();
  const endpoint = new Endpoint(name, { clock, checkTimeout: 900, observer });
  return {
    endpoint,
    clock,
    observer,
    ask(path = '', query = '') {
      const answer = endpoint.answer(path, new URLSearchParams(query));
      assert.ok(!(answer instanceof Promise), 'the answer is not there at once');
      return answer;
    },
  };
}

const fails = (): never => {
  throw new Error('secret reason');
};

const headers = {
  'Content-Type': 'text/plain; charset=utf-8',
  'Cache-Control': 'no-cache, private, no-store',
  'X-Content-Type-Options': 'nosniff',
};

test('A-073, A-085 an endpoint without checks of the program has ping and answers 200 ok', () => {
  assert.deepEqual(createEndpoint().ask(), { status: 200, headers, body: 'ok' });
  assert.equal(createEndpoint().ask('', 'verbose').body, '[+]ping ok\nreadyz check passed\n');
});

test('P-086 every answer forbids storing and sniffing', () => {
  const { endpoint, ask } = createEndpoint();
  endpoint.add('bad', fails);
  for (const path of ['', '/ping', '/bad', '/nothing']) {
    assert.equal(ask(path).headers['Cache-Control'], 'no-cache, private, no-store', path);
    assert.equal(ask(path).headers['Content-Type'], 'text/plain; charset=utf-8', path);
  }
  for (const path of ['', '/bad', '/nothing'])
    assert.equal(ask(path).headers['X-Content-Type-Options'], 'nosniff', path);
});

test('A-086 the presence of verbose asks for all checks by name, whatever its value', () => {
  const { endpoint, ask } = createEndpoint('healthz');
  endpoint.add('database', () => true);
  for (const query of ['verbose', 'verbose=true', 'verbose=false', 'verbose=']) {
    assert.equal(ask('', query).body, '[+]ping ok\n[+]database ok\nhealthz check passed\n', query);
    assert.equal(ask('', query).status, 200);
  }
});

test('A-087, A-088 a failure is 500 with every check in the order of registration and no reason, verbose or not', () => {
  const { endpoint, ask } = createEndpoint('livez');
  endpoint.add('bad', fails);
  endpoint.add('good', () => true);
  const answer = ask();
  assert.deepEqual(answer, {
    status: 500,
    headers,
    body: '[+]ping ok\n[-]bad failed: reason withheld\n[+]good ok\nlivez check failed\n',
  });
  assert.deepEqual(ask('', 'verbose'), answer);
});

test('A-088, A-089 an excluded check is not run and is told as excluded', () => {
  const { endpoint, ask } = createEndpoint();
  let runs = 0;
  endpoint.add('slow', () => runs++);
  endpoint.add('bad', fails);
  assert.equal(ask('', 'exclude=bad&exclude=slow').body, 'ok');
  assert.equal(
    ask('', 'exclude=bad&exclude=slow&verbose').body,
    '[+]ping ok\n[+]slow excluded: ok\n[+]bad excluded: ok\nreadyz check passed\n',
  );
  assert.equal(runs, 0);
  assert.equal(ask('', 'exclude=slow').status, 500);
  assert.equal(ask('', 'exclude=slow,bad').status, 500);
});

test('A-088, A-089 names that match no check change no status and are a warning, sorted, in a verbose or failing answer', () => {
  const { endpoint, ask } = createEndpoint();
  assert.equal(ask('', 'exclude=b&exclude=a').body, 'ok');
  const warning = 'warn: some health checks cannot be excluded: no matches for "a","b"\n';
  assert.equal(ask('', 'exclude=b&exclude=a&verbose').body, `[+]ping ok\n${warning}readyz check passed\n`);
  endpoint.add('bad', fails);
  assert.equal(
    ask('', 'exclude=b&exclude=a').body,
    `[+]ping ok\n[-]bad failed: reason withheld\n${warning}readyz check failed\n`,
  );
});

test('A-070 each check has a path of its own, with slashes if its name has some', () => {
  const { endpoint, ask } = createEndpoint();
  let runs = 0;
  endpoint.add('poststarthook/warm-up', () => runs++);
  endpoint.add('bad', fails);
  assert.deepEqual(ask('/poststarthook/warm-up').body, 'ok');
  assert.equal(runs, 1);
  assert.equal(ask('/warm-up').status, 404);
  assert.equal(ask('/ping/').status, 404);
  assert.equal(ask('/ping', 'exclude=ping').body, 'ok');
  assert.equal(runs, 1);
});

test('A-095 a single check answers 200 ok, or 500 without the reason', () => {
  const { endpoint, ask } = createEndpoint();
  endpoint.add('bad', fails);
  const { status, body } = ask('/bad', 'verbose');
  assert.deepEqual([status, body], [500, 'internal server error: reason withheld\n']);
  assert.deepEqual([ask('/ping').status, ask('/ping').body], [200, 'ok']);
});

test('the path of a check that does not exist is 404', () => {
  const { ask } = createEndpoint();
  assert.deepEqual([ask('/nothing').status, ask('/nothing').body], [404, '404 page not found\n']);
});

test('A-074 checks can be added until the endpoint is installed', () => {
  const { endpoint } = createEndpoint('livez');
  endpoint.add('early', () => true);
  endpoint.close();
  assert.throws(
    () => {
      endpoint.add('late', () => true);
    },
    {
      code: 'LAMEDUCK_ERR_REGISTERED_TOO_LATE',
      message: 'unable to add check "late": the /livez endpoint has already been created; add it before listen()',
    },
  );
});

test('a check needs a name that is free and can stand in a path, and a function', () => {
  const { endpoint } = createEndpoint();
  const add =
    (name: string, run: () => unknown): (() => void) =>
    () => {
      endpoint.add(name, run);
    };
  assert.throws(
    add('ping', () => true),
    { code: 'LAMEDUCK_ERR_NAME_TAKEN' },
  );
  assert.throws(
    add('a b', () => true),
    { code: 'LAMEDUCK_ERR_NAME_INVALID' },
  );
  assert.throws(add('a', undefined as unknown as () => true), { code: 'LAMEDUCK_ERR_FUNCTION_INVALID' });
});

test('P-081 checks that hang fail together at their limit, while the others still report', async () => {
  const { endpoint, clock } = createEndpoint();
  endpoint.add('hangs', () => new Promise(() => undefined));
  endpoint.add('hangs-too', () => new Promise(() => undefined));
  endpoint.add('good', async () => true);
  const answer = Promise.resolve(endpoint.answer('', new URLSearchParams()));
  await clock.advance(900);
  assert.equal(
    (await answer).body,
    '[+]ping ok\n[-]hangs failed: reason withheld\n[-]hangs-too failed: reason withheld\n[+]good ok\nreadyz check failed\n',
  );
  assert.equal(clock.pending.all, 0);
});

test('an asynchronous check answers its own path, too', async () => {
  const { endpoint } = createEndpoint();
  endpoint.add('good', async () => true);
  endpoint.add('bad', async () => false);
  assert.equal((await endpoint.answer('/good', new URLSearchParams())).status, 200);
  assert.equal((await endpoint.answer('/bad', new URLSearchParams())).status, 500);
});

test('P-083 the reason of a failure goes to the observer, once for each change', () => {
  const { endpoint, observer, ask } = createEndpoint();
  let isDown = false;
  endpoint.add('database', () => {
    if (isDown) throw new Error('secret reason');
  });
  for (const next of [false, true, true, false, false, true]) {
    isDown = next;
    ask();
    ask('/database');
  }
  assert.deepEqual(observer.checkChanges, [
    'readyz database: check "database" failed: secret reason',
    'readyz database: passes',
    'readyz database: check "database" failed: secret reason',
  ]);
});

test('P-088 whether the checks pass can be asked without a probe', async () => {
  const { endpoint } = createEndpoint();
  let isUp = false;
  endpoint.add('database', async () => isUp);
  assert.equal(await endpoint.passes(), false);
  isUp = true;
  assert.equal(await endpoint.passes(), true);
});

test('a hostile query makes no line of its own and no answer that is much longer than itself', () => {
  const { ask } = createEndpoint();
  const forged = ask('', `verbose&exclude=${encodeURIComponent('x\n[+]forged ok\n')}`).body;
  assert.equal(forged.split('\n').filter((line) => line.startsWith('[+]')).length, 1);

  // As long as Node lets the head of a request be.
  const names = Array.from({ length: 1_000 }, (_, index) => `exclude=${String(index).padStart(8, '0')}`);
  const query = `verbose&${names.join('&')}`;
  assert.ok(ask('', query).body.length < query.length + 200);
  assert.equal(ask('', query).status, 200);
});
