import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { Registry } from 'prom-client';
import { signalNames } from '../../../src/lifecycle/graph.ts';
import type { Parts } from '../../../src/parts.ts';
import type { SettingsOptions } from '../../../src/settings/table.ts';
import { disposed } from '../../support/disposed.ts';
import { Exposition } from '../../support/exposition.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { HeldRequest } from '../../support/held-request.ts';
import { neverAnswers, ServerUnderTest } from '../../support/lifecycle-under-test.ts';
import { manage } from '../../support/manage.ts';
import { ask, measure, next } from '../../support/measured.ts';
import { RecordingObserver } from '../../support/recording-observer.ts';
import { until } from '../../support/until.ts';

interface UnderTest extends Parts {
  readonly clock: FakeClock;
  /** `read()` returns the current metrics of the program's own metrics registry. */
  readonly read: () => Promise<Exposition>;
  /** `hang()` sends a request that gets no response. */
  readonly hang: () => Promise<Socket>;
}

/** Starts a ready server that never responds, on a clock that the test advances. */
async function readyUnderTest(scope: TestContext, options: SettingsOptions = {}): Promise<UnderTest> {
  const { server } = disposed(scope, new ServerUnderTest(neverAnswers));
  const [clock, observer, registry] = [new FakeClock(), new RecordingObserver(), new Registry()];
  const parts = manage([server], options, { clock, observer, registry });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  await parts.handle.signals.hasBeenReady.signaled;
  return {
    ...parts,
    clock,
    read: async () => new Exposition(await registry.metrics()),
    async hang() {
      const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
      scope.after(() => client.destroy());
      client.on('error', () => undefined);
      const arrived = once(server, 'request');
      client.write('POST /slow HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n');
      await arrived;
      return client;
    },
  };
}

/**
 * Returns the metrics of the shutdown that have a single value. Each key is the name of a metric without the prefix
 * `lameduck_shutdown_`.
 */
const shutdownOf = (found: Exposition): Record<string, number | undefined> =>
  Object.fromEntries(
    ['budget_seconds', 'drain_budget_seconds', 'remaining_seconds', 'predicted_seconds', 'overrun_predicted'].map(
      (name) => [name, found.value(`lameduck_shutdown_${name}`)],
    ),
  );

test('A-188 the metrics say for each lifecycle signal whether the signal has fired, and how long the phase before the signal took', async (t) => {
  const { handle, clock, read } = await readyUnderTest(t, { shutdownDelayDuration: '10s' });
  const signals = (found: Exposition): string[] =>
    signalNames.filter((signal) => found.value('lameduck_lifecycle_signal', { signal }) === 1);
  assert.deepEqual(signals(await read()), ['MuxAndDiscoveryComplete', 'HasBeenReady']);
  let atTheEnd: Exposition | undefined;
  handle.addDestroyHook('look', async () => {
    atTheEnd = await read();
  });
  await clock.advance(4_000);
  const ended = handle.shutdown('test');
  await clock.advance(3_000);
  const inDelay = await read();
  assert.deepEqual(signals(inDelay), [
    'MuxAndDiscoveryComplete',
    'HasBeenReady',
    'ShutdownInitiated',
    'PreShutdownHooksStopped',
  ]);
  const phase = (signal: string): number | undefined =>
    inDelay.value('lameduck_lifecycle_phase_duration_seconds', { signal });
  assert.equal(phase('ShutdownInitiated'), 4);
  assert.equal(phase('AfterShutdownDelayDuration'), undefined);
  await clock.advanceUntil('the end', ended);
  assert.ok(atTheEnd);
  assert.deepEqual(signals(atTheEnd), [...signalNames]);
  assert.equal(
    atTheEnd.value('lameduck_lifecycle_phase_duration_seconds', { signal: 'AfterShutdownDelayDuration' }),
    10,
  );
});

test('the metrics contain the shutdown budget, the part of it for the drain, and, during a shutdown, the remaining time of the budget', async (t) => {
  const { handle, clock, read } = await readyUnderTest(t, { shutdownDelayDuration: '10s' });
  handle.addPreShutdownHook('long', () => new Promise(() => undefined), { timeout: '12s' });
  assert.deepEqual(shutdownOf(await read()), {
    budget_seconds: 28,
    drain_budget_seconds: 13,
    remaining_seconds: undefined,
    predicted_seconds: 12,
    overrun_predicted: 0,
  });
  const ended = handle.shutdown('test');
  await clock.advance(3_000);
  assert.deepEqual(shutdownOf(await read()), {
    budget_seconds: 28,
    drain_budget_seconds: 13,
    remaining_seconds: 25,
    predicted_seconds: 12,
    overrun_predicted: 0,
  });
  void handle.shutdown('sooner', { budget: '17s' });
  assert.deepEqual(shutdownOf(await read()), {
    budget_seconds: 20,
    drain_budget_seconds: 5,
    remaining_seconds: 17,
    predicted_seconds: 12,
    overrun_predicted: 0,
  });
  await clock.advanceUntil('the end', ended);
});

test('lameduck_shutdown_overrun_predicted is up to date before the shutdown and during the shutdown delay, while Prometheus can still scrape the process', async (t) => {
  const { handle, clock, read, hang } = await readyUnderTest(t, { shutdownDelayDuration: '10s' });
  const client = await hang();
  await clock.advance(15_000);
  assert.deepEqual(
    [
      (await read()).value('lameduck_shutdown_predicted_seconds'),
      (await read()).value('lameduck_shutdown_overrun_predicted'),
    ],
    [25, 0],
  );
  const ended = handle.shutdown('test');
  await clock.advance(2_000);
  const inDelay = await read();
  assert.equal(inDelay.value('http_server_active_requests', { http_request_method: 'POST' }), 1);
  assert.deepEqual(
    [inDelay.value('lameduck_shutdown_predicted_seconds'), inDelay.value('lameduck_shutdown_overrun_predicted')],
    [27, 1],
  );
  client.resetAndDestroy();
  await clock.advanceUntil('the end', ended);
});

test("the lifecycle's metrics of requests equal the counts in the record of the shutdown", async (t) => {
  const { handle, clock, read, hang } = await readyUnderTest(t, { shutdownDelayDuration: '0s' });
  let found: Exposition | undefined;
  handle.addDestroyHook('push', async () => {
    found = await read();
  });
  await hang();
  await hang();
  const record = await clock.advanceUntil('the end', handle.shutdown('test'));
  assert.equal(record.requests.cut, 2);
  assert.equal(found?.value('lameduck_shutdown_requests_total', { outcome: 'cut' }), 2);
  assert.equal(found.value('lameduck_shutdown_requests_total', { outcome: 'answered' }), 0);
  assert.equal(found.value('lameduck_requests_aborted_total'), 2);
  assert.equal(found.value('http_server_request_duration_seconds_count', { http_response_status_code: '' }), 2);
});

test('the metrics of hooks have the duration of each hook, and the number of failed hooks by kind', async (t) => {
  const { handle, clock, read } = await readyUnderTest(t, { shutdownDelayDuration: '10s' });
  handle.addPreShutdownHook('quick', async () => {
    await new Promise<void>((resolve) => clock.after(250, resolve));
  });
  handle.addPreShutdownHook('hangs', () => new Promise(() => undefined), { timeout: '2s' });
  handle.addPreShutdownHook('fails', () => {
    throw new Error('no');
  });
  const ended = handle.shutdown('test');
  await clock.advance(1_000);
  const early = await read();
  assert.equal(early.value('lameduck_hook_duration_seconds', { kind: 'pre-shutdown', name: 'quick' }), 0.25);
  assert.equal(early.value('lameduck_hook_duration_seconds', { name: 'hangs' }), undefined);
  await clock.advance(5_000);
  const found = await read();
  assert.equal(found.value('lameduck_hook_duration_seconds', { name: 'hangs' }), 2);
  assert.equal(found.value('lameduck_hook_duration_seconds', { name: 'fails' }), 0);
  assert.equal(found.value('lameduck_hook_failures_total', { kind: 'pre-shutdown' }), 2);
  assert.equal(found.value('lameduck_hook_failures_total', { kind: 'destroy' }), 0);
  await clock.advanceUntil('the end', ended);
});

test('a scrape during the shutdown is served on an open connection, until the server sends Connection: close on this connection', async (t) => {
  const serving = await measure(t, { shutdownDelayDuration: '30s', terminationGracePeriodSeconds: 60 });
  const kept = await serving.dial();
  kept.get('/');
  await next(kept);
  void serving.handle.shutdown('test');
  kept.get('/metrics');
  const { status, body } = await next(kept);
  assert.equal(status, 200);
  const found = new Exposition(body);
  assert.equal(found.value('lameduck_lifecycle_signal', { signal: 'ShutdownInitiated' }), 1);
  assert.equal(found.value('lameduck_shutdown_predicted_seconds'), 30);
  assert.ok((found.value('lameduck_shutdown_remaining_seconds') ?? 0) > 50);
});

test('A-111, A-126 scrapes are exempt from the 429 of a shutdown, and are not in the metric of request durations', async (t) => {
  const serving = await measure(t, {
    shutdownDelayDuration: '0s',
    shutdownSendRetryAfter: true,
    listener(request, response) {
      if (request.headers.expect !== undefined) response.writeContinue();
      request.resume().on('end', () => response.end('served\n'));
    },
  });
  const held = await HeldRequest.open(t, serving.port);
  const ended = serving.handle.shutdown('test');
  await serving.handle.signals.notAcceptingNewRequest.signaled;
  await until(() => serving.signals.includes('NotAcceptingNewRequest'));
  assert.equal((await ask(serving.port, '/')).status, 429);
  assert.equal((await ask(serving.port, '/metrics/slis')).status, 200);
  const found = await serving.scrape();
  assert.equal(found.value('lameduck_shutdown_requests_total', { outcome: 'refused' }), 1);
  assert.deepEqual(found.families.get('http_server_request_duration_seconds')?.samples, []);
  await held.release();
  await ended;
});
