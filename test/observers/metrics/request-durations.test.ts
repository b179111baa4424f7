import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Request, Response } from '../../../src/message.ts';
import { methodLabel, RequestDurations } from '../../../src/observers/metrics/request-durations.ts';

interface Ended {
  readonly method?: string;
  readonly route?: unknown;
  readonly statusCode?: unknown;
  readonly headersSent?: boolean;
  readonly writableFinished?: boolean;
}

/** What is left of a response when its request has ended. */
function ended({
  method = 'GET',
  route,
  statusCode = 200,
  headersSent = true,
  writableFinished = true,
}: Ended): Response {
  return { req: { method, route }, statusCode, headersSent, writableFinished } as unknown as Response;
}

function durationsUnderTest(): { durations: RequestDurations; warnings: string[] } {
  const warnings: string[] = [];
  const durations = new RequestDurations((message) => warnings.push(message));
  durations.route = (request: Request) => (request as unknown as Ended).route as string;
  return { durations, warnings };
}

/** The counts of the buckets that are not empty, by their upper bound. */
function buckets(durations: RequestDurations): Record<string, number> {
  const all = durations.samples('d').filter(({ metricName }) => metricName === 'd_bucket');
  return Object.fromEntries(all.map(({ labels, value }) => [String(labels['le']), value]));
}

/** The label sets, each as method, status and route, with its count. */
function labelSets(durations: RequestDurations): Record<string, number> {
  const all = durations.samples('d').filter(({ metricName }) => metricName === 'd_count');
  return Object.fromEntries(
    all.map(({ sharedLabels: labels, value }) => [
      `${String(labels?.['http_request_method'])} ${String(labels?.['http_response_status_code'])} ${String(labels?.['http_route'])}`,
      value,
    ]),
  );
}

test('A-187 a duration falls into the buckets that OpenTelemetry advises, bounds included', () => {
  const { durations } = durationsUnderTest();
  for (const duration of [0, 5, 5.001, 10_000, 10_000.001, 3_600_000]) durations.onRequestEnd(ended({}), duration);
  const cumulative = buckets(durations);
  assert.deepEqual(
    Object.keys(cumulative).sort((a, b) => Number(a.replace('+Inf', '1e9')) - Number(b.replace('+Inf', '1e9'))),
    ['0.005', '0.01', '0.025', '0.05', '0.075', '0.1', '0.25', '0.5', '0.75', '1', '2.5', '5', '7.5', '10', '+Inf'],
  );
  assert.equal(cumulative['0.005'], 2);
  assert.equal(cumulative['0.01'], 3);
  assert.equal(cumulative['7.5'], 3);
  assert.equal(cumulative['10'], 4);
  assert.equal(cumulative['+Inf'], 6);
});

test('the sum of the durations is in seconds', () => {
  const { durations } = durationsUnderTest();
  durations.onRequestEnd(ended({}), 250);
  durations.onRequestEnd(ended({}), 1_500);
  assert.equal(durations.samples('d').find(({ metricName }) => metricName === 'd_sum')?.value, 1.75);
});

test('a method that OpenTelemetry does not know is _OTHER, and so is none', () => {
  assert.deepEqual(
    ['GET', 'get', 'QUERY', 'PROPFIND', 'X\n"', undefined, '__proto__', 'constructor'].map(methodLabel),
    ['GET', '_OTHER', 'QUERY', '_OTHER', '_OTHER', '_OTHER', '_OTHER', '_OTHER'],
  );
});

test('a request whose answer was never begun has no status, whatever its handler had set', () => {
  const { durations } = durationsUnderTest();
  durations.onRequestEnd(ended({ statusCode: 418, headersSent: false, writableFinished: false, route: '/a' }), 1);
  assert.deepEqual(labelSets(durations), { 'GET  /a': 1 });
  assert.equal(durations.aborted, 1);
});

test('an answer that was cut in the middle has the status that was sent, and counts as aborted', () => {
  const { durations } = durationsUnderTest();
  durations.onRequestEnd(ended({ writableFinished: false }), 1);
  durations.onRequestEnd(ended({}), 1);
  assert.deepEqual(labelSets(durations), { 'GET 200 ': 2 });
  assert.equal(durations.aborted, 1);
});

test('a status that a handler has spoilt behind its headers is none', () => {
  const { durations } = durationsUnderTest();
  for (const statusCode of [NaN, -1, 1e9, '200', 200n, null, 99]) durations.onRequestEnd(ended({ statusCode }), 1);
  assert.deepEqual(labelSets(durations), { 'GET  ': 7 });
});

test('a route that is no text is unknown', () => {
  const { durations } = durationsUnderTest();
  for (const route of [undefined, null, 7, {}, Promise.resolve('/a'), ['/a']])
    durations.onRequestEnd(ended({ route }), 1);
  assert.deepEqual(labelSets(durations), { 'GET 200 ': 6 });
});

test('a route may have any name that an object cannot', () => {
  const { durations } = durationsUnderTest();
  for (const route of ['__proto__', 'constructor', '_OTHER']) durations.onRequestEnd(ended({ route }), 1);
  assert.deepEqual(labelSets(durations), { 'GET 200 __proto__': 1, 'GET 200 constructor': 1, 'GET 200 _OTHER': 1 });
});

test('behind two thousand label sets a route is _OTHER, with one warning, and known ones go on', () => {
  const { durations, warnings } = durationsUnderTest();
  for (let index = 0; index < 2_500; index++) durations.onRequestEnd(ended({ route: `/orders/${String(index)}` }), 1);
  durations.onRequestEnd(ended({ method: 'POST', statusCode: 500, route: '/orders/9999' }), 1);
  durations.onRequestEnd(ended({ route: '/orders/7' }), 1);
  const sets = labelSets(durations);
  assert.equal(Object.keys(sets).length, 2_002);
  assert.equal(sets['GET 200 /orders/7'], 2);
  assert.equal(sets['GET 200 _OTHER'], 500);
  assert.equal(sets['POST 500 _OTHER'], 1);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? '', /more than 2000 combinations .* route\(\) must not return paths/);
});

test('a quantile is taken from the buckets of all label sets, and never beyond the longest', () => {
  const { durations } = durationsUnderTest();
  assert.equal(durations.quantile(0.99), 0);
  for (let index = 0; index < 99; index++) durations.onRequestEnd(ended({ route: String(index) }), 3);
  durations.onRequestEnd(ended({ method: 'POST' }), 30_000);
  assert.ok(durations.quantile(0.5) < 5);
  assert.equal(durations.quantile(0.99), 5);
  assert.equal(durations.quantile(1), 30_000);
});

test('a quantile of quick requests only is no longer than the longest of them', () => {
  const { durations } = durationsUnderTest();
  durations.onRequestEnd(ended({}), 0.5);
  assert.ok(durations.quantile(0.99) <= 0.5);
});
