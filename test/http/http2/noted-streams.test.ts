// Tests that lameduck only notes HTTP/2 requests before a shutdown, and finds them later in Node's map of open streams.
import assert from 'node:assert/strict';
import type { ServerHttp2Stream } from 'node:http2';
import { it } from 'node:test';
import { describeKinds, serve, streamOf } from '../../support/serving-http2.ts';
import { until } from '../../support/until.ts';

describeKinds((kind) => {
  it('P-113 before a shutdown, lameduck adds no method to the stream of a request, and does not count the request', async (t) => {
    const seen: unknown[] = [];
    const serving = await serve(t, kind, {
      listener: (_, answer, request) => {
        const stream = streamOf(request);
        const own = ['on', 'emit', 'respond', 'close', 'destroy', 'end'].filter((name) => Object.hasOwn(stream, name));
        const counted = [...serving.traffic.connections].flatMap(({ exchanges }) => exchanges);
        seen.push(...own, ...counted);
        answer.end();
      },
    });
    await (await serving.dial()).request('/');
    assert.deepEqual(seen, []);
  });

  it('P-027 when the number of requests in flight is read, each request is counted once, with the headers that it arrived with', async (t) => {
    let arrived = 0;
    const serving = await serve(t, kind, { listener: () => arrived++ });
    const client = await serving.dial();
    for (const path of ['/a', '/b', '/c']) void client.request(path, { 'x-request-id': path });
    await until(() => arrived === 3);
    assert.equal(serving.traffic.counts.requestsInFlight, 3);
    assert.equal(serving.traffic.counts.requestsInFlight, 3);
    assert.deepEqual(
      serving.traffic.unfinished().map(({ route, 'x-request-id': id }) => [route, id]),
      ['/a', '/b', '/c'].map((path) => [path, path]),
    );
  });

  it('P-042 a request that a count has found and a later request are both served by the drain', async (t) => {
    const answers: (() => void)[] = [];
    const serving = await serve(t, kind, {
      listener: (path, answer) =>
        answers.push(() => {
          answer.end(path);
        }),
    });
    const client = await serving.dial();
    const first = client.request('/first');
    await until(() => answers.length === 1);
    assert.equal(serving.traffic.counts.requestsInFlight, 1);
    const second = client.request('/second');
    await until(() => answers.length === 2);
    const ended = serving.handle.shutdown('test');
    for (const answer of answers) answer();
    assert.deepEqual([(await first).body, (await second).body], ['/first', '/second']);
    const { exitCode, requests } = await ended;
    assert.deepEqual([exitCode, requests.answered, requests.cut], [0, 2, 0]);
  });

  it('P-042 if the program has changed a stream so that lameduck cannot follow it, the drain still waits for the other streams of the session', async (t) => {
    const answers: (() => void)[] = [];
    let isCounting = false;
    const serving = await serve(t, kind, {
      listener: (path, answer, request) => {
        const stream = streamOf(request);
        const on = stream.on.bind(stream);
        if (path === '/changed')
          stream.on = (...args: Parameters<typeof on>) => (isCounting ? assert.fail() : on(...args));
        answers.push(() => {
          answer.end(path);
        });
      },
    });
    const client = await serving.dial();
    const outcomes = ['/changed', '/a', '/b'].map((path) => client.request(path));
    await until(() => answers.length === 3);
    isCounting = true;
    assert.equal(serving.traffic.counts.requestsInFlight, 3);
    isCounting = false;
    const ended = serving.handle.shutdown('test');
    for (const answer of answers) answer();
    assert.deepEqual((await Promise.all(outcomes)).map(({ body }) => body).sort(), ['/a', '/b', '/changed']);
    await ended;
  });

  it('P-042 a stream that is not in the map of open streams of Node is not noted, so that it is counted at once', async (t) => {
    let stream: ServerHttp2Stream | undefined;
    const serving = await serve(t, kind, {
      listener: (_, answer, request) => {
        stream = streamOf(request);
        answer.end();
      },
    });
    await (await serving.dial()).request('/');
    await until(() => stream?.destroyed === true);
    const [session] = [...serving.traffic.connections].map((connection) => connection.session);
    assert.equal(session?.note(stream as ServerHttp2Stream, {}, 0), false);
  });
});
