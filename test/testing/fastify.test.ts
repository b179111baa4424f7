// Tests runShutdown on Fastify applications.
import assert from 'node:assert/strict';
import Fastify, { type FastifyInstance } from 'fastify';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import { fastifyLameduck } from '../../src/fastify.ts';
import { lameduck, type Logger } from '../../src/index.ts';
import { runShutdown } from '../../src/testing.ts';

const logger: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined };

function application(closed: string[]): FastifyInstance {
  const app = Fastify();
  void app.register(fastifyLameduck, { logger, shutdownDelayDuration: '10s' });
  app.get('/orders/:id', async (request) => {
    await sleep(20);
    return request.params;
  });
  app.addHook('onClose', async () => {
    closed.push('onClose');
  });
  return app;
}

test('runShutdown shuts down an application that has the plugin, and the onClose hooks of the application run', async () => {
  const closed: string[] = [];
  const { record, result } = await runShutdown(application(closed), async (origin) =>
    (await fetch(`${origin}/orders/7`)).json(),
  );
  assert.deepEqual(result, { id: '7' });
  assert.deepEqual([record.exitCode, record.requests.answered], [0, 1]);
  assert.ok(record.durationMs < 5_000);
  assert.deepEqual(closed, ['onClose']);
});

test('runShutdown accepts an application that is ready, or that already listens', async () => {
  for (const prepare of [(app: FastifyInstance) => app.ready(), (app: FastifyInstance) => app.listen({ port: 0 })]) {
    const app = application([]);
    await prepare(app);
    const { result } = await runShutdown(app, async (origin) => (await fetch(`${origin}/orders/7`)).status);
    assert.equal(result, 200);
  }
});

test("runShutdown rejects with the application's error if its plugins cannot be loaded", async () => {
  const app = application([]);
  void app.register(async () => {
    throw new Error('no database');
  });
  await assert.rejects(
    runShutdown(app, () => undefined),
    /no database/,
  );
  await app.close();
});

test('runShutdown rejects an application without the plugin, but accepts its server if the server has a lifecycle', async () => {
  const app = Fastify();
  await assert.rejects(
    runShutdown(app as never, () => undefined),
    { code: 'LAMEDUCK_ERR_SERVER_INVALID', message: /lameduck\/fastify/ },
  );
  await app.close();
  const other = Fastify();
  other.get('/', async () => 'served');
  const duck = lameduck(other.server, { logger });
  duck.addDestroyHook('fastify', () => other.close());
  await other.ready();
  const { result } = await runShutdown(other.server, async (origin) => (await fetch(origin)).text());
  assert.equal(result, 'served');
});
