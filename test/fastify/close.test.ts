// Tests app.close() with the plugin: it runs a shutdown, and Fastify's own close at the end.
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import fastifyLameduck from '../../src/fastify.ts';
import { createApp, dial, Fastify, listen, recordCloses, silentLogger } from '../support/fastify.ts';
import { until } from '../support/until.ts';

type AnyClose = (callback?: unknown) => unknown;

/**
 * heldRoute adds the route /held, whose requests get a response after `letGo` is called. `isHeld` says whether such a
 * request is waiting for its response.
 */
function heldRoute(app: FastifyInstance): { letGo(): void; readonly isHeld: boolean } {
  const waiting: (() => void)[] = [];
  app.get('/held', async () => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    return 'let go';
  });
  return {
    letGo: () => {
      for (const resolve of waiting.splice(0)) resolve();
    },
    get isHeld() {
      return waiting.length > 0;
    },
  };
}

for (const serverOptions of [{}, { forceCloseConnections: true }]) {
  const kind = JSON.stringify(serverOptions);
  test(`P-102 with the server options ${kind}, app.close() of Fastify waits for the last request and the destroy hooks, but not until connections are closed`, async (t) => {
    const app = await createApp(t, {}, serverOptions);
    const { names, times } = recordCloses(app);
    const held = heldRoute(app);
    const port = await listen(app);
    // This client keeps its end of the connection open even after the server's FIN.
    const client = await dial(t, { port, host: '127.0.0.1', allowHalfOpen: true });
    client.get('/held');
    await until(() => held.isHeld);

    const closed = app.close();
    await app.lameduck.signals.httpServerStoppedListening.signaled;
    assert.deepEqual(names, []);
    held.letGo();
    const response = await client.reader.next();
    assert.deepEqual([response?.status, response?.isClose, response?.body], [200, true, 'let go']);
    assert.equal(await closed, undefined);
    assert.deepEqual(names, ['pool', 'preClose', 'onClose']);
    const [since = 0, , until_ = Infinity] = times;
    // Fastify's own close does not wait for a client that does not answer the FIN. The drain of lameduck waits one
    // second for such a client.
    assert.ok(until_ - since < 900, `Fastify took ${String(until_ - since)} ms to close`);
    const record = await app.lameduck.ended;
    assert.deepEqual([record.exitCode, record.reason, record.hookFailures], [0, 'app.close()', []]);
  });
}

test('P-102 if a client continues its upload after the response, lameduck reads the rest of the upload, even though Fastify has already closed', async (t) => {
  const app = await createApp(t);
  const { names } = recordCloses(app);
  app.addContentTypeParser('*', (_request, _payload, done) => {
    done(null);
  });
  app.post('/', async () => 'enough');
  const port = await listen(app);
  const client = await dial(t, { port, host: '127.0.0.1', allowHalfOpen: true });
  const half = 'x'.repeat(100_000);
  client.send(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: a/b\r\nContent-Length: 200000\r\n\r\n`);
  const closed = app.close();
  assert.deepEqual((await client.reader.next())?.isClose, true);
  await until(() => names.includes('onClose'));
  const { bytesWritten } = client.socket;
  for (const part of [half, half]) await new Promise((resolve) => client.socket.write(part, resolve));
  assert.equal(client.socket.bytesWritten - bytesWritten, 200_000);
  client.socket.end();
  await closed;
  assert.equal(client.reader.error, undefined);
});

test('P-115 while app.close() waits for the drain, routes and probes are served as in any other shutdown', async (t) => {
  const app = await createApp(t, { shutdownDelayDuration: '9s' });
  app.get('/', async () => 'served');
  const port = await listen(app);
  const closed = app.close();
  for (const [path, status] of [
    ['/', 200],
    ['/readyz', 500],
    ['/livez', 200],
  ] as const) {
    const client = await dial(t, port);
    client.get(path);
    assert.equal((await client.reader.next())?.status, status, path);
    client.socket.end();
  }
  void app.lameduck.shutdown('nothing more to ask', { budget: 1 });
  await closed;
});

test('a handler that calls app.close() sends its response, and then the application closes', async (t) => {
  const app = await createApp(t);
  app.get('/end', async () => {
    void app.close();
    return 'good bye';
  });
  const client = await dial(t, await listen(app));
  client.get('/end');
  const response = await client.reader.next();
  assert.deepEqual([response?.body, response?.isClose], ['good bye', true]);
  await app.close();
});

test('if an onRequest hook waits for app.close(), the request of this hook is cut at the end of the drain', async (t) => {
  const app = await createApp(t, { terminationGracePeriodSeconds: 7, destroyHookTimeout: '4s' });
  app.addHook('onRequest', async () => {
    await app.close();
  });
  const client = await dial(t, await listen(app));
  client.get('/waits?for=ever');
  const { exitCode, unfinished, durationMs } = await app.lameduck.ended;
  assert.deepEqual([exitCode, unfinished.map(({ route }) => route)], [80, ['/waits']]);
  assert.ok(durationMs < 4_000, String(durationMs));
  assert.equal(await client.reader.next(), undefined);
});

test('an onClose hook that fails makes app.close() reject, and counts as a failed hook', async (t) => {
  const app = await createApp(t);
  const error = new Error('the pool does not close');
  app.addHook('onClose', async () => {
    throw error;
  });
  await assert.rejects(app.close(), error);
  await assert.rejects(app.close(), error);
  const seen = await new Promise((resolve) => {
    (app.close as AnyClose)(resolve);
  });
  assert.equal(seen, error);
  const { exitCode, hookFailures } = await app.lameduck.ended;
  assert.equal(exitCode, 81);
  assert.deepEqual(hookFailures, [
    { kind: 'destroy', name: 'fastify', error: 'destroy hook "fastify" failed: the pool does not close' },
  ]);
});

test('if an onClose hook takes longer than the destroy hook timeout, app.close() still waits for the hook, and the hook is recorded as failed', async (t) => {
  const app = await createApp(t, { destroyHookTimeout: '50ms' });
  let hasClosed = false;
  app.addHook('onClose', async () => {
    await pause(200);
    hasClosed = true;
  });
  await app.close();
  assert.ok(hasClosed);
  const { hookFailures } = await app.lameduck.ended;
  assert.deepEqual(
    hookFailures.map(({ error }) => error),
    ['destroy hook "fastify" had not ended after 50ms'],
  );
});

test('P-055 if a preClose hook calls app.close() and server.close(), the shutdown is the same as without these calls', async (t) => {
  const app = await createApp(t);
  const { names } = recordCloses(app);
  let calledBack: unknown = 'not yet';
  app.addHook('preClose', async () => {
    void app.close();
    app.server.close((error) => (calledBack = error));
    app.server.closeAllConnections();
  });
  await listen(app);
  await app.close();
  assert.deepEqual(names, ['pool', 'preClose', 'onClose']);
  assert.equal(calledBack, undefined);
});

test('an application that fails to load can be closed, and no SIGTERM listener of lameduck then remains', async (t) => {
  const before = process.listenerCount('SIGTERM');
  const app = Fastify();
  t.after(() => app.close());
  void app.register(fastifyLameduck, { logger: silentLogger });
  void app.register(async () => {
    throw new Error('a plugin that cannot load');
  });
  await assert.rejects(async () => {
    await app.listen({ host: '127.0.0.1', port: 0 });
  }, /a plugin that cannot load/);
  await app.close();
  assert.equal(process.listenerCount('SIGTERM'), before);
});

test("no hook of a program may have the name `fastify`, because lameduck's own hook that closes Fastify has this name", async (t) => {
  const app = await createApp(t);
  assert.throws(
    () => {
      app.lameduck.addDestroyHook('fastify', () => app.close());
    },
    { code: 'LAMEDUCK_ERR_NAME_TAKEN' },
  );
});
