import assert from 'node:assert/strict';
import { test } from 'node:test';
import { predict } from '../../../src/observers/metrics/prediction.ts';
import { completeSettings } from '../../../src/settings/complete.ts';
import type { HttpRequest, HttpResponse } from '../../../src/message.ts';
import {
  methodLabel,
  RequestCounters,
  type RequestCountersOptions,
} from '../../../src/observers/metrics/request-counters.ts';

interface Ended {
  readonly method?: string;
  readonly route?: unknown;
  readonly statusCode?: unknown;
  readonly headersSent?: boolean;
  readonly writableFinished?: boolean;
}

/**
 * `ended()` returns an incomplete response object: it has only the properties that the request counters read at the end
 * of a request.
 */
function ended({
  method = 'GET',
  route,
  statusCode = 200,
  headersSent = true,
  writableFinished = true,
}: Ended): HttpResponse {
  return { req: { method, route }, statusCode, headersSent, writableFinished } as unknown as HttpResponse;
}

const { requestDurationBuckets: bounds, maxMetricSeries: mostSeries } = completeSettings({}, {}).settings;

interface UnderTest {
  readonly counters: RequestCounters;
  readonly warnings: string[];
  readonly clock: { now: number };
}

function countersUnderTest(options: Partial<RequestCountersOptions> = {}): UnderTest {
  const warnings: string[] = [];
  const clock = { now: 0 };
  const counters = new RequestCounters({
    bounds,
    mostSeries,
    hasHistogram: true,
    now: () => clock.now,
    warn: (message) => warnings.push(message),
    ...options,
  });
  counters.route = (request: HttpRequest) => (request as unknown as Ended).route as string;
  return { counters, warnings, clock };
}

/** Returns the counts of all histogram buckets that are not empty, by upper bound. */
function buckets(counters: RequestCounters): Record<string, number> {
  const all = counters.samples('d').filter(({ metricName }) => metricName === 'd_bucket');
  return Object.fromEntries(all.map(({ labels, value }) => [String(labels['le']), value]));
}

/** Returns the number of requests for each combination of method, status and route. */
function labelSets(counters: RequestCounters): Record<string, number> {
  const all = counters.samples('d').filter(({ metricName }) => metricName === 'd_count');
  return Object.fromEntries(
    all.map(({ sharedLabels: labels, value }) => [
      `${String(labels?.['http_request_method'])} ${String(labels?.['http_response_status_code'])} ${String(labels?.['http_route'])}`,
      value,
    ]),
  );
}

test('A-187 each duration counts in the first bucket whose upper bound is not below this duration; lameduck has the buckets of OpenTelemetry, and further buckets for longer durations', () => {
  const { counters } = countersUnderTest();
  for (const duration of [0, 5, 5.001, 10_000, 10_000.001, 300_000, 3_600_000])
    counters.onRequestEnd(ended({}), duration);
  const cumulative = buckets(counters);
  assert.deepEqual(
    Object.keys(cumulative).sort((a, b) => Number(a.replace('+Inf', '1e9')) - Number(b.replace('+Inf', '1e9'))),
    [
      '0.005',
      '0.01',
      '0.025',
      '0.05',
      '0.075',
      '0.1',
      '0.25',
      '0.5',
      '0.75',
      '1',
      '2.5',
      '5',
      '7.5',
      '10',
      '15',
      '30',
      '60',
      '120',
      '300',
      '+Inf',
    ],
  );
  assert.equal(cumulative['0.005'], 2);
  assert.equal(cumulative['0.01'], 3);
  assert.equal(cumulative['7.5'], 3);
  assert.equal(cumulative['10'], 4);
  assert.equal(cumulative['15'], 5);
  assert.equal(cumulative['300'], 6);
  assert.equal(cumulative['+Inf'], 7);
});

test('the sum of the request durations is in seconds', () => {
  const { counters } = countersUnderTest();
  counters.onRequestEnd(ended({}), 250);
  counters.onRequestEnd(ended({}), 1_500);
  assert.equal(counters.samples('d').find(({ metricName }) => metricName === 'd_sum')?.value, 1.75);
});

test('a request whose method is missing or unknown to OpenTelemetry is counted under the method _OTHER', () => {
  assert.deepEqual(
    ['GET', 'get', 'QUERY', 'PROPFIND', 'X\n"', undefined, '__proto__', 'constructor'].map(methodLabel),
    ['GET', '_OTHER', 'QUERY', '_OTHER', '_OTHER', '_OTHER', '_OTHER', '_OTHER'],
  );
});

test('in the metrics, a request whose response never began has no status, even if its handler had set a status', () => {
  const { counters } = countersUnderTest();
  counters.onRequestEnd(ended({ statusCode: 418, headersSent: false, writableFinished: false, route: '/a' }), 1);
  assert.deepEqual(labelSets(counters), { 'GET  /a': 1 });
  assert.equal(counters.aborted, 1);
});

test('in the metrics, a response that was cut has the status that was sent to the client, and counts as aborted', () => {
  const { counters } = countersUnderTest();
  counters.onRequestEnd(ended({ writableFinished: false }), 1);
  counters.onRequestEnd(ended({}), 1);
  assert.deepEqual(labelSets(counters), { 'GET 200 ': 2 });
  assert.equal(counters.aborted, 1);
});

test('if a handler sets an invalid status after it has sent the headers, the request is counted without a status', () => {
  const { counters } = countersUnderTest();
  for (const statusCode of [NaN, -1, 1e9, '200', 200n, null, 99]) counters.onRequestEnd(ended({ statusCode }), 1);
  assert.deepEqual(labelSets(counters), { 'GET  ': 7 });
});

test('if the property `route` of a request is not a string, the request is counted without a route', () => {
  const { counters } = countersUnderTest();
  for (const route of [undefined, null, 7, {}, Promise.resolve('/a'), ['/a']])
    counters.onRequestEnd(ended({ route }), 1);
  assert.deepEqual(labelSets(counters), { 'GET 200 ': 6 });
});

test('a route may have the name `constructor` or `__proto__`', () => {
  const { counters } = countersUnderTest();
  for (const route of ['__proto__', 'constructor', '_OTHER']) counters.onRequestEnd(ended({ route }), 1);
  assert.deepEqual(labelSets(counters), { 'GET 200 __proto__': 1, 'GET 200 constructor': 1, 'GET 200 _OTHER': 1 });
});

test('when maxMetricSeries is reached, requests to new routes are counted as _OTHER, with one warning and a counter; requests to known routes are still counted under their own routes', () => {
  const { counters, warnings } = countersUnderTest();
  for (let index = 0; index < 300; index++) counters.onRequestEnd(ended({ route: `/orders/${String(index)}` }), 1);
  counters.onRequestEnd(ended({ method: 'POST', statusCode: 500, route: '/orders/9999' }), 1);
  counters.onRequestEnd(ended({ route: '/orders/7' }), 1);
  const sets = labelSets(counters);
  assert.equal(Object.keys(sets).length, 229);
  assert.equal(sets['GET 200 /orders/7'], 2);
  assert.equal(sets['GET 200 _OTHER'], 73);
  assert.equal(sets['POST 500 _OTHER'], 1);
  assert.equal(counters.folded, 74);
  assert.equal(warnings.length, 1);
  assert.match(
    warnings[0] ?? '',
    /more than 227 combinations .* let route\(\) return route patterns instead of paths, or raise maxMetricSeries$/,
  );
});

test('maxMetricSeries limits the number of series of all routes together, so that more routes are possible if each has fewer buckets; 0 means no limit', () => {
  for (const [series, most] of [
    [100, 26],
    [0, 301],
  ] as const) {
    const { counters } = countersUnderTest({ bounds: [1_000], mostSeries: series });
    for (let index = 0; index <= 300; index++) counters.onRequestEnd(ended({ route: String(index) }), 1);
    assert.equal(Object.keys(labelSets(counters)).length, most);
  }
});

test('the quantile of the request durations is available even if the histogram is switched off', () => {
  const { counters } = countersUnderTest({ hasHistogram: false });
  counters.onRequestEnd(ended({}), 700);
  assert.deepEqual(counters.samples('d'), []);
  assert.ok(counters.quantile(1) === 700);
});

test('a quantile of the request durations uses the buckets of all label sets, and never exceeds the longest measured duration', () => {
  const { counters } = countersUnderTest();
  assert.equal(counters.quantile(0.99), 0);
  for (let index = 0; index < 99; index++) counters.onRequestEnd(ended({ route: String(index) }), 3);
  counters.onRequestEnd(ended({ method: 'POST' }), 30_000);
  assert.ok(counters.quantile(0.5) < 5);
  assert.equal(counters.quantile(0.99), 3);
  assert.equal(counters.quantile(1), 30_000);
});

test('if all requests took less than the smallest bucket bound, every quantile is at most the longest measured duration', () => {
  const { counters } = countersUnderTest();
  counters.onRequestEnd(ended({}), 0.5);
  assert.ok(counters.quantile(0.99) <= 0.5);
});

test('the quantile of request durations is computed from the requests of the last 5 to 10 minutes', () => {
  const { counters, clock } = countersUnderTest();
  counters.onRequestEnd(ended({}), 120_000);
  for (const minute of [1, 4, 6, 9]) {
    clock.now = minute * 60_000;
    assert.equal(counters.quantile(1), 120_000, `minute ${String(minute)}`);
    counters.onRequestEnd(ended({}), 1_000);
  }
  clock.now = 12 * 60_000;
  assert.equal(counters.quantile(1), 1_000);
  clock.now = 60 * 60_000;
  assert.equal(counters.quantile(1), 0);
});

/**
 * Returns whether the metrics predict that a shutdown with one request in flight exceeds `budget`. `took` has the
 * durations of earlier requests. All times are in seconds.
 */
function isOverrun(took: readonly number[], budget: number): boolean {
  const { counters } = countersUnderTest();
  for (const duration of took) counters.onRequestEnd(ended({}), duration * 1_000);
  const { isOverrun: result } = predict({
    budget: budget * 1_000,
    drainEnd: budget * 1_000,
    delay: 0,
    longestHook: 0,
    elapsed: undefined,
    haveHooksStopped: false,
    isDraining: false,
    isDrained: false,
    requestsInFlight: 1,
    oldest: 0,
    usual: counters.quantile(0.99),
    longRunningRequests: 0,
    grace: 0,
  });
  return result;
}

const times = (count: number, seconds: number): number[] => Array.from({ length: count }, () => seconds);

test('if 99 % of all requests took at most 11 s, a single request of 300 s does not cause a predicted overrun of a shutdown budget of 33 s', () => {
  const took = [...times(900, 0.1), ...times(99, 11), 300];
  assert.equal(isOverrun(took, 33), false);
  assert.equal(isOverrun(took, 11), false);
  assert.equal(isOverrun(took, 10), true);
});

test('if 5.7 % of all earlier requests took 35 s, lameduck predicts an overrun of a shutdown budget of 33 s, but no overrun of a budget of 36 s', () => {
  assert.equal(isOverrun([...times(943, 0.1), ...times(57, 35)], 33), true);
  assert.equal(isOverrun([...times(943, 0.1), ...times(57, 35)], 36), false);
});
