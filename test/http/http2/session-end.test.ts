// Tests the end of an HTTP/2 session after its GOAWAY: responses in flight, pushed streams, clients that read nothing.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerHttp2Stream } from 'node:http2';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { frame, preface, secured, uint32 } from '../../support/http2-by-rote.ts';
import { HeldAnswer, describeKinds, noProbesOn, serve, serveHeld, streamOf } from '../../support/serving-http2.ts';
import type { Scope } from '../../support/serving.ts';
import { until } from '../../support/until.ts';

// The time in milliseconds for which a slow client reads nothing. It is longer than the second in which a client must
// end its side of a connection after the last HTTP/2 stream.
const longer = 1_500;

const size = 16_000_000;

/**
 * serveSlowReader starts a server and a TLS client. The client has sent its only request, and does not read the
 * response until the test does so. serveSlowReader returns the handle of the server's lifecycle, and the client's
 * socket.
 */
async function serveSlowReader(scope: Scope, kind: Parameters<typeof serve>[1]) {
  let hasAnswered = false;
  const { traffic, handle, port } = await serve(scope, kind, {
    listener: (_, answer, request) => {
      // Node closes an HTTP/2 stream at once if the request has been read to its end and the whole response is sent in
      // one write.
      void text(streamOf(request)).then(() => {
        answer.respond(200);
        answer.end('x'.repeat(size));
        hasAnswered = true;
      });
    },
  });
  const socket = secured(connect(port));
  scope.after(() => socket.destroy());
  const large = uint32(2 ** 30);
  const window = [frame('settings', [0, 4, ...large], { id: 0 }), frame('window', large, { id: 0 })];
  const question = frame('headers', [0x83, 0x86, 0x84, 0x01, 0x01, 0x61], { flags: 5 });
  await once(socket, 'secureConnect');
  socket.write(Buffer.concat([preface, ...window, question]));
  await until(() => hasAnswered && traffic.counts.requestsInFlight === 0);
  return { handle, socket };
}

describeKinds((kind) => {
  it('P-019 with shutdownSendRetryAfter, if a session began after NotAcceptingNewRequest, each stream on this session gets 429 at once, and never delays the drain', async (t) => {
    const { serving, held, outcome } = await serveHeld(t, kind, 'old', { shutdownSendRetryAfter: true });
    const { traffic, handle } = serving;
    const ended = handle.shutdown('test');
    await handle.signals.notAcceptingNewRequest.signaled;
    await new Promise((resolve) => setImmediate(resolve));
    const late = Array.from({ length: 5 }, async () => {
      const { status } = await (await serving.dial()).request('/');
      return [status, traffic.counts.requestsInFlight];
    });
    assert.deepEqual(
      await Promise.all(late),
      late.map(() => [429, 1]),
    );
    held.finish();
    assert.equal((await outcome).body, 'old');
    assert.equal((await ended).exitCode, 0);
  });

  it('P-019 with shutdownSendRetryAfter, if a session began after NotAcceptingNewRequest, all streams that its client opens before the GOAWAY get 429', async (t) => {
    const { serving, held, outcome } = await serveHeld(t, kind, 'old', { shutdownSendRetryAfter: true });
    const ended = serving.handle.shutdown('test');
    await serving.handle.signals.notAcceptingNewRequest.signaled;
    await new Promise((resolve) => setImmediate(resolve));
    const late = await serving.dial();
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => late.request('/')));
    assert.deepEqual(
      outcomes.map(({ status, code }) => [status, code]),
      outcomes.map(() => [429, 0]),
    );
    await late.closed;
    assert.equal(late.goaways[0], 19);
    held.finish();
    assert.equal((await outcome).body, 'old');
    assert.deepEqual([(await ended).exitCode, (await ended).requests.refused], [0, 10]);
  });

  // The tests of slow readers skip servers without TLS and servers with the compatibility API. Without TLS, lameduck
  // sends the GOAWAY seconds later, because a client that does not read answers no ping. With the compatibility API,
  // Node closes a stream only after its response has been sent.
  const notThere =
    (!kind.isSecure || kind.isCompatible) && 'this kind of server closes no stream before the response has been sent';
  it('P-019 with shutdownSendRetryAfter, a server drains although twenty new sessions per second arrive', async (t) => {
    const { serving, held, outcome } = await serveHeld(t, kind, 'old', { shutdownSendRetryAfter: true });
    const ended = serving.handle.shutdown('test');
    await serving.handle.signals.notAcceptingNewRequest.signaled;
    const statuses: (number | undefined)[] = [];
    const over = new AbortController();
    const late = async (): Promise<void> => {
      // This client never closes its session. So the session stays open until the server ends it.
      const client = await serving.dial();
      statuses.push((await client.request('/')).status);
    };
    const arriving = (async () => {
      // Ignore the connection errors of a late client: after the drain, the server no longer listens.
      for (; !over.signal.aborted; await setTimeout(50)) void late().catch(() => undefined);
    })();
    await until(() => statuses.length >= 40);
    held.finish();
    assert.equal((await outcome).body, 'old');
    const record = await ended;
    over.abort();
    await arriving;
    assert.deepEqual([record.exitCode, record.requests.cut], [0, 0]);
    assert.ok(
      statuses.slice(0, 40).every((status) => status === 429),
      statuses.join(),
    );
  });

  it('P-006, P-025 a client that reads slowly receives the complete response', { skip: notThere }, async (t) => {
    const { handle, socket } = await serveSlowReader(t, kind);
    const ended = handle.shutdown('test');
    await handle.signals.inFlightRequestsDrained.signaled;
    await setTimeout(longer);
    let received = 0;
    socket.on('data', ({ length }: Buffer) => (received += length));
    await once(socket, 'end');
    assert.ok(received > size, `${String(received)} bytes have been received`);
    assert.equal((await ended).exitCode, 0);
  });

  it(
    'P-023, P-025 a response that its client never reads is named in the log, and is cut at the deadline of the drain',
    { skip: notThere },
    async (t) => {
      const { handle, socket } = await serveSlowReader(t, kind);
      const cut = once(socket, 'close');
      const { exitCode, unfinished } = await handle.shutdown('test', { budget: longer });
      assert.deepEqual(
        unfinished.map(({ method, route }) => `${method} ${route}`),
        ['POST /'],
      );
      assert.equal(exitCode, 80);
      socket.resume();
      await cut;
    },
  );

  it('P-025, P-042 a stream that the program has pushed is sent completely during the drain', async (t) => {
    let push: ServerHttp2Stream | undefined;
    const serving = await serve(t, kind, {
      listener: (_, answer, request) => {
        streamOf(request).pushStream({ ':path': '/pushed' }, (_error, pushed) => {
          pushed.respond({ ':status': 200 });
          pushed.write('half ');
          push = pushed;
        });
        answer.respond(200);
        answer.end('answer');
      },
    });
    const client = await serving.dial();
    const pushed = once(client.session, 'stream') as Promise<[ServerHttp2Stream]>;
    const [outcome, [stream]] = await Promise.all([client.request('/'), pushed]);
    assert.equal(outcome.body, 'answer');
    const body = text(stream);
    const ended = serving.handle.shutdown('test');
    await serving.handle.signals.inFlightRequestsDrained.signaled;
    await setTimeout(longer);
    push?.end('whole');
    assert.equal(await body, 'half whole');
    assert.equal((await ended).exitCode, 0);
  });

  it('P-042 if a handler calls pushStream() after the last GOAWAY of the session, pushStream() throws, but the request of this handler still gets its response', async (t) => {
    const held: { readonly stream: ServerHttp2Stream; readonly finish: () => void }[] = [];
    const serving = await serve(t, kind, {
      listener: (_, answer, request) => {
        const finish = (): void => {
          answer.respond(200);
          answer.end('whole');
        };
        held.push({ stream: streamOf(request), finish });
      },
    });
    const outcome = (await serving.dial()).request('/');
    await until(() => held.length === 1);
    assert.deepEqual(
      held.map(({ stream }) => stream.pushAllowed),
      [true],
    );
    const ended = serving.handle.shutdown('test');
    await until(() => held.every(({ stream }) => !stream.pushAllowed));
    for (const { stream, finish } of held) {
      assert.throws(() => {
        stream.pushStream({ ':path': '/pushed' }, () => undefined);
      }, /ERR_HTTP2_PUSH_DISABLED/);
      finish();
    }
    assert.equal((await outcome).body, 'whole');
    const { exitCode, requests, stepFailures } = await ended;
    assert.deepEqual([exitCode, requests.answered, stepFailures], [0, 1, []]);
  });

  const skip = noProbesOn(kind);
  it('P-078 a client that does not read the response to its probe does not delay the drain', { skip }, async (t) => {
    const serving = await serve(t, kind, { listener: () => undefined });
    const client = await serving.dial({ initialWindowSize: 0 });
    const stream = client.session.request({ ':path': '/readyz' });
    stream.on('error', () => undefined);
    await once(stream, 'response');
    const since = performance.now();
    assert.equal((await serving.handle.shutdown('test')).exitCode, 0);
    assert.ok(performance.now() - since < 5_000);
  });

  it('P-019 with shutdownSendRetryAfter, a client that does not read its 429 does not delay the drain', async (t) => {
    const { serving, held, outcome } = await serveHeld(t, kind, 'old', { shutdownSendRetryAfter: true });
    const ended = serving.handle.shutdown('test');
    await serving.handle.signals.notAcceptingNewRequest.signaled;
    await new Promise((resolve) => setImmediate(resolve));
    const late = await serving.dial({ initialWindowSize: 0 });
    const stream = late.session.request({ ':path': '/' });
    stream.on('error', () => undefined);
    const [headers] = (await once(stream, 'response')) as [{ ':status'?: number }];
    assert.equal(headers[':status'], 429);
    held.finish();
    assert.equal((await outcome).body, 'old');
    const since = performance.now();
    const { exitCode, requests } = await ended;
    assert.deepEqual([exitCode, requests.refused, requests.cut], [0, 1, 0]);
    assert.ok(performance.now() - since < 5_000);
  });

  it('P-032, P-040 a client that keeps uploading after a long-running response has ended gets a reset of its stream', async (t) => {
    const held = new HeldAnswer('');
    const serving = await serve(t, kind, {
      shutdownWatchTerminationGracePeriod: '300ms',
      functions: { longRunning: () => true },
      listener: (path, answer, request) => {
        const stream = streamOf(request).resume();
        stream.on('error', () => undefined);
        answer.respond(200);
        answer.write('half ');
        held.listener(path, answer, request);
      },
    });
    const client = await serving.dial();
    const stream = client.session.request({ ':path': '/', ':method': 'POST' }, { endStream: false });
    const body = text(stream);
    await until(() => held.hasCome);
    const since = performance.now();
    const record = await serving.handle.shutdown('test');
    assert.deepEqual([record.exitCode, record.requests.cut, record.longRunningEnded], [0, 0, 1]);
    assert.ok(performance.now() - since < 5_000);
    assert.deepEqual([await body, stream.rstCode], ['half ', 0]);
  });

  it('P-026 a client that keeps uploading after its complete response gets a reset of its stream one second after the drain has begun', async (t) => {
    const serving = await serve(t, kind, {
      listener: (_, answer, request) => {
        streamOf(request).resume();
        answer.respond(200);
        answer.end('enough');
      },
    });
    const client = await serving.dial();
    const stream = client.session.request({ ':path': '/', ':method': 'POST' }, { endStream: false });
    const body = text(stream);
    await once(stream, 'response');
    const since = performance.now();
    const record = await serving.handle.shutdown('test');
    assert.deepEqual([record.exitCode, record.requests.cut, record.requests.answered], [0, 0, 1]);
    const took = performance.now() - since;
    assert.ok(took > 900 && took < 5_000, String(took));
    assert.deepEqual([await body, stream.rstCode], ['enough', 0]);
  });
});
