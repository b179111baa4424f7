import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { describe, test } from 'node:test';
import { Exposition } from '../../support/exposition.ts';
import { ask, measure, next, quiet } from '../../support/measured.ts';
import { describeProbedAdapters } from '../../support/serving.ts';
import { until } from '../../support/until.ts';
import { eventSource } from '../../support/watching.ts';

const duration = 'http_server_request_duration_seconds';

describeProbedAdapters((adapter) => {
  test('the HTTP metrics count requests, and can be scraped on the same connection as the requests', async (t) => {
    const serving = await measure(t, { adapter });
    const client = await serving.dial();
    client.get('/');
    await next(client);
    client.get('/stream');
    await next(client);
    await quiet(serving);
    client.get('/metrics');
    const { status, body } = await next(client);
    assert.equal(status, 200);
    const found = new Exposition(body);
    assert.equal(found.value(`${duration}_count`, { http_request_method: 'GET', http_response_status_code: '200' }), 2);
    assert.equal(found.value('lameduck_connections'), 1);
    assert.equal(found.value('lameduck_connections_accepted_total'), 1);
  });
});

describe('the HTTP metrics count each request by method, status and route', () => {
  test('requests on a keep-alive connection are counted individually, with method and status', async (t) => {
    const serving = await measure(t);
    const client = await serving.dial();
    for (const path of ['/', '/', '/404']) {
      client.get(path);
      await next(client);
    }
    client.send('HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    client.send('PROPFIND / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await until(() => serving.requests.length === 5);
    await quiet(serving);
    const found = await serving.scrape();
    const count = (method: string, status: string): number | undefined =>
      found.value(`${duration}_count`, { http_request_method: method, http_response_status_code: status });
    assert.deepEqual(
      [count('GET', '200'), count('GET', '404'), count('HEAD', '200'), count('_OTHER', '200')],
      [2, 1, 1, 1],
    );
    assert.equal(found.value('lameduck_requests_aborted_total'), 0);
  });

  test('pipelined requests are counted individually, even if their responses finish in another order', async (t) => {
    const serving = await measure(t);
    const client = await serving.dial();
    client.send(
      ['/later', '/', '/404', '/stream'].map((path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join(''),
    );
    for (let index = 0; index < 4; index++) await next(client);
    await quiet(serving);
    const found = await serving.scrape();
    assert.equal(found.value(`${duration}_count`, { http_response_status_code: '200' }), 3);
    assert.equal(found.value(`${duration}_count`, { http_response_status_code: '404' }), 1);
  });

  test('in the HTTP metrics, the duration of a request is the time from the arrival of its headers to the end of its response', async (t) => {
    const serving = await measure(t);
    const client = await serving.dial();
    const before = performance.now();
    client.get('/half');
    await until(() => serving.requests.length === 1);
    const held = performance.now();
    await until(() => performance.now() >= held + 20);
    serving.requests[0]?.end();
    await next(client);
    await quiet(serving);
    const sum = (await serving.scrape()).value(`${duration}_sum`) ?? 0;
    assert.ok(sum >= 0.02, String(sum));
    assert.ok(sum * 1_000 <= performance.now() - before, String(sum));
  });

  test('if a client disconnects, the HTTP metrics count its request with the status that was sent, or without a status if none was sent', async (t) => {
    const serving = await measure(t);
    for (const path of ['/hang', '/half']) {
      const client = await serving.dial();
      client.get(path);
      await until(() => serving.requests.at(-1)?.req.url === path);
      client.reset();
      await quiet(serving);
    }
    const found = await serving.scrape();
    assert.equal(found.value(`${duration}_count`, { http_response_status_code: '' }), 1);
    assert.equal(found.value(`${duration}_count`, { http_response_status_code: '200' }), 1);
    assert.equal(found.value('lameduck_requests_aborted_total'), 2);
  });

  test('if a request is aborted, the requests that the client has pipelined after it are also counted as aborted', async (t) => {
    const serving = await measure(t);
    const client = await serving.dial();
    client.send(['/hang', '/', '/404'].map((path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join(''));
    await until(() => serving.requests.length === 3);
    client.reset();
    await quiet(serving);
    const found = await serving.scrape();
    assert.equal(found.value('lameduck_requests_aborted_total'), 3);
    assert.equal(
      [...(found.families.get(duration)?.samples ?? [])].filter(({ name }) => name === `${duration}_count`).length,
      1,
    );
    assert.equal(found.value(`${duration}_count`, { http_response_status_code: '' }), 3);
  });

  test('in the metrics, a request has the route that route() returns when the request ends, and never a path', async (t) => {
    const route = ({ url }: IncomingMessage): string | undefined => {
      if (url === '/404') throw new Error('no route');
      return url === '/' ? '/{root}"\n\\' : undefined;
    };
    const serving = await measure(t, { functions: { route } });
    const client = await serving.dial();
    for (const path of ['/', '/secret?token=1', '/404']) {
      client.get(path);
      await next(client);
    }
    await quiet(serving);
    const found = await serving.scrape();
    assert.equal(found.value(`${duration}_count`, { http_route: '/{root}"\n\\' }), 1);
    assert.equal(found.value(`${duration}_count`, { http_route: '', http_response_status_code: '200' }), 1);
    assert.equal(found.value(`${duration}_count`, { http_route: '', http_response_status_code: '404' }), 1);
  });

  test('A-183, K-201 probes and scrapes are not counted as requests', async (t) => {
    const serving = await measure(t);
    const client = await serving.dial();
    for (const path of ['/readyz', '/livez?verbose', '/healthz/ping', '/metrics', '/metrics/slis', '/metrics?x']) {
      client.get(path);
      await next(client);
    }
    client.send('POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nab');
    assert.equal((await next(client)).status, 405);
    const found = await serving.scrape();
    assert.deepEqual(found.families.get(duration)?.samples, []);
    assert.deepEqual(found.families.get('http_server_active_requests')?.samples, []);
  });

  test('requests in flight are counted by method, and the gauge of a standard method, such as GET, returns to 0 after the last request', async (t) => {
    const serving = await measure(t);
    const client = await serving.dial();
    client.get('/hang');
    const other = await serving.dial();
    other.send('POST /half HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n');
    await until(() => serving.requests.length === 2);
    const active = async (method: string): Promise<number | undefined> =>
      (await serving.scrape()).value('http_server_active_requests', { http_request_method: method });
    assert.equal(await active('GET'), 1);
    assert.equal(await active('POST'), 1);
    for (const response of serving.requests) response.end();
    await quiet(serving);
    assert.equal(await active('GET'), 0);
  });
});

describe('the HTTP metrics count long-running requests separately', () => {
  test('A-186 long-running requests are counted in a gauge of their own while they are open, and never in the histogram of request durations', async (t) => {
    const serving = await measure(t, { functions: { longRunning: ({ url }) => url === '/hang' } });
    const stream = await serving.dial();
    stream.get('/events', eventSource);
    const watch = await serving.dial();
    watch.get('/hang');
    await until(() => serving.requests.length === 2);
    const open = await serving.scrape();
    assert.equal(open.value('lameduck_long_running_requests'), 2);
    assert.deepEqual(open.families.get('http_server_active_requests')?.samples, []);
    serving.requests[0]?.end();
    await next(stream);
    watch.reset();
    await until(() => serving.traffic.requests.inFlight.longRunning === 0);
    const found = await serving.scrape();
    assert.equal(found.value('lameduck_long_running_requests'), 0);
    assert.equal(found.value('lameduck_long_running_requests_ended_total'), 2);
    assert.deepEqual(found.families.get(duration)?.samples, []);
    assert.equal(found.value('lameduck_requests_aborted_total'), 0);
  });

  test('requests that are recognized as long-running only at their end do not count in the histogram of request durations', async (t) => {
    const serving = await measure(t);
    const client = await serving.dial();
    client.get('/events', eventSource);
    await until(() => serving.requests.length === 1);
    serving.requests[0]?.end();
    await next(client);
    await quiet(serving);
    const found = await serving.scrape();
    assert.equal(found.value('lameduck_long_running_requests_ended_total'), 1);
    assert.deepEqual(found.families.get(duration)?.samples, []);
  });

  test('upgraded sockets count as long-running requests until they close', async (t) => {
    const serving = await measure(t, {
      prepare(server) {
        server.on('upgrade', (_incoming, socket) => {
          socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\n');
          socket.on('error', () => undefined);
        });
      },
    });
    const client = await serving.dial();
    client.get('/', 'Connection: Upgrade\r\nUpgrade: chat\r\n');
    await next(client);
    assert.equal((await serving.scrape()).value('lameduck_long_running_requests'), 1);
    client.reset();
    await until(() => serving.traffic.requests.inFlight.longRunning === 0);
    assert.equal((await serving.scrape()).value('lameduck_long_running_requests_ended_total'), 1);
  });
});

describe('the HTTP metrics count requests that an overloaded server rejects, and requests that time out', () => {
  test('A-184 requests that the overload limit rejects are counted separately from those that a shutdown rejects', async (t) => {
    const serving = await measure(t, { maxRequestsInflight: 1 });
    const slow = await serving.dial();
    slow.get('/hang');
    await until(() => serving.requests.length === 1);
    assert.equal((await ask(serving.port, '/')).status, 429);
    const found = await serving.scrape();
    assert.equal(found.value('lameduck_requests_rejected_total'), 1);
    assert.equal(found.value('lameduck_requests_timed_out_total'), 0);
    assert.equal(found.value('lameduck_shutdown_requests_total', { outcome: 'refused' }), 0);
  });

  test('A-184 the HTTP metrics count requests that timed out, and have their durations under the status 504', async (t) => {
    const serving = await measure(t, { requestTimeout: '10ms' });
    const slow = await serving.dial();
    slow.get('/hang');
    assert.equal((await next(slow)).status, 504);
    await quiet(serving);
    const found = await serving.scrape();
    assert.equal(found.value('lameduck_requests_rejected_total'), 0);
    assert.equal(found.value('lameduck_requests_timed_out_total'), 1);
    assert.equal(found.value(`${duration}_count`), 1);
    assert.equal(found.value(`${duration}_count`, { http_response_status_code: '504' }), 1);
  });
});

describe('HTTP metrics can be switched off, and settings define their buckets and their largest number of series', () => {
  test('HTTP metrics with the names of OpenTelemetry are absent if httpMetrics is off', async (t) => {
    const serving = await measure(t, { httpMetrics: 'off' });
    const client = await serving.dial();
    client.get('/');
    await next(client);
    await quiet(serving);
    const { body } = await ask(serving.port, '/metrics');
    assert.match(body, /^lameduck_requests_aborted_total 0$/m);
    assert.doesNotMatch(body, /^(# TYPE )?http_/m);
  });

  test('requestDurationBuckets sets the buckets of the HTTP metrics, and maxMetricSeries limits their number of series', async (t) => {
    const serving = await measure(t, { requestDurationBuckets: [1, 60_000], maxMetricSeries: 5 });
    const client = await serving.dial();
    for (const path of ['/', '/404', '/']) {
      client.get(path);
      await next(client);
    }
    await quiet(serving);
    const found = await serving.scrape();
    assert.equal(found.value(`${duration}_bucket`, { le: '60', http_route: '' }), 2);
    assert.equal(found.value(`${duration}_bucket`, { le: '60', http_route: '_OTHER' }), 1);
    assert.equal(found.value('lameduck_requests_folded_total'), 1);
  });
});

describe('a failed scrape does not affect the next scrape', () => {
  test('a client that disconnects before its scrape has a response causes no error', async (t) => {
    let answer = (_text: string): void => undefined;
    const registry = {
      registerMetric: () => undefined,
      metrics: () => new Promise<string>((resolve) => (answer = resolve)),
    };
    const serving = await measure(t, { registry });
    const client = await serving.dial();
    client.get('/metrics');
    await until(() => serving.traffic.connections.values().next().value?.isBusy === true);
    client.reset();
    await until(() => serving.traffic.connections.size === 0);
    answer('late 1\n');
    const other = serving.scrape();
    // Wait until lameduck reads the registry again, for the second scrape.
    await until(() => serving.traffic.connections.values().next().value?.isBusy === true);
    answer('# HELP late Late.\n# TYPE late gauge\nlate 2\n');
    assert.equal((await other).value('late'), 2);
  });
});
