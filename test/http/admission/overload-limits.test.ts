import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { it, test } from 'node:test';
import { systemClock } from '../../../src/clock.ts';
import { createOverload } from '../../../src/http/admission/overload-limits.ts';
import { describeAdapters, noProbes, serve, shutdownOf } from '../../support/serving.ts';
import { eventSource } from '../../support/watching.ts';
import { until } from '../../support/until.ts';

/**
 * `waiting()` returns a request listener that sends no response until the test calls the function in `answer` for the
 * path.
 */
function waiting(): {
  listener: (request: IncomingMessage, response: ServerResponse) => void;
  answer: Map<string, () => void>;
} {
  const answer = new Map<string, () => void>();
  return {
    answer,
    listener: ({ url = '' }, response) => {
      answer.set(url, () => response.end(url));
    },
  };
}

describeAdapters((adapter) => {
  it('A-174, A-176 a request beyond maxRequestsInflight gets a 429 on a connection that stays open, and is served after the first request ends', async (t) => {
    const { listener, answer } = waiting();
    const serving = await serve(t, { adapter, maxRequestsInflight: 1, listener });
    const [first, second] = [await serving.dial(), await serving.dial()];
    first.get('/first');
    await until(() => answer.has('/first'));
    for (let attempt = 0; attempt < 3; attempt++) {
      second.get('/second');
      const rejected = await second.reader.next();
      assert.deepEqual([rejected?.status, rejected?.isClose], [429, false]);
      assert.match(rejected?.head ?? '', /retry-after: 1\r\n/i);
      assert.equal(rejected?.body, 'There are too many requests in flight, please try again later.\n');
    }
    answer.get('/first')?.();
    assert.equal((await first.reader.next())?.body, '/first');
    second.get('/second');
    await until(() => answer.has('/second'));
    answer.get('/second')?.();
    assert.equal((await second.reader.next())?.body, '/second');
    assert.equal(serving.traffic.requests.inFlight.totals.rejected, 3);
    await until(() => serving.traffic.counts.requestsInFlight === 0);
  });

  it("A-071, A-174, P-122 lameduck's own response to HEAD has no body, so a server with the option rejectNonStandardBodyWrites keeps running", async (t) => {
    const { listener, answer } = waiting();
    const serving = await serve(t, {
      adapter,
      maxRequestsInflight: 1,
      readinessPaths: ['/health'],
      shutdownDelayDuration: '60s',
      listener,
      patch: (server) => Object.assign(server, { rejectNonStandardBodyWrites: true }),
    });
    const headOf = async (path: string): Promise<string> => {
      const client = await serving.dial();
      let received = '';
      client.socket.on('data', (text: string) => (received += text));
      client.send(`HEAD ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
      await client.ended();
      return received;
    };
    const first = await serving.dial();
    first.get('/first');
    await until(() => answer.has('/first'));
    assert.match(await headOf('/second'), /^HTTP\/1\.1 429 [^]*\r\nContent-Length: 63\r\n[^]*\r\n\r\n$/);
    if (noProbes(adapter) === false)
      assert.match(await headOf('/livez'), /^HTTP\/1\.1 200 [^]*\r\nContent-Length: 2\r\n[^]*\r\n\r\n$/);
    void shutdownOf(serving);
    assert.match(await headOf('/health'), /^HTTP\/1\.1 503 [^]*\r\nContent-Length: 29\r\n[^]*\r\n\r\n$/);
    answer.get('/first')?.();
    assert.equal((await first.reader.next())?.body, '/first');
  });

  it('A-174, P-024, P-030 a request that a checkContinue listener passes to the request listener counts once against maxRequestsInflight, until its client has disconnected', async (t) => {
    let gone = 0;
    const serving = await serve(t, {
      adapter,
      maxRequestsInflight: 1,
      listener: (_, response) => response.end('ok'),
      prepare: (server) =>
        server.on('checkContinue', (request, response) => {
          const passOn = (): unknown => server.emit('request', request, response);
          if (request.url === '/now') passOn();
          else
            response.on('close', () => {
              gone++;
              passOn();
            });
        }),
    });
    const [first, second] = [await serving.dial(), await serving.dial()];
    first.get('/later', 'Expect: 100-continue\r\n');
    await until(() => serving.traffic.counts.requestsInFlight === 1);
    first.reset();
    await until(() => gone === 1);
    assert.equal(serving.traffic.counts.requestsInFlight, 0);
    second.get('/now', 'Expect: 100-continue\r\n');
    assert.equal((await second.reader.next())?.body, 'ok');
    await until(() => serving.traffic.counts.requestsInFlight === 0);
  });

  it('A-170, A-171 a request whose handler writes nothing gets 504 at requestTimeout, and later writes of the handler do not throw', async (t) => {
    let response: ServerResponse | undefined;
    let signal: AbortSignal | undefined;
    const serving = await serve(t, {
      adapter,
      requestTimeout: '100ms',
      listener: (request, given) => {
        response = given;
        signal = serving.handle.abortSignal(request);
      },
    });
    const client = await serving.dial();
    client.get('/');
    const answer = await client.reader.next();
    assert.deepEqual([answer?.status, answer?.body], [504, 'The request was not completed in time.\n']);
    assert.equal(signal?.aborted, true);
    response?.writeHead(200, { 'X-Late': 'yes' });
    (response as { writeHeader?: ServerResponse['writeHead'] } | undefined)?.writeHeader?.(200);
    response?.end('too late');
    assert.equal(
      answer?.isClose,
      true,
      'the 504 must have Connection: close, because the handler may still write to the socket',
    );
    assert.equal(serving.traffic.requests.inFlight.totals.timedOut, 1);
  });

  it('A-172 a response that has begun is broken off at requestTimeout, and the client does not mistake the part for the whole response', async (t) => {
    const serving = await serve(t, {
      adapter,
      requestTimeout: '100ms',
      listener: (_, response) => response.write('a part'),
    });
    const client = await serving.dial();
    client.get('/');
    assert.equal(await client.reader.next(), undefined);
    assert.ok(client.reader.received > 0);
  });

  it('A-112, A-174 event streams have no requestTimeout and do not count against maxRequestsInflight', async (t) => {
    const serving = await serve(t, {
      adapter,
      maxRequestsInflight: 1,
      requestTimeout: '100ms',
      listener: (request, response) => {
        if (request.url === '/slow') return;
        if (request.url !== '/events') response.end('at once');
        else response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('data: 1\n\n');
      },
    });
    const streams = [await serving.dial(), await serving.dial(), await serving.dial()];
    for (const stream of streams) {
      stream.get('/events', eventSource);
      await until(() => stream.reader.received > 0);
    }
    const slow = await serving.dial();
    slow.get('/slow');
    assert.equal((await slow.reader.next())?.status, 504);
    assert.equal(serving.traffic.counts.longRunningRequests, 3);
    const client = await serving.dial();
    client.get('/quick');
    assert.equal((await client.reader.next())?.status, 200);
    const { ended } = shutdownOf(serving);
    for (const stream of streams) assert.equal((await stream.reader.next())?.status, 200);
    assert.deepEqual([(await ended).exitCode, (await ended).longRunningEnded], [0, 3]);
  });
});

test('A-170 the query parameter timeout, if it is a Go duration, can shorten requestTimeout but not extend it, and other values reach the program unchanged', async (t) => {
  const serving = await serve(t, {
    requestTimeout: '400ms',
    listener: ({ url }, response) => {
      if (url === '/?timeout=soon') response.end('the program’s own');
    },
  });
  const took = async (path: string, on = serving): Promise<number> => {
    const client = await on.dial();
    const since = performance.now();
    client.get(path);
    await client.reader.next();
    return performance.now() - since;
  };
  const patient = await serve(t, { requestTimeout: '9s', listener: () => undefined });
  assert.ok((await took('/?a=b&timeout=50ms', patient)) < 8_000);
  for (const path of ['/?timeout=1h', '/?timeout=0', '/?timeout=-5s', '/?timeout=5', '/?mytimeout=1ms', '/']) {
    assert.ok((await took(path)) >= 390, path);
  }
  const client = await serving.dial();
  client.get('/?timeout=soon');
  assert.equal((await client.reader.next())?.status, 200);
});

test('A-103, K-201 probes get responses while maxRequestsInflight is exceeded', async (t) => {
  const { listener, answer } = waiting();
  const serving = await serve(t, { maxRequestsInflight: 1, requestTimeout: '5s', listener });
  const [client, probe] = [await serving.dial(), await serving.dial()];
  client.get('/');
  await until(() => answer.has('/'));
  probe.get('/readyz');
  assert.equal((await probe.reader.next())?.status, 200);
  answer.get('/')?.();
  await client.reader.next();
});

test('A-174 rejected requests do not count against maxRequestsInflight, even if a hundred of them arrive at the same time', async (t) => {
  const { listener, answer } = waiting();
  const serving = await serve(t, { maxRequestsInflight: 1, listener });
  const [first, flood] = [await serving.dial(), await serving.dial()];
  first.get('/first');
  await until(() => answer.has('/first'));
  for (let index = 0; index < 100; index++) flood.get('/flood');
  for (let index = 0; index < 100; index++) assert.equal((await flood.reader.next())?.status, 429);
  assert.equal(serving.traffic.counts.requestsInFlight, 1);
  answer.get('/first')?.();
  await first.reader.next();
});

test('without maxRequestsInflight and requestTimeout, the server limits neither the number nor the time of requests', async (t) => {
  const serving = await serve(t, { listener: (_, response) => response.end() });
  const noLimits = { requestTimeout: 0, maxRequestsInflight: 0 };
  assert.equal(createOverload(systemClock, noLimits, serving.traffic.requests), undefined);
});

test('A-173 a shutdown does not wait for the handler of a request that already got its 504', async (t) => {
  const serving = await serve(t, { requestTimeout: '50ms', listener: () => undefined });
  const client = await serving.dial();
  client.get('/');
  assert.equal((await client.reader.next())?.status, 504);
  assert.equal((await shutdownOf(serving).ended).exitCode, 0);
});

test('A-172 if requestTimeout cuts an HTTP/1.0 response, the connection ends with a reset, not with a FIN', async (t) => {
  const serving = await serve(t, { requestTimeout: '100ms', listener: (_, response) => response.write('a part') });
  const client = await serving.dial();
  client.send('GET / HTTP/1.0\r\n\r\n');
  await client.ended();
  assert.equal(client.reader.error, 'ECONNRESET');
});

test('A-171 if requestTimeout aborts the AbortSignal of a request, and the handler then sends a response, the client gets this response', async (t) => {
  const serving = await serve(t, {
    requestTimeout: '50ms',
    listener: (request, response) => {
      serving.handle.abortSignal(request).addEventListener('abort', () => response.end('just in time'));
    },
  });
  const client = await serving.dial();
  client.get('/');
  assert.equal((await client.reader.next())?.body, 'just in time');
  assert.equal(serving.traffic.requests.inFlight.totals.timedOut, 0);
});

test('A-173 write() returns false in a handler whose request already got its 504, so that the handler waits instead of writing in a loop', async (t) => {
  let answer: ServerResponse | undefined;
  const serving = await serve(t, { requestTimeout: '50ms', listener: (_, response) => (answer = response) });
  const client = await serving.dial();
  client.get('/');
  await client.reader.next();
  assert.equal(answer?.write('more'), false);
});
