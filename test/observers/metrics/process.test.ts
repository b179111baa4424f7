import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { disposed } from '../../support/disposed.ts';
import { Exposition } from '../../support/exposition.ts';
import { ask } from '../../support/measured.ts';
import { ProcessUnderTest } from '../../support/process-under-test.ts';

const env = { ADAPTER: 'node:http', LAMEDUCK_METRICS_PATH: '/metrics', LAMEDUCK_SHUTDOWN_DELAY_DURATION: '1s' };

async function scrape(port: number, path = '/metrics'): Promise<Exposition> {
  const { status, body } = await ask(port, path);
  assert.equal(status, 200);
  return new Exposition(body);
}

/** `hang()` opens `count` connections, each with a request that gets no response. */
function hang(scope: TestContext, port: number, count: number): Socket[] {
  return Array.from({ length: count }, () => {
    const client = connect(port, '127.0.0.1');
    scope.after(() => client.destroy());
    client.on('error', () => undefined);
    client.write('GET /hang HTTP/1.1\r\nHost: localhost\r\n\r\n');
    return client;
  });
}

test('a process can be scraped until it ends, and scrapes do not delay its end', async (t) => {
  const child = disposed(t, new ProcessUnderTest('serve.ts', env));
  const port = await child.ready();
  await ask(port, '/?after=1');
  const before = await scrape(port);
  assert.equal(before.value('http_server_request_duration_seconds_count'), 1);
  assert.equal(before.value('lameduck_shutdown_remaining_seconds'), undefined);
  assert.ok((before.value('process_cpu_seconds_total') ?? 0) > 0);
  child.kill('SIGTERM');
  await child.signaled('ShutdownInitiated');
  const inDelay = await scrape(port);
  assert.equal(inDelay.value('lameduck_lifecycle_signal', { signal: 'ShutdownInitiated' }), 1);
  assert.ok((inDelay.value('lameduck_shutdown_predicted_seconds') ?? 0) >= 1);
  assert.equal(inDelay.value('lameduck_shutdown_overrun_predicted'), 0);
  const record = await child.finalLine();
  assert.deepEqual(record['heldBy'], []);
  assert.deepEqual(await child.exit, { code: 0, signal: null });
  assert.equal(child.stderr, '');
});

test('a scrape during a thousand requests in flight counts all of them', async (t) => {
  const child = disposed(t, new ProcessUnderTest('serve.ts', env));
  const port = await child.ready();
  const active = async (): Promise<number> =>
    (await scrape(port)).value('http_server_active_requests', { http_request_method: 'GET' }) ?? 0;
  const clients: Socket[] = [];
  // The kernel queues at most 511 new connections for a listening socket. If this queue is full, the kernel of a client
  // sends the SYN again only after 1 s.
  while (clients.length < 1_000) {
    clients.push(...hang(t, port, 250));
    for (let attempt = 0; (await active()) < clients.length; attempt++) {
      assert.ok(attempt < 200, `never ${String(clients.length)}`);
    }
  }
  const scrapes = await Promise.all(Array.from({ length: 20 }, () => scrape(port)));
  for (const found of scrapes) assert.equal(found.value('http_server_active_requests'), 1_000);
  for (const client of clients) client.destroy();
  for (let attempt = 0; (await active()) > 0; attempt++) assert.ok(attempt < 200, 'never none');
  const found = await scrape(port);
  assert.equal(found.value('lameduck_requests_aborted_total'), 1_000);
  assert.equal(found.value('http_server_request_duration_seconds_count', { http_response_status_code: '' }), 1_000);
});
