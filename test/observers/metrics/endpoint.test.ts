import assert from 'node:assert/strict';
import { createRequire, registerHooks } from 'node:module';
import { test } from 'node:test';
import type { Answer } from '../../../src/message.ts';
import { createRegistryMetric } from '../../../src/observers/metrics/registry-metric.ts';
import { MetricsEndpoint, type Renderer } from '../../../src/observers/metrics/endpoint.ts';
import { Exposition } from '../../support/exposition.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const { cache } = createRequire(import.meta.url);
const isLoaded = (): boolean => Object.keys(cache).some((file) => file.includes('/prom-client/'));

const gauge = (name: string) =>
  createRegistryMetric(name, { type: 'gauge', help: 'A number.', labels: [] }, () => [{ labels: {}, value: 1 }]);

interface UnderTest {
  readonly clock: FakeClock;
  readonly warnings: string[];
  readonly ask: (url: string, method?: string) => Promise<Answer | undefined>;
}

function endpointUnderTest(registry?: Renderer): UnderTest {
  const clock = new FakeClock();
  const warnings: string[] = [];
  const endpoint = new MetricsEndpoint({
    path: '/metrics',
    registry,
    metrics: [gauge('ours')],
    slis: [gauge('health')],
    warn: (message) => warnings.push(message),
    clock,
  });
  return { clock, warnings, ask: async (url, method = 'GET') => endpoint.answer(url, method) };
}

// This test must be the first. It needs a process that has not loaded prom-client, and prom-client stays loaded after
// each of the other tests.
test('if prom-client cannot be loaded, a scrape gets 500 with one warning, and the next scrape tries again', async () => {
  const { ask, warnings } = endpointUnderTest();
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (specifier === 'prom-client') throw new Error('not installed');
      return next(specifier, context);
    },
  });
  for (let scrape = 0; scrape < 3; scrape++) {
    const answer = await ask('/metrics');
    assert.equal(answer?.status, 500);
    assert.equal(answer.headers['Content-Type'], 'text/plain; charset=utf-8');
    assert.equal(answer.body, 'unable to serve metrics: see the log\n');
  }
  assert.deepEqual(warnings, ['unable to serve metrics: unable to load prom-client: not installed']);
  hooks.deregister();
  assert.equal(isLoaded(), false);
  assert.equal((await ask('/metrics'))?.status, 200);
  assert.equal(isLoaded(), true);
});

test('the metrics path must match exactly, and may have a query', async () => {
  const { ask } = endpointUnderTest();
  for (const url of ['/metrics', '/metrics?', '/metrics?name[]=up', '/metrics/slis', '/metrics/slis?x=/y']) {
    assert.equal((await ask(url))?.status, 200, url);
  }
  const others = [
    '/metricsfoo',
    '/metrics/',
    '/metrics/slis/',
    '/Metrics',
    '/metric',
    '/',
    '',
    '//metrics',
    '/x/metrics',
  ];
  for (const url of [...others, '/metrics#', '/metrics%20', '/metrics/sli', '/metrics;a']) {
    assert.equal(await ask(url), undefined, url);
  }
});

test('A-182 the metrics path allows only GET and HEAD, so DELETE resets nothing', async () => {
  const { ask } = endpointUnderTest();
  assert.equal((await ask('/metrics', 'HEAD'))?.status, 200);
  for (const method of ['DELETE', 'POST', 'OPTIONS', '', 'get']) {
    for (const url of ['/metrics', '/metrics/slis']) {
      const answer = await ask(url, method);
      assert.equal(answer?.status, 405, method);
      assert.equal(answer.headers['Allow'], 'GET, HEAD');
    }
  }
});

test('without a registry of the program, a scrape contains metrics of the Node.js process beside the metrics of lameduck', async () => {
  const { ask } = endpointUnderTest();
  const answer = await ask('/metrics');
  assert.equal(answer?.headers['Content-Type'], 'text/plain; version=0.0.4; charset=utf-8');
  const { families } = new Exposition(answer.body);
  for (const name of [
    'ours',
    'nodejs_eventloop_lag_p99_seconds',
    'nodejs_gc_duration_seconds',
    'process_cpu_seconds_total',
  ]) {
    assert.ok(families.has(name), name);
  }
  assert.equal(families.has('health'), false);
  assert.equal(new Exposition((await ask('/metrics'))?.body ?? '').value('ours'), 1);
});

test('A-182 only /metrics/slis has the metrics of the health checks, with the content type of the apiserver', async () => {
  const { ask } = endpointUnderTest();
  const answer = await ask('/metrics/slis');
  assert.equal(answer?.headers['Content-Type'], 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores');
  assert.deepEqual([...new Exposition(answer.body).families.keys()], ['health']);
});

test('if the program has its own metrics registry, /metrics serves this registry with the content type that the registry declares', async () => {
  const { ask } = endpointUnderTest({ metrics: () => 'theirs 1\n', contentType: 'text/plain; theirs' });
  const answer = await ask('/metrics');
  assert.equal(answer?.body, 'theirs 1\n');
  assert.equal(answer.headers['Content-Type'], 'text/plain; theirs');
  assert.equal((await ask('/metrics/slis'))?.status, 200);
});

for (const contentType of [undefined, 7, 'a\r\nSet-Cookie: b', '', 'ä']) {
  test(`if a metrics registry has the invalid content type ${JSON.stringify(contentType)}, /metrics sends the default content type`, async () => {
    const { ask } = endpointUnderTest({ metrics: () => '', contentType: contentType as string });
    assert.equal((await ask('/metrics'))?.headers['Content-Type'], 'text/plain; version=0.0.4; charset=utf-8');
  });
}

test("while the registry's metrics() rejects, each scrape gets a 500 response, but only the first of them logs a warning", async () => {
  let error: Error | undefined = new Error('a collector has failed');
  const { ask, warnings } = endpointUnderTest({
    async metrics() {
      if (error !== undefined) throw error;
      return 'theirs 1\n';
    },
    contentType: 'text/plain',
  });
  for (let scrape = 0; scrape < 3; scrape++) assert.equal((await ask('/metrics'))?.status, 500);
  assert.deepEqual(warnings, ['unable to serve metrics: a collector has failed']);
  error = undefined;
  assert.equal((await ask('/metrics'))?.status, 200);
  error = new TypeError('another');
  assert.equal((await ask('/metrics'))?.status, 500);
  assert.deepEqual(warnings.slice(1), ['unable to serve metrics: another']);
});

for (const text of [undefined, null, 7, Buffer.from('theirs 1\n'), { toString: 'x' }]) {
  test(`a registry that returns no text causes a 500 response: ${typeof text}`, async () => {
    const { ask } = endpointUnderTest({ metrics: () => text as never });
    assert.equal((await ask('/metrics'))?.status, 500);
  });
}

test('a metrics registry that throws causes a 500 response', async () => {
  const { ask } = endpointUnderTest({
    metrics() {
      throw new TypeError('at once');
    },
  });
  assert.equal((await ask('/metrics'))?.status, 500);
});

test('if the metrics registry does not answer, a scrape gets a 500 response after five seconds, and no timer remains', async () => {
  const { ask, clock, warnings } = endpointUnderTest({ metrics: () => new Promise<string>(() => undefined) });
  const answer = ask('/metrics');
  assert.equal((await clock.advanceUntil('the answer', answer, 5_010))?.status, 500);
  assert.deepEqual(warnings, ['unable to serve metrics: the registry returned no text within 5000 ms']);
  assert.deepEqual(clock.pending, { all: 0, holding: 0 });
});

test('after a scrape of the metrics, no timer of the scrape remains', async () => {
  const { ask, clock } = endpointUnderTest();
  await ask('/metrics');
  assert.deepEqual(clock.pending, { all: 0, holding: 0 });
});

test('scrapes that arrive together before prom-client is loaded get the same registry', async () => {
  const { ask, warnings } = endpointUnderTest();
  const answers = await Promise.all([ask('/metrics'), ask('/metrics'), ask('/metrics/slis'), ask('/metrics/slis')]);
  for (const answer of answers) assert.equal(answer?.status, 200);
  assert.deepEqual(warnings, []);
});
