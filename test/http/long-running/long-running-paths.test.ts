// Tests the setting that names long-running requests by path, for programs whose code cannot be changed.
import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { withPaths } from '../../../src/http/in-flight/request-functions.ts';
import type { HttpRequest } from '../../../src/message.ts';
import { startUnderRegister } from '../../support/under-register.ts';
import { describeAdapters, serve, shutdownOf } from '../../support/serving.ts';
import { describeKinds, serve as serveHttp2 } from '../../support/serving-http2.ts';
import { disposed } from '../../support/disposed.ts';
import { HeldRequest } from '../../support/held-request.ts';
import { until } from '../../support/until.ts';

void describe('longRunningPaths', () => {
  const none = { longRunning: undefined, route: undefined };
  const isNamed = (paths: readonly string[], url: string): boolean =>
    withPaths(none, paths).longRunning?.({ url } as HttpRequest) === true;

  for (const [url, isLongRunning] of [
    ['/socket.io', true],
    ['/socket.io/', true],
    ['/socket.io/?EIO=4&transport=polling', true],
    ['/socket.io?EIO=4', true],
    ['/shop.Orders/Watch', true],
    ['/shop.Orders/Watch/', true],
    ['/socket.iO/', false],
    ['/socket.ioo', false],
    ['/api/socket.io', false],
    ['/?next=/socket.io/', false],
    ['/shop.Orders', false],
    ['/shop.Orders/WatchAll', false],
    ['*', false],
    ['/', false],
  ] as const) {
    test(`A-112 the long-running paths /socket.io/ and /shop.Orders/Watch ${isLongRunning ? 'include' : 'do not include'} ${url}`, () => {
      assert.equal(isNamed(['/socket.io/', '/shop.Orders/Watch'], url), isLongRunning);
    });
  }

  test('A-112 a request is long-running if either longRunningPaths or the longRunning function names it', () => {
    const byFunction = { longRunning: ({ url }: HttpRequest) => url === '/watch', route: undefined };
    assert.equal(withPaths(byFunction, []), byFunction);
    const { longRunning } = withPaths(byFunction, ['/poll']);
    const urls = ['/poll', '/watch', '/other'];
    assert.deepEqual(
      urls.map((url) => longRunning?.({ url } as HttpRequest) === true),
      [true, true, false],
    );
  });
});

describeAdapters((adapter) => {
  it('A-112, P-033, P-035 at the end of the grace period for long-running requests, the drain answers a request below a long-running path; the drain waits for every other request', async (t) => {
    const serving = await serve(t, {
      adapter,
      longRunningPaths: '/poll',
      shutdownWatchTerminationGracePeriod: '0s',
      listener: ({ url }, response) => {
        if (url === '/export')
          void serving.handle.signals.httpServerStoppedListening.signaled.then(() => response.end());
      },
    });
    const [poll, other] = [await serving.dial(), await serving.dial()];
    poll.get('/poll/news?after=7');
    other.get('/export');
    await until(() => serving.traffic.counts.longRunningRequests === 1);
    await until(() => serving.traffic.counts.requestsInFlight === 1);
    const { ended } = shutdownOf(serving);
    assert.equal((await poll.reader.next())?.status, 503);
    assert.equal((await other.reader.next())?.status, 200);
    const { exitCode, requests, longRunningEnded } = await ended;
    assert.deepEqual([exitCode, requests.answered, longRunningEnded], [0, 1, 1]);
  });
});

describeKinds((kind) => {
  it('A-112, P-033 if the path of an HTTP/2 stream is below one of the longRunningPaths, the drain ends the stream, and does not wait until the handler ends it', async (t) => {
    const serving = await serveHttp2(t, kind, {
      longRunningPaths: ['/shop.Orders'],
      listener: (_, answer) => {
        answer.respond(200);
        answer.write('first');
      },
    });
    const client = await serving.dial();
    const stream = client.request('/shop.Orders/Watch');
    await until(() => serving.traffic.counts.longRunningRequests === 1);
    const { exitCode, longRunningEnded } = await serving.handle.shutdown('test');
    assert.deepEqual([exitCode, longRunningEnded], [0, 1]);
    const { body, isWhole } = await stream;
    assert.deepEqual([body, isWhole], ['first', true]);
  });
});

test('P-033, P-035 LAMEDUCK_LONG_RUNNING_PATHS makes lameduck treat requests as long-running in a program that uses lameduck/register', async (t) => {
  const env = { LAMEDUCK_LONG_RUNNING_PATHS: '/held', LAMEDUCK_SHUTDOWN_WATCH_TERMINATION_GRACE_PERIOD: '0s' };
  const subject = disposed(t, startUnderRegister('knows-nothing.ts', env));
  const request = await HeldRequest.open(t, await subject.ready());
  subject.kill('SIGTERM');
  await request.cut();
  assert.match(request.head, /^HTTP\/1\.1 503 [^]*Retry-After: 1/);
  assert.deepEqual(await subject.exit, { code: 0, signal: null });
  const { longRunningEnded, unfinished } = await subject.finalLine();
  assert.deepEqual([longRunningEnded, unfinished], [1, []]);
});
