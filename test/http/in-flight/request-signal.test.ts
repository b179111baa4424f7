import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serve, shutdownOf } from '../../support/serving.ts';
import { until } from '../../support/until.ts';

test('P-028 the AbortSignal of an ordinary request is aborted only at the deadline of the drain, with a reason that names the shutdown budget', async (t) => {
  const reasons: string[] = [];
  const serving = await serve(t, {
    listener: (request) => {
      const signal = serving.handle.abortSignal(request);
      signal.addEventListener('abort', () => reasons.push((signal.reason as Error).message));
      assert.equal(
        serving.handle.abortSignal(request),
        signal,
        'abortSignal() must return the same AbortSignal each time',
      );
    },
  });
  const client = await serving.dial();
  client.get('/');
  await until(() => serving.traffic.counts.requestsInFlight === 1);
  const { ended } = shutdownOf(serving);
  await serving.handle.signals.httpServerStoppedListening.signaled;
  assert.deepEqual(reasons, []);
  void serving.handle.shutdown('sooner', { budget: '3100ms' });
  assert.equal((await ended).exitCode, 80);
  assert.deepEqual(reasons, ['the request was aborted: the shutdown budget is over']);
});

test('P-021 the AbortSignal of a request is aborted when its client disconnects', async (t) => {
  let reason: Error | undefined;
  const serving = await serve(t, {
    listener: (request) => {
      const signal = serving.handle.abortSignal(request);
      signal.addEventListener('abort', () => (reason = signal.reason as Error));
    },
  });
  const client = await serving.dial();
  client.get('/');
  await until(() => serving.traffic.counts.requestsInFlight === 1);
  client.reset();
  await until(() => reason !== undefined);
  assert.equal(reason?.message, 'the request was aborted: the client disconnected');
  assert.equal((reason as Error & { code?: string }).code, 'LAMEDUCK_ERR_REQUEST_ENDED');
});

test('the AbortSignal of a request that gets its response is never aborted', async (t) => {
  let signal: AbortSignal | undefined;
  const serving = await serve(t, {
    listener: (request, response) => {
      signal = serving.handle.abortSignal(request);
      response.end('done');
    },
  });
  const client = await serving.dial();
  client.get('/');
  await client.reader.next();
  client.reset();
  assert.equal((await shutdownOf(serving).ended).exitCode, 0);
  assert.equal(signal?.aborted, false);
});

test('abortSignal throws LAMEDUCK_ERR_REQUEST_INVALID if its argument is not a request', async (t) => {
  const serving = await serve(t, { listener: () => undefined });
  for (const given of [undefined, null, {}, 'GET /', { raw: 1 }]) {
    assert.throws(() => serving.handle.abortSignal(given as never), { code: 'LAMEDUCK_ERR_REQUEST_INVALID' });
  }
});
