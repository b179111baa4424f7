import assert from 'node:assert/strict';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { it, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { certificate } from '../../fixtures/certificate.ts';
import { Http2Client } from '../../support/http2-client.ts';
import { manage } from '../../support/manage.ts';
import { describeKinds, noProbesOn, serve, serveHeld } from '../../support/serving-http2.ts';
import { pacedClock } from '../../support/paced-clock.ts';
import { until } from '../../support/until.ts';

describeKinds((kind) => {
  it('P-042 a request in flight is served, and its session gets a GOAWAY and then ends', async (t) => {
    const { serving, held, client, outcome } = await serveHeld(t, kind, 'whole');
    assert.equal(serving.traffic.counts.requestsInFlight, 1);
    const ended = serving.handle.shutdown('test');
    await until(() => client.goaways.length > 0);
    held.finish();
    assert.deepEqual((({ status, body, isWhole }) => ({ status, body, isWhole }))(await outcome), {
      status: 200,
      body: 'whole',
      isWhole: true,
    });
    await client.closed;
    const record = await ended;
    assert.deepEqual([record.exitCode, record.requests.answered, record.requests.cut], [0, 1, 0]);
  });

  it('P-044 without a shutdown delay, an HTTP/2 session that has no stream ends as soon as the shutdown begins, and does not delay the drain', async (t) => {
    const serving = await serve(t, kind, { listener: () => undefined, clock: pacedClock(1 / 4) });
    const client = await serving.dial();
    await until(() => serving.traffic.connections.size === 1);
    const { exitCode, durationMs } = await serving.handle.shutdown('test');
    assert.equal(exitCode, 0);
    await client.closed;
    assert.ok(durationMs < 1_000, String(durationMs));
  });

  const skip = noProbesOn(kind);
  it(
    'A-003, P-045 a probe over HTTP/2 gets its response and is not counted as in flight, and the response to HEAD has no body',
    { skip },
    async (t) => {
      const serving = await serve(t, kind, { listener: (_, answer) => answer.end() });
      const client = await serving.dial();
      const ready = await client.request('/readyz');
      assert.deepEqual(
        [ready.status, ready.body, ready.headers['content-type']],
        [200, 'ok', 'text/plain; charset=utf-8'],
      );
      const head = await client.request('/readyz', { ':method': 'HEAD' });
      assert.deepEqual([head.status, head.body, head.isWhole], [200, '', true]);
      assert.match((await client.request('/livez?verbose')).body, /livez check passed\n$/);
      assert.equal(serving.traffic.counts.requestsInFlight, 0);
    },
  );

  it('P-078 a probe whose request body never ends does not delay the drain', { skip }, async (t) => {
    const serving = await serve(t, kind, { listener: () => undefined });
    const client = await serving.dial();
    const stream = client.session.request({ ':path': '/readyz', ':method': 'POST' }, { endStream: false });
    stream.on('error', () => undefined);
    const status = await new Promise((resolve) => {
      stream.on('response', (headers) => {
        resolve(headers[':status']);
      });
    });
    assert.equal(status, 200);
    const since = performance.now();
    assert.equal((await serving.handle.shutdown('test')).exitCode, 0);
    assert.ok(performance.now() - since < 5_000);
  });

  it('P-051 if a client resets the stream or the connection of a probe, no uncaught error follows', async (t) => {
    const serving = await serve(t, kind, {
      listener: () => undefined,
      prepare: ({ handle }) => {
        let asked = 0;
        handle.addReadyzCheck('slow', () => (asked++ === 0 ? true : new Promise(() => undefined)));
      },
    });
    const { connections, requests } = serving.traffic;
    // Under lameduck/register, the program receives /readyz, and lameduck counts the request only when it needs the
    // count.
    const isBusyNow = (): boolean => {
      requests.enrolNoted(connections);
      return [...connections].some(({ isBusy }) => isBusy);
    };
    for (const end of [
      (client: Http2Client) => client.session.destroy(undefined, 2),
      (client: Http2Client) => client.session.goaway(2),
    ]) {
      const client = await serving.dial();
      const probe = client.request('/readyz');
      await until(isBusyNow);
      end(client);
      client.session.destroy();
      await probe;
      await until(() => connections.size === 0);
    }
  });

  it('P-044 a client that has sent GOAWAY itself and stays connected does not delay the drain', async (t) => {
    const serving = await serve(t, kind, { listener: () => undefined });
    const client = await serving.dial();
    await until(() => serving.traffic.connections.size === 1);
    client.session.goaway(0);
    assert.equal((await serving.handle.shutdown('test')).exitCode, 0);
  });

  it('P-033, P-034, P-036 event streams over HTTP/2 end one after another, each with a retry hint and a clean end', async (t) => {
    const serving = await serve(t, kind, {
      listener: (_, answer) => {
        answer.respond(200, 'text/event-stream');
        answer.write('data: first\n\n');
      },
    });
    const client = await serving.dial();
    let begun = 0;
    const streams = [1, 2, 3].map(() => client.request('/events', { accept: 'text/event-stream' }, () => begun++));
    await until(() => begun === 3);
    const ended = serving.handle.shutdown('test');
    for (const { status, body, isWhole } of await Promise.all(streams)) {
      assert.deepEqual([status, isWhole], [200, true]);
      assert.match(body, /^data: first\n\nretry: \d+\n$/);
    }
    const record = await ended;
    assert.deepEqual([record.exitCode, record.longRunningEnded], [0, 3]);
  });

  it('P-035 a long poll whose handler writes nothing gets a response from lameduck, and later writes of the handler do not throw', async (t) => {
    let talk: (() => void) | undefined;
    const serving = await serve(t, kind, {
      functions: { longRunning: () => true },
      shutdownWatchTerminationGracePeriod: '100ms',
      listener: (_, answer) => {
        talk = () => {
          answer.respond(200);
          answer.write('late');
          answer.end('later');
        };
      },
    });
    const client = await serving.dial();
    const poll = client.request('/poll');
    await until(() => serving.traffic.counts.longRunningRequests === 1);
    const ended = serving.handle.shutdown('test');
    const { status, headers, isWhole } = await poll;
    assert.deepEqual([status, headers['retry-after'], isWhole], [503, '1', true]);
    talk?.();
    assert.equal((await ended).exitCode, 0);
  });

  it('P-028 the AbortSignal of an HTTP/2 request is aborted in the drain, and when its client resets the stream', async (t) => {
    const signals: AbortSignal[] = [];
    const serving = await serve(t, kind, {
      functions: { longRunning: ({ url }) => url === '/watch' },
      listener: (path, answer, request) => {
        const signal = serving.handle.abortSignal(request as never);
        assert.equal(serving.handle.abortSignal(request as never), signal);
        signals.push(signal);
        if (path === '/watch')
          signal.addEventListener('abort', () => {
            answer.respond(200);
            answer.end('bye');
          });
      },
    });
    const client = await serving.dial();
    const reset = client.session.request({ ':path': '/reset' });
    reset.on('error', () => undefined);
    await until(() => signals.length === 1);
    reset.close(8);
    await until(() => signals[0]?.aborted === true);
    const watch = client.request('/watch');
    await until(() => signals.length === 2);
    const ended = serving.handle.shutdown('test');
    assert.equal((await watch).body, 'bye');
    assert.equal((await ended).exitCode, 0);
  });

  it('P-021, P-028 if the program first reads the AbortSignal of an HTTP/2 request after the client has cancelled the request, the signal is already aborted', async (t) => {
    let given: object | undefined;
    const serving = await serve(t, kind, { listener: (_path, _answer, request) => (given = request) });
    const client = await serving.dial();
    const stream = client.session.request({ ':path': '/' });
    stream.on('error', () => undefined);
    await until(() => given !== undefined);
    stream.close(8);
    await until(() => serving.traffic.counts.requestsInFlight === 0);
    assert.equal(serving.handle.abortSignal(given as never).aborted, true);
  });

  it('P-023, P-027, P-044 a stream that never ends is named in the log, and is cut at the deadline of the drain together with its session', async (t) => {
    const serving = await serve(t, kind, { listener: () => undefined });
    const client = await serving.dial();
    const stream = client.request('/never?secret');
    await until(() => serving.traffic.counts.requestsInFlight === 1);
    const record = await serving.handle.shutdown('test', { budget: '3300ms' });
    assert.equal(record.exitCode, 80);
    assert.deepEqual(
      record.unfinished.map(({ method, route }) => [method, route]),
      [['GET', '/never']],
    );
    assert.equal((await stream).isWhole, false);
  });

  it('P-019 with shutdownSendRetryAfter a new session gets 429 and GOAWAY while an older session is served', async (t) => {
    const { serving, held, outcome } = await serveHeld(t, kind, 'old', { shutdownSendRetryAfter: true });
    const ended = serving.handle.shutdown('test');
    await serving.handle.signals.notAcceptingNewRequest.signaled;
    await new Promise((resolve) => setImmediate(resolve));
    const late = await serving.dial();
    const refused = await late.request('/');
    assert.deepEqual([refused.status, refused.headers['retry-after']], [429, '5']);
    await late.closed;
    held.finish();
    assert.equal((await outcome).body, 'old');
    assert.deepEqual([(await ended).exitCode, (await ended).requests.refused], [0, 1]);
  });

  it('A-120, P-043 during the shutdown delay new sessions and streams are served, and each session gets its GOAWAY at its random close time', async (t) => {
    const serving = await serve(t, kind, {
      shutdownDelayDuration: '1200ms',
      // Each client receives its GOAWAY one round trip after its random close time, which is never in the last quarter
      // of the shutdown delay. The clock of this test is slow, so that this last quarter lasts for more than a second
      // of real time.
      clock: pacedClock(1 / 4),
      listener: (path, answer) => {
        answer.respond(200);
        answer.end(path);
      },
    });
    const clients = await Promise.all(Array.from({ length: 8 }, () => serving.dial()));
    await until(() => serving.traffic.connections.size === 8);
    const ended = serving.handle.shutdown('test');
    const delay = serving.handle.signals.afterShutdownDelayDuration;
    let answered = 0;
    let refused = 0;
    await Promise.all(
      clients.map(async (client) => {
        while (client.goaways.length === 0 && !client.session.closed) {
          const { isWhole, code } = await client.request('/x');
          if (isWhole) answered++;
          else if (code === 7) refused++;
          else assert.fail(`a request was lost with the HTTP/2 error code ${String(code)}`);
          await setTimeout(10);
        }
        assert.equal(delay.hasSignaled, false, 'each client must receive its GOAWAY within the shutdown delay');
      }),
    );
    const late = await serving.dial();
    assert.equal((await late.request('/late')).body, '/late');
    assert.ok(answered > 8, `${String(answered)} requests were answered, ${String(refused)} were refused`);
    assert.equal((await ended).exitCode, 0);
  });
});

test('P-045 a server with HTTP/1.1 and HTTP/2 clients drains each connection by the rules of its protocol', async (t) => {
  const finish: (() => void)[] = [];
  const server = createSecureServer({ ...certificate, allowHTTP1: true }, (_request, response) => {
    finish.push(() => response.end('done'));
  });
  const parts = manage([server], {});
  parts.startup.begin();
  server.listen(0, '127.0.0.1');
  await parts.handle.signals.hasBeenReady.signaled;
  const { port } = server.address() as AddressInfo;
  const client = new Http2Client(port, true);
  t.after(() => {
    client.session.destroy();
  });
  const { Agent, get } = await import('node:https');
  const agent = new Agent({ keepAlive: true });
  t.after(() => {
    agent.destroy();
  });
  const first = client.request('/');
  const second = new Promise<{ connection: string | undefined; status: number | undefined }>((resolve) => {
    get({ port, host: '127.0.0.1', agent, rejectUnauthorized: false }, (response) => {
      response.resume().on('end', () => {
        resolve({ connection: response.headers.connection, status: response.statusCode });
      });
    });
  });
  await until(() => finish.length === 2);
  assert.equal(parts.traffic.counts.requestsInFlight, 2);
  const ended = parts.handle.shutdown('test');
  await parts.handle.signals.shutdownInitiated.signaled;
  for (const go of finish) go();
  assert.equal((await first).body, 'done');
  assert.deepEqual(await second, { connection: 'close', status: 200 });
  assert.equal((await ended).exitCode, 0);
});
