// Tests the program's own health paths, before and after ShutdownInitiated.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { it, test } from 'node:test';
import { describeAdapters, describeProbedAdapters, serve } from '../support/serving.ts';
import { describeKinds, serve as serveHttp2 } from '../support/serving-http2.ts';

/**
 * The shutdown delay of the server under test. It is long enough for each test to send all its requests during the
 * delay.
 */
const delay = '60s';

const own = (_: unknown, response: ServerResponse): void => {
  response.end('own');
};

describeAdapters((adapter) => {
  it('P-122 GET and HEAD on the readinessPaths get 503 from ShutdownInitiated on, and every other request reaches the program', async (t) => {
    const readinessPaths = ['/health', '/ready/'];
    const serving = await serve(t, { adapter, readinessPaths, shutdownDelayDuration: delay, listener: own });
    const client = await serving.dial();
    const ask = async (line: string) => {
      client.send(`${line} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n`);
      return (await client.reader.next())?.status;
    };
    for (const line of ['GET /health', 'GET /ready?verbose']) assert.equal(await ask(line), 200);
    client.socket.destroy();

    const ended = serving.handle.shutdown('test');
    for (const [line, status] of [
      ['GET /health', 503],
      ['GET /ready?from=load-balancer', 503],
      ['POST /health', 200],
      ['GET /health/', 503],
      ['GET /ready?/', 503],
      ['GET /ready/?verbose', 503],
      ['GET /health//', 200],
      ['GET /%68ealth', 200],
      ['GET /Health', 200],
      ['GET /', 200],
    ] as const) {
      const one = await serving.dial();
      one.send(`${line} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n`);
      const answer = await one.reader.next();
      assert.equal(answer?.status, status, line);
      if (status === 503) assert.match(answer.head, /content-length: 29\r\n/i);
    }
    const head = await serving.dial();
    let text = '';
    head.socket.on('data', (data: string) => (text += data));
    head.send('HEAD /ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    await head.ended();
    assert.match(text, /^HTTP\/1\.1 503 [^]*\r\n\r\n$/);
    await serving.handle.shutdown('test', { budget: 1 });
    const record = await ended;
    assert.deepEqual([record.exitCode, record.requests.answered, record.requests.cut], [0, 5, 0]);
  });

  it('P-001, P-122 during the shutdown delay, a 503 on a readiness path has Connection: close only after the close time that lameduck has chosen at random for the connection', async (t) => {
    const serving = await serve(t, {
      adapter,
      readinessPaths: ['/health'],
      shutdownDelayDuration: delay,
      listener: own,
    });
    const client = await serving.dial();
    void serving.handle.shutdown('test');
    const isClose: (boolean | undefined)[] = [];
    for (const closeAt of [Infinity, 0]) {
      for (const connection of serving.traffic.connections) connection.setCloseTimes(closeAt, closeAt);
      client.get('/health');
      isClose.push((await client.reader.next())?.isClose);
    }
    assert.deepEqual(isClose, [false, true]);
    await serving.handle.shutdown('test', { budget: 1 });
  });
});

describeKinds((kind) => {
  it('P-122 during a shutdown, a request over HTTP/2 to one of the readinessPaths also gets a 503', async (t) => {
    const serving = await serveHttp2(t, kind, {
      readinessPaths: '/health',
      shutdownDelayDuration: delay,
      listener: (_, answer) => {
        answer.respond(200);
        answer.end('own');
      },
    });
    const client = await serving.dial();
    assert.equal((await client.request('/health')).body, 'own');
    void serving.handle.shutdown('test');
    for (const connection of serving.traffic.connections) connection.setCloseTimes(Infinity, Infinity);
    const red = await client.request('/health?x=1');
    assert.deepEqual([red.status, red.isWhole], [503, true]);
    assert.equal((await client.request('/health', { ':method': 'HEAD' })).status, 503);
    assert.equal((await client.request('/health', { ':method': 'POST' })).status, 200);
    assert.equal((await serving.handle.shutdown('test', { budget: 1 })).exitCode, 0);
  });
});

describeProbedAdapters((adapter) => {
  it('P-080 with probePaths off, requests for the probe paths are passed to the program', async (t) => {
    const serving = await serve(t, { adapter, probePaths: 'off', listener: own });
    const client = await serving.dial();
    for (const path of ['/readyz', '/livez', '/healthz?verbose']) {
      client.get(path);
      assert.match((await client.reader.next())?.body ?? '', /own/, path);
    }
    const answer = await serving.answerProbePort('/readyz', 'GET');
    assert.equal(answer?.status, 200, 'the probe port must still serve the probe paths');
  });
});

test('P-080 readinessPaths may contain a path such as /readyz if probePaths is off', async (t) => {
  const options = { probePaths: 'off', readinessPaths: ['/readyz'], shutdownDelayDuration: '100ms' } as const;
  const serving = await serve(t, { ...options, listener: own });
  const client = await serving.dial();
  client.get('/readyz');
  assert.match((await client.reader.next())?.body ?? '', /own/);
  const ended = serving.handle.shutdown('test');
  client.get('/readyz');
  assert.equal((await client.reader.next())?.status, 503);
  assert.equal((await ended).exitCode, 0);
});
