// Tests requests that are injected in process into an application with the plugin.
import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { createApp, dial, Fastify } from '../support/fastify.ts';

test('P-031 inject() works in each form of its call, with a callback, a promise or a chain, and the drain does not count injected requests', async (t) => {
  const app = await createApp(t);
  app.get('/', async () => 'served');
  app.post('/', async (request) => request.body);
  assert.equal((await app.inject('/')).body, 'served');
  assert.deepEqual((await app.inject().post('/').payload({ id: 1 }).end()).json(), { id: 1 });
  const body = await new Promise((resolve) => {
    app.inject({ method: 'GET', url: '/' }, (_error, response) => {
      resolve(response?.body);
    });
  });
  assert.equal(body, 'served');
  assert.equal((await app.inject('/nowhere')).statusCode, 404);
  await app.close();
  const { requests, unfinished } = await app.lameduck.ended;
  assert.deepEqual(
    { requests, unfinished },
    { requests: { answered: 0, refused: 0, aborted: 0, cut: 0 }, unfinished: [] },
  );
});

test('P-031 an injected probe gets the same response as a probe over a socket, whatever hooks and routes the application has', async (t) => {
  const app = await createApp(t, { metricsPath: '/metrics' });
  app.addHook('onRequest', async (_request, reply) => reply.code(401).send());
  app.get('/*', async () => 'any');
  app.lameduck.addReadyzCheck('database', () => false);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  for (const path of ['/readyz', '/livez?verbose', '/readyz/database', '/healthz/nothing', '/metrics/slis']) {
    const client = await dial(t, port);
    client.get(path);
    const [injected, sent] = [await app.inject(path), await client.reader.next()];
    assert.equal(injected.statusCode, sent?.status, path);
    if (path !== '/metrics/slis') assert.equal(injected.body, sent?.body);
    const shown = (sent?.head ?? '').split('\r\n').map((line) => line.toLowerCase().split(': '));
    const { 'content-type': type, 'cache-control': cache } = injected.headers;
    assert.deepEqual(
      [type, cache],
      ['content-type', 'cache-control'].map((name) => shown.find(([it]) => it === name)?.[1]),
    );
  }
  assert.equal((await app.inject('/')).statusCode, 401);
});

test('P-031 app.inject() of a probe works with a callback, a promise or chained methods, before the application is loaded and during its shutdown', async (t) => {
  const app = await createApp(t);
  void app.register(async (inner) => {
    inner.lameduck.addReadyzCheck('late', () => true);
  });
  assert.match((await app.inject('/readyz?verbose')).body, /^\[\+\]late ok$/m);
  assert.equal((await app.inject().get('/readyz/late').end()).body, 'ok');
  assert.equal((await app.inject({ method: 'HEAD', path: '/livez' })).body, '');
  assert.equal((await app.inject({ url: { pathname: '/livez', query: 'verbose' } })).statusCode, 200);

  let statusInHook: number | undefined;
  app.lameduck.addPreShutdownHook('probe', async () => {
    statusInHook = (await app.inject('/readyz')).statusCode;
  });
  const status = await new Promise((resolve) => {
    app.inject('/readyz', (_error, response) => {
      resolve(response?.statusCode);
    });
  });
  assert.equal(status, 200);
  await app.close();
  assert.equal(statusInHook, 500);
});

test('a request that is injected after the application has closed fails with the same error as without lameduck', async (t) => {
  const code = async (app: FastifyInstance): Promise<unknown[]> => {
    await app.ready();
    await app.close();
    const called = new Promise((resolve) => {
      app.inject('/readyz', (error) => {
        resolve((error as { code?: string } | undefined)?.code);
      });
    });
    const rejected = app.inject('/readyz').then(
      () => 'answered',
      (error: unknown) => (error as { code?: string }).code,
    );
    return Promise.all([called, rejected]);
  };
  assert.deepEqual(await code(await createApp(t)), await code(Fastify()));
});

test('if an application cannot load, a request that is injected into it fails with the same error as in Fastify without lameduck', async (t) => {
  const message = async (app: FastifyInstance): Promise<unknown> => {
    void app.register(async () => {
      throw new Error('a plugin that cannot load');
    });
    try {
      await app.inject('/readyz');
      return 'answered';
    } catch (error) {
      return (error as Error).message;
    }
  };
  assert.equal(await message(await createApp(t)), await message(Fastify()));
});
