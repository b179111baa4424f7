// Tests the registration of the plugin: what it provides, which options it accepts, and when it is rejected.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import fastifyLameduck, { fastifyLameduck as namedExport } from '../src/fastify.ts';
import { lameduck } from '../src/index.ts';
import { createApp, Fastify, listen, silentLogger, type PluginOptions } from './support/fastify.ts';

const logger = silentLogger;

/**
 * `refused()` asserts that the registration of the plugin fails with the given error code, and changes neither the
 * process nor the server.
 */
async function refused(
  code: string,
  register: (app: FastifyInstance) => PromiseLike<unknown>,
  app: FastifyInstance = Fastify(),
): Promise<Error> {
  const before = process.listenerCount('SIGTERM');
  const hadSeam = Object.hasOwn(app.server, 'emit');
  let refusal: Error | undefined;
  await assert.rejects(
    async () => {
      await register(app);
      await app.ready();
    },
    (error: Error & { code?: string }) => {
      refusal = error;
      assert.equal(error.code, code, error.message);
      return true;
    },
  );
  assert.equal(process.listenerCount('SIGTERM'), before);
  assert.equal(Object.hasOwn(app.server, 'emit'), hadSeam);
  return refusal as Error;
}

test('the Fastify plugin decorates the application with the handle that lameduck() returns', async (t) => {
  const app = await createApp(t);
  t.diagnostic(`on Fastify ${app.version}`);
  const duck = lameduck([], { logger });
  t.after(() => duck.shutdown());
  assert.deepEqual(Object.keys(app.lameduck), Object.keys(duck));
  await app.register(async (inner) => {
    assert.equal(inner.lameduck, app.lameduck);
  });
});

test('the Fastify plugin is a default export, a named export, and the result of require()', async (t) => {
  const app = Fastify();
  t.after(() => app.close());
  const required = createRequire(import.meta.url)('../src/fastify.ts') as typeof fastifyLameduck;
  await app.register(required, { logger });
  assert.equal(namedExport, fastifyLameduck);
  assert.ok(app.hasPlugin('lameduck'));
  assert.equal(app.lameduck.signals.shutdownInitiated.hasSignaled, false);
});

test('a registration of the Fastify plugin without await takes effect before the application listens', async (t) => {
  const app = Fastify();
  t.after(() => app.close());
  void app.register(fastifyLameduck, { logger });
  const port = await listen(app);
  assert.equal((await fetch(`http://127.0.0.1:${String(port)}/readyz`)).status, 200);
});

test('app.listen() starts the lifecycle, and app.ready() does not', async (t) => {
  const app = await createApp(t);
  await app.ready();
  const { muxAndDiscoveryComplete } = app.lameduck.signals;
  assert.equal(muxAndDiscoveryComplete.hasSignaled, false);
  await listen(app);
  assert.equal(muxAndDiscoveryComplete.hasSignaled, true);
});

test('a registration of the Fastify plugin inside an encapsulated plugin is rejected, and the error names that plugin', async () => {
  const { message } = await refused('LAMEDUCK_ERR_PLUGIN_ENCAPSULATED', (app) =>
    app.register(async function orders(inner) {
      await inner.register(fastifyLameduck, { logger });
    }),
  );
  assert.match(message, /^fastifyLameduck: registered inside "orders", .*: expected the root instance/);
});

test('if the Fastify plugin is registered inside a plugin made with fastify-plugin, it applies to the root instance', async (t) => {
  const app = Fastify();
  t.after(() => app.close());
  const outer = async (inner: FastifyInstance): Promise<void> => {
    await inner.register(fastifyLameduck, { logger });
  };
  await app.register(fastifyPlugin(outer));
  assert.ok(app.lameduck.signals.shutdownInitiated);
});

test('registering the Fastify plugin a second time fails, and the first registration remains in effect', async (t) => {
  const app = await createApp(t);
  const duck = app.lameduck;
  const { message } = await refused('LAMEDUCK_ERR_PLUGIN_DUPLICATE', (it) => it.register(fastifyLameduck, {}), app);
  assert.match(
    message,
    /^fastifyLameduck: the application already has a decorator named lameduck: expected a single registration of the plugin/,
  );
  assert.equal(app.lameduck, duck);
  assert.equal(duck.signals.shutdownInitiated.hasSignaled, false);
});

test('an application that already has a decorator named lameduck is rejected', async () => {
  const app = Fastify();
  app.decorate('lameduck', {} as never);
  await refused('LAMEDUCK_ERR_PLUGIN_DUPLICATE', (it) => it.register(fastifyLameduck, { logger }), app);
});

test('the Fastify plugin rejects a server that already has a lifecycle', async (t) => {
  const app = Fastify();
  const duck = lameduck(app.server, { logger });
  t.after(() => duck.shutdown());
  await refused('LAMEDUCK_ERR_SERVER_TAKEN', (it) => it.register(fastifyLameduck, { logger }), app);
});

for (const options of [
  { shutdownDelay: '1s' },
  { preStopSeconds: -1 },
  { logger: {} },
  { route: 7 },
  { longRunning: 7 },
]) {
  test(`the Fastify plugin rejects the options ${JSON.stringify(options)} as lameduck() does`, async () => {
    await refused('LAMEDUCK_ERR_SETTINGS_INVALID', (app) =>
      app.register(fastifyLameduck, { logger, ...options } as PluginOptions),
    );
  });
}

test('the Fastify plugin rejects options that are not an object', async () => {
  await refused('LAMEDUCK_ERR_OPTIONS_INVALID', (app) => app.register(fastifyLameduck, 7 as PluginOptions));
});

test('the Fastify plugin ignores the options that Fastify itself reads, and does not change the options object', async (t) => {
  const app = Fastify();
  t.after(() => app.close());
  const options = Object.freeze({ prefix: '/api', logLevel: 'warn' as const, logSerializers: {}, logger });
  await app.register(fastifyLameduck, options);
  await app.register(async (inner) => {
    assert.equal(inner.lameduck, app.lameduck);
  });
});

test('the options of the Fastify plugin can be passed as a function that returns them, as for any Fastify plugin', async (t) => {
  const app = Fastify();
  t.after(() => app.close());
  await app.register(fastifyLameduck, () => ({ logger, shutdownDelayDuration: '1s' }));
  assert.ok(app.lameduck);
});

test('a Fastify version that is too old is rejected, and the error names the oldest supported version', async () => {
  const app = Fastify();
  Object.defineProperty(app, 'version', { value: '5.7.4' });
  const register = (it: FastifyInstance): PromiseLike<unknown> => it.register(fastifyLameduck, { logger });
  const { message } = await refused('LAMEDUCK_ERR_PACKAGE_OUTDATED', register, app);
  assert.match(message, /needs fastify 5\.8 or newer, got 5\.7\.4/);
});

test('the Fastify plugin logs to the logger of the application if there is one', async (t) => {
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const app = Fastify({ logger: { level: 'info', stream } });
  t.after(() => app.close());
  await app.register(fastifyLameduck);
  await listen(app);
  await app.close();
  assert.ok(
    lines.some((line) => line.includes('"msg":"lifecycle started')),
    lines.join(''),
  );
  assert.match(lines.at(-1) ?? '', /"schema":"lameduck\/shutdown\/v1","reason":"app.close\(\)"/);
});

test('if the Fastify plugin of lameduck has the option `logger`, lameduck logs to this logger and not to the logger of the Fastify application', async (t) => {
  const written: unknown[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      written.push(chunk);
      done();
    },
  });
  const messages: string[] = [];
  const info = (_details: object, message: string): unknown => messages.push(message);
  const app = Fastify({ logger: { level: 'info', stream } });
  t.after(() => app.close());
  await app.register(fastifyLameduck, { logger: { ...logger, info } });
  await app.close();
  assert.equal(messages.at(-1), 'shutdown ended');
  assert.deepEqual(written, []);
});
