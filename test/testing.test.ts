// Tests runShutdown on servers of every kind, as the test of a program would call it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from 'node:http';
import { createServer as createSecureServer, get as secureGet } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, test, type TestContext } from 'node:test';
import { lameduck, type Lameduck, type LameduckOptions, type Logger } from '../src/index.ts';
import { runShutdown } from '../src/testing.ts';
import { certificate } from './fixtures/certificate.ts';

const logger: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined };

const slow: RequestListener = (_request, response) => {
  setTimeout(() => response.end('served'), 30);
};

function withLifecycle(options: LameduckOptions = {}, listener = slow): { server: Server; duck: Lameduck } {
  const server = createServer(listener);
  return { server, duck: lameduck(server, { logger, ...options }) };
}

async function ask(url: string, headers = {}): Promise<{ status: number; body: string }> {
  const response = await fetch(url, { headers });
  return { status: response.status, body: await response.text() };
}

function variable(t: TestContext, name: string, value: string): void {
  process.env[name] = value;
  t.after(() => {
    Reflect.deleteProperty(process.env, name);
  });
}

test('runShutdown ignores a shutdown delay that is set in code or in the environment, but runs the hooks', async (t) => {
  variable(t, 'LAMEDUCK_SHUTDOWN_DELAY_DURATION', '10s');
  const { server, duck } = withLifecycle({ shutdownDelayDuration: '15s' });
  const calls: string[] = [];
  duck.addPostStartHook('warm-up', () => calls.push('post-start'));
  duck.addPreShutdownHook('leave', () => calls.push('pre-shutdown'));
  duck.addDestroyHook('pool', () => calls.push('destroy'));
  const { record } = await runShutdown(server, (origin) => ask(origin));
  assert.deepEqual(calls, ['post-start', 'pre-shutdown', 'destroy']);
  assert.ok(record.durationMs < 5_000, `the shutdown took ${String(record.durationMs)} ms`);
});

describe('runShutdown shuts down a server while requests are in flight', { concurrency: 4 }, () => {
  test('if a server was passed to lameduck(), a request during runShutdown gets its response, and the shutdown record counts the request', async () => {
    const { server, duck } = withLifecycle();
    let isShuttingDown: boolean | undefined;
    server.prependListener('request', (_request, response) => {
      response.on('finish', () => (isShuttingDown = duck.signals.shutdownInitiated.hasSignaled));
    });
    const { record, result } = await runShutdown(server, (origin) => ask(`${origin}/orders`));
    assert.deepEqual(result, { status: 200, body: 'served' });
    assert.deepEqual(
      [record.exitCode, record.reason, record.requests],
      [0, 'runShutdown()', { answered: 1, refused: 0, aborted: 0, cut: 0 }],
    );
    assert.equal(isShuttingDown, true, 'the response must follow ShutdownInitiated');
    assert.equal(server.listening, false);
    assert.equal(await duck.ended, record);
  });

  test('runShutdown creates a lifecycle for a server that has none', async () => {
    const { record, result } = await runShutdown(createServer(slow), (origin) => ask(origin));
    assert.equal(result.body, 'served');
    assert.equal(record.requests.answered, 1);
  });

  test('runShutdown also detects a request to which the handler responds at once', async () => {
    const server = createServer((_request, response) => response.end('at once'));
    const { record, result } = await runShutdown(server, (origin) => ask(origin));
    assert.deepEqual([result.body, record.requests.answered], ['at once', 1]);
  });

  test('fifty simultaneous requests during runShutdown get their responses', async () => {
    const { server } = withLifecycle();
    const { record, result } = await runShutdown(server, (origin) =>
      Promise.all(Array.from({ length: 50 }, (_, index) => ask(`${origin}/${String(index)}`))),
    );
    assert.ok(result.every(({ status }) => status === 200));
    assert.equal(record.requests.answered, 50);
  });

  test('with `during`, runShutdown begins the shutdown when the request for the path in `during` arrives, and serves earlier requests before the shutdown', async () => {
    const { server, duck } = withLifecycle();
    const { record, result } = await runShutdown(
      server,
      async (origin) => {
        const before = [await ask(`${origin}/login`), await ask(`${origin}/orders/7?slow`)];
        assert.equal(duck.signals.shutdownInitiated.hasSignaled, false);
        return [...before, await ask(`${origin}/slow?ms=3`)].map(({ status }) => status);
      },
      { during: '/slow' },
    );
    assert.deepEqual(result, [200, 200, 200]);
    assert.equal(record.requests.answered, 1, 'the record must count only the requests since the shutdown began');
  });

  test('a probe that the callback of runShutdown sends does not begin the shutdown', async () => {
    const { server, duck } = withLifecycle();
    await runShutdown(server, async (origin) => {
      assert.equal((await ask(`${origin}/readyz`)).status, 200);
      assert.equal(duck.signals.shutdownInitiated.hasSignaled, false);
      await ask(origin);
      assert.equal(duck.signals.shutdownInitiated.hasSignaled, true);
    });
  });

  test('runShutdown uses the address of a server that already listens', async () => {
    for (const host of ['127.0.0.1', '0.0.0.0', '::', '::1']) {
      const { server } = withLifecycle();
      server.listen(0, host);
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const { result } = await runShutdown(server, async (origin) => {
        assert.ok(origin.endsWith(`:${String(port)}`), origin);
        return ask(origin);
      });
      assert.equal(result.status, 200, host);
    }
  });

  test('runShutdown accepts a program that calls listen() and lameduck() in the same tick', async () => {
    const server = createServer(slow);
    server.listen(0);
    lameduck(server, { logger });
    assert.equal((await runShutdown(server, (origin) => ask(origin))).result.status, 200);
  });

  test('for a TLS server, runShutdown calls its callback with an https origin', async () => {
    const server = createSecureServer(certificate, slow);
    lameduck(server, { logger });
    const { record, result } = await runShutdown(server, async (origin) => {
      assert.match(origin, /^https:/);
      const [response] = (await once(secureGet(origin, { rejectUnauthorized: false }), 'response')) as [
        IncomingMessage,
      ];
      response.resume();
      await once(response, 'end');
      return response.statusCode;
    });
    assert.deepEqual([result, record.requests.answered], [200, 1]);
  });

  test('runShutdown counts an upgrade, and a request with Expect: 100-continue, as requests in flight', async () => {
    const server = createServer(slow);
    server.on('upgrade', (_request, socket) => {
      socket.on('error', () => undefined);
      socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
    });
    const upgraded = await runShutdown(server, async (origin) => {
      const request = httpRequest(origin, { headers: { connection: 'Upgrade', upgrade: 'echo' } });
      request.end();
      const [, socket] = (await once(request, 'upgrade')) as [unknown, NodeJS.ReadableStream & { destroy(): void }];
      socket.resume();
      await once(socket, 'end');
      socket.destroy();
    });
    assert.equal(upgraded.record.longRunningEnded, 1);
    const { record } = await runShutdown(createServer(slow), async (origin) => {
      const request = httpRequest(origin, { method: 'POST', headers: { expect: '100-continue' } });
      request.on('continue', () => request.end('body'));
      request.flushHeaders();
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      response.resume();
      await once(response, 'end');
    });
    assert.equal(record.requests.answered, 1);
  });

  test('P-034 under runShutdown, an event stream gets a retry hint and a clean end, and counts as a long-running request instead of an answered one', async () => {
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write('data: 1\n\n');
    });
    const { record, result } = await runShutdown(server, (origin) => ask(origin, { Accept: 'text/event-stream' }));
    assert.match(result.body, /^data: 1\n\nretry: \d+\n\n?$/);
    assert.deepEqual([record.exitCode, record.longRunningEnded, record.requests.answered], [0, 1, 0]);
  });

  test('if the server that runShutdown gets shares its lifecycle with other servers, runShutdown makes all of these servers listen, and calls its callback with the origin of the server that it got', async () => {
    const [first, second] = [createServer(slow), createServer((_request, response) => response.end('second'))];
    lameduck([first, second], { logger });
    const { result } = await runShutdown(second, (origin) => ask(origin));
    assert.equal(result.body, 'second');
    assert.deepEqual([first.listening, second.listening], [false, false]);
  });

  test('parallel runs of runShutdown do not affect each other', async () => {
    const bodies = await Promise.all(
      ['a', 'b', 'c'].map(async (body) => {
        const server = createServer((_request, response) => void sleep(20).then(() => response.end(body)));
        return (await runShutdown(server, (origin) => ask(origin))).result.body;
      }),
    );
    assert.deepEqual(bodies, ['a', 'b', 'c']);
  });

  test('a failed hook and a cut request are in the record of runShutdown, which does not reject', async () => {
    const { server, duck } = withLifecycle(
      { terminationGracePeriodSeconds: 6, destroyHookTimeout: '1s' },
      () => undefined,
    );
    duck.addDestroyHook('pool', () => Promise.reject(new Error('no pool')));
    const { record, result } = await runShutdown(server, (origin) =>
      fetch(`${origin}/report`).then(
        () => 'answered',
        () => 'cut',
      ),
    );
    assert.equal(result, 'cut');
    assert.equal(record.exitCode, 80);
    assert.equal(record.unfinished[0]?.route, '/report');
    assert.deepEqual(record.hookFailures, [
      { kind: 'destroy', name: 'pool', error: 'destroy hook "pool" failed: no pool' },
    ]);
  });

  test('with shutdownSendRetryAfter, a second request during runShutdown gets a 429', async () => {
    const answer = Promise.withResolvers<undefined>();
    const { server, duck } = withLifecycle({ shutdownSendRetryAfter: true }, (_request, response) => {
      void answer.promise.then(() => response.end('served'));
    });
    const { record, result } = await runShutdown(server, async (origin) => {
      const first = ask(origin);
      await duck.signals.notAcceptingNewRequest.signaled;
      const second = await ask(origin);
      answer.resolve(undefined);
      return [await first, second].map(({ status }) => status);
    });
    assert.deepEqual(result, [200, 429]);
    assert.deepEqual(record.requests, { answered: 1, refused: 1, aborted: 0, cut: 0 });
  });
});
