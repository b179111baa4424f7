// Tests app.close() of a Fastify application with the plugin, at each point of the lifecycle: with a callback, and with
// a promise. Tests two other ways that have the same effect: the AbortSignal of listen(), and close() of an
// encapsulated instance.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { createApp, Fastify, listen, recordCloses } from '../support/fastify.ts';
import { until } from '../support/until.ts';

type AnyClose = (callback?: unknown) => unknown;

test('app.close() accepts a callback with zero to three parameters, and calls it with the arguments that Fastify itself would pass', async (t) => {
  const forms: ((seen: unknown[][]) => (...args: never[]) => void)[] = [
    (seen) => () => seen.push([]),
    (seen) => (error: unknown) => seen.push([error]),
    (seen) => (error: unknown, done: () => void) => {
      seen.push([error, typeof done]);
      done();
    },
    (seen) => (error: unknown, instance: unknown, done: () => void) => {
      seen.push([error, instance, typeof done]);
      done();
    },
  ];
  const apps = [await createApp(t), Fastify()];
  const [ours, theirs] = await Promise.all(
    apps.map(async (app) => {
      const seen: unknown[][] = [];
      await app.ready();
      for (const form of forms) assert.equal((app.close as AnyClose)(form(seen)), app);
      await until(() => seen.length === forms.length);
      return seen.map((args) => args.map((arg) => (arg === app ? 'the application' : (arg ?? 'nothing'))));
    }),
  );
  assert.deepEqual(ours, theirs);
});

test('app.close() with an argument that is not a function fails as in Fastify, and begins no shutdown', async (t) => {
  const [app, plain] = [await createApp(t), Fastify()];
  const refusal = (it: FastifyInstance): unknown => {
    try {
      return (it.close as AnyClose)('now');
    } catch (error) {
      return (error as { code?: string }).code;
    }
  };
  assert.equal(refusal(app), refusal(plain));
  assert.equal(app.lameduck.signals.shutdownInitiated.hasSignaled, false);
});

test('P-115 if an application is closed with Symbol.asyncDispose, with the AbortSignal of listen(), or with close() of an encapsulated instance, it shuts down as with close() of the root instance', async (t) => {
  const ways: ((app: FastifyInstance) => unknown)[] = [
    (app) => app[Symbol.asyncDispose](),
    async (app) => {
      const controller = new AbortController();
      await app.listen({ host: '127.0.0.1', port: 0, signal: controller.signal });
      controller.abort();
    },
    async (app) => {
      let inner: FastifyInstance | undefined;
      await app.register(async (instance) => {
        inner = instance;
      });
      await inner?.close();
    },
  ];
  for (const close of ways) {
    const app = await createApp(t);
    const { names } = recordCloses(app);
    await close(app);
    assert.equal((await app.lameduck.ended).reason, 'app.close()');
    await until(() => names.length === 3);
    assert.deepEqual(names, ['pool', 'preClose', 'onClose']);
  }
});

const moments: Readonly<Record<string, (app: FastifyInstance) => Promise<unknown>>> = {
  'before the application is ready': async () => undefined,
  'before the application listens': async (app) => {
    await app.ready();
  },
  'when the application listens': (app) => listen(app),
  'while the application begins to listen': async (app) => {
    const listening = app.listen({ host: '127.0.0.1', port: 0 });
    const closing = app.close();
    await Promise.all([listening, closing]);
  },
  'after shutdown()': (app) => app.lameduck.shutdown('the program'),
  'during shutdown()': async (app) => {
    void app.lameduck.shutdown('the program');
  },
  'after close()': (app) => app.close(),
  'during close()': async (app) => {
    void app.close();
  },
};

for (const [when, reach] of Object.entries(moments)) {
  test(`if app.close() is called ${when}, its promise resolves, and each hook of the application has run once`, async (t) => {
    const app = await createApp(t);
    const { names } = recordCloses(app);
    await reach(app);
    assert.equal(await app.close(), undefined);
    assert.deepEqual(names, ['pool', 'preClose', 'onClose']);
    assert.equal(app.server.listening, false);
  });
}
