// Tests that requests that have ended are not counted, even if the program has removed Node's listeners for the end of
// a request.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect as connectHttp2, createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { it, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { listen } from '../../support/listening.ts';
import { manage } from '../../support/manage.ts';
import { pacedClock } from '../../support/paced-clock.ts';
import { describeAdapters, serve, shutdownOf } from '../../support/serving.ts';
import { until } from '../../support/until.ts';

type Replace = (request: IncomingMessage, response: ServerResponse) => unknown;

const [major = 0] = process.versions.node.split('.').map(Number);

// Node 26 itself reads `req` of a response at its end, and fails if the program has replaced it.
const ofResponse: readonly (readonly [change: string, replace: Replace])[] = [
  ['sets `req` of its response to null', (_, response) => Object.assign(response, { req: null })],
  ['deletes `req` of its response', (_, response) => Reflect.deleteProperty(response, 'req')],
  ['wraps `req` of its response', (request, response) => Object.assign(response, { req: new Proxy(request, {}) })],
];

const replacements = [
  ...(major < 26 ? ofResponse : []),
  ['replaces `socket` of its request', (request: IncomingMessage) => Object.assign(request, { socket: {} })] as const,
];

describeAdapters((adapter) => {
  it('P-021 if the program removes the `close` listeners of a connection, the connection still stops counting as open when its client disconnects, before and during the drain', async (t) => {
    const requests: IncomingMessage[] = [];
    const serving = await serve(t, {
      adapter,
      listener: (request) => {
        request.socket.removeAllListeners('close');
        requests.push(request);
      },
    });
    const [before, during] = [await serving.dial(), await serving.dial()];
    before.get('/left-before');
    during.get('/left-during');
    await until(() => requests.length === 2);
    before.reset();
    await until(() => requests.some(({ socket }) => socket.destroyed));
    assert.deepEqual(serving.traffic.counts, { connections: 1, requestsInFlight: 1, longRunningRequests: 0 });
    const { ended } = shutdownOf(serving);
    await serving.handle.signals.httpServerStoppedListening.signaled;
    during.reset();
    const { exitCode, requests: counted } = await ended;
    assert.deepEqual([exitCode, counted], [0, { answered: 0, refused: 0, aborted: 0, cut: 0 }]);
  });

  it('A-174, P-021 if the program removes the listeners for the event close of a response, the ended response does not count against maxRequestsInflight, and does not delay the drain', async (t) => {
    let held: ServerResponse | undefined;
    const serving = await serve(t, {
      adapter,
      maxRequestsInflight: 1,
      listener: ({ url }, response) => {
        response.removeAllListeners('close');
        if (url === '/held') held = response;
        else response.end('ok');
      },
    });
    const client = await serving.dial();
    for (let count = 0; count < 5; count++) {
      client.get('/');
      const answer = await client.reader.next();
      assert.deepEqual([answer?.status, answer?.body], [200, 'ok']);
    }
    client.get('/held');
    await until(() => held !== undefined);
    const other = await serving.dial();
    other.get('/');
    assert.equal((await other.reader.next())?.status, 429);
    const { ended } = shutdownOf(serving);
    await serving.handle.signals.httpServerStoppedListening.signaled;
    held?.end('ok');
    const { exitCode, requests } = await ended;
    assert.deepEqual([exitCode, requests], [0, { answered: 1, refused: 0, aborted: 0, cut: 0 }]);
  });

  for (const [change, replace] of replacements) {
    it(`P-021 if a handler ${change}, its ended response no longer counts, and during the shutdown it says Connection: close`, async (t) => {
      const held: (readonly [IncomingMessage, ServerResponse])[] = [];
      const serving = await serve(t, {
        adapter,
        maxRequestsInflight: 1,
        listener: (request, response) => held.push([request, response]),
      });
      const client = await serving.dial();
      const answerHeld = async (): Promise<boolean | undefined> => {
        await until(() => held.length === 1);
        const [[request, response]] = held.splice(0) as [[IncomingMessage, ServerResponse]];
        replace(request, response);
        response.end('ok');
        const answer = await client.reader.next();
        assert.deepEqual([answer?.status, answer?.body], [200, 'ok']);
        return answer?.isClose;
      };
      client.get('/');
      await answerHeld();
      await until(() => serving.traffic.requests.inFlight.serving === 0);
      const { ended } = shutdownOf(serving);
      client.get('/');
      assert.equal(await answerHeld(), true);
      const { exitCode, requests } = await ended;
      assert.deepEqual([exitCode, requests], [0, { answered: 1, refused: 0, aborted: 0, cut: 0 }]);
    });
  }
});

test('P-021 if the program removes the `close` listeners of its sockets, lameduck keeps records of only a few closed connections, even if no metrics are read', async (t) => {
  const sockets: IncomingMessage['socket'][] = [];
  const serving = await serve(t, {
    listener: ({ socket }) => {
      socket.removeAllListeners('close');
      sockets.push(socket);
    },
  });
  for (let count = 1; count <= 150; count++) {
    const client = await serving.dial();
    client.get('/');
    await until(() => sockets.length === count);
    client.reset();
    await until(() => sockets.at(-1)?.destroyed === true);
  }
  assert.ok(serving.traffic.connections.size <= 110, String(serving.traffic.connections.size));
});

test('P-021 an HTTP/2 stream whose listeners the program has removed does not delay the drain', async (t) => {
  const server = createHttp2Server();
  const parts = manage([server]);
  const streams: ServerHttp2Stream[] = [];
  server.on('stream', (stream) => {
    stream.removeAllListeners();
    streams.push(stream);
  });
  parts.startup.begin();
  const port = await listen(t, server);
  await parts.handle.signals.hasBeenReady.signaled;
  const client = connectHttp2(`http://127.0.0.1:${String(port)}`);
  t.after(() => {
    client.destroy();
  });
  const request = client.request({ ':path': '/given-up' });
  request.on('error', () => undefined).end();
  await until(() => streams.length === 1);
  const ended = parts.handle.shutdown('test');
  await parts.handle.signals.httpServerStoppedListening.signaled;
  request.close(8);
  const { exitCode, requests } = await ended;
  assert.deepEqual([exitCode, requests.cut], [0, 0]);
});

test('P-021 after the program has sent a connection to another process, neither the connection nor its request counts as in flight', async (t) => {
  const child = fork(fileURLToPath(new URL('../../fixtures/answers-a-socket.ts', import.meta.url)));
  t.after(() => child.kill('SIGKILL'));
  await once(child, 'spawn');
  const serving = await serve(t, {
    // The clock of the lifecycle runs at a tenth of the normal speed. The drain thus takes less than a second of this
    // clock, even on a busy machine.
    clock: pacedClock(1 / 10),
    listener: ({ socket }) => {
      child.send('take it', socket);
    },
  });
  const client = await serving.dial();
  client.get('/');
  assert.equal((await client.reader.next())?.body, 'the child');
  assert.deepEqual(serving.traffic.counts, { connections: 0, requestsInFlight: 0, longRunningRequests: 0 });
  const { exitCode, durationMs } = await shutdownOf(serving).ended;
  assert.equal(exitCode, 0);
  assert.ok(durationMs < 1_000, `the drain took ${String(durationMs)} ms`);
});
