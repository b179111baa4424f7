// Tests that the plugin reads the names of routes, and which routes are long-running, from Fastify's router.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { FastifyInstance, RouteOptions } from 'fastify';
import fastifyLameduck, { type LameduckOptions } from '../../src/fastify.ts';
import { createApp, dial, Fastify, listen, silentLogger } from '../support/fastify.ts';
import type { Client } from '../support/serving.ts';
import { until } from '../support/until.ts';

const longRunning = { config: { lameduck: { longRunning: true } } } as const;
// With these options of the plugin, the time limit of the drain is one second. After this second, the drain destroys
// unfinished requests.
const shortDrain = { terminationGracePeriodSeconds: 4, destroyHookTimeout: '1s' } as const;

/**
 * `ask()` opens a new connection for each path, and sends one request for the path on it. The returned promise resolves
 * when all requests have reached their handlers.
 */
async function ask(
  t: TestContext,
  app: FastifyInstance,
  paths: readonly string[],
  count: () => number,
): Promise<Client[]> {
  const port = await listen(app);
  const clients = [];
  for (const path of paths) {
    const client = await dial(t, port);
    client.get(path);
    clients.push(client);
  }
  await until(() => count() === paths.length);
  return clients;
}

/** `poller()` adds a handler that responds when its AbortSignal is aborted. It counts the waiting requests. */
function poller(app: FastifyInstance): { readonly handler: RouteOptions['handler']; readonly count: () => number } {
  let waiting = 0;
  return {
    async handler(request) {
      const signal = app.lameduck.abortSignal(request);
      waiting++;
      await new Promise((resolve) => {
        signal.addEventListener('abort', resolve);
      });
      return 'come back';
    },
    count: () => waiting,
  };
}

test('P-033, P-035 the drain ends a request of a route with longRunning, and waits for any other request', async (t) => {
  const app = await createApp(t, shortDrain);
  const { handler, count } = poller(app);
  app.get('/poll', longRunning, handler);
  app.get('/report', { config: { lameduck: { longRunning: false } } }, handler);
  const [poll, report] = await ask(t, app, ['/poll', '/report'], count);
  const closed = app.close();
  assert.equal((await poll?.reader.next())?.body, 'come back');
  await closed;
  assert.equal(await report?.reader.next(), undefined);
  const { longRunningEnded, unfinished } = await app.lameduck.ended;
  assert.equal(longRunningEnded, 1);
  assert.deepEqual(
    unfinished.map(({ route }) => route),
    ['/report'],
  );
});

test('the onRequest hooks of a long-running Fastify route still run, after the onRequest hooks of the application', async (t) => {
  const app = await createApp(t);
  const { handler, count } = poller(app);
  const called: string[] = [];
  const hook = (name: string) => async (): Promise<void> => {
    called.push(name);
  };
  app.addHook('onRequest', hook('scope'));
  const hooks = Object.freeze([hook('first'), hook('second')]);
  app.get('/several', { ...longRunning, onRequest: hooks as (typeof hooks)[number][] }, handler);
  app.get('/one', { ...longRunning, onRequest: hook('one') }, handler);
  const clients = await ask(t, app, ['/several', '/one'], count);
  const closed = app.close();
  for (const client of clients) assert.equal((await client.reader.next())?.body, 'come back');
  await closed;
  assert.deepEqual(called, ['scope', 'first', 'second', 'scope', 'one']);
  assert.equal((await app.lameduck.ended).longRunningEnded, 2);
});

test('longRunning applies to routes in encapsulated scopes, with prefixes or several methods, and to routes added before the Fastify plugin', async (t) => {
  const app = Fastify();
  t.after(() => app.lameduck.shutdown('end of the test', { budget: 1 }));
  // Do not await the registration of the plugin. Then the routes below are added before Fastify loads the plugin.
  void app.register(fastifyLameduck, { logger: silentLogger });
  let counted = 0;
  const handler: RouteOptions['handler'] = async (request) => {
    const signal = app.lameduck.abortSignal(request);
    counted++;
    await new Promise((resolve) => {
      signal.addEventListener('abort', resolve);
    });
    return '';
  };
  app.get('/early', longRunning, handler);
  void app.register(
    async (inner) => {
      inner.get('/', longRunning, handler);
      inner.route({ method: ['GET', 'POST'], url: '/both', ...longRunning, handler });
    },
    { prefix: '/inner' },
  );
  const paths = ['/early', '/inner', '/inner/', '/inner/both'];
  const clients = await ask(t, app, paths, () => counted);
  const closed = app.close();
  for (const client of clients) assert.equal((await client.reader.next())?.status, 200);
  await closed;
  const { longRunningEnded, unfinished } = await app.lameduck.ended;
  assert.deepEqual({ longRunningEnded, unfinished }, { longRunningEnded: 4, unfinished: [] });
});

test('a long-running route that is added after the Fastify plugin gets an onRequest hook, and other routes get none', async (t) => {
  const app = await createApp(t);
  app.get('/poll', longRunning, async () => '');
  app.get('/', async () => '');
  await app.ready();
  const routes = app.printRoutes({ commonPrefix: false, includeHooks: true });
  // The printed routes contain `onRequest` twice: once for the GET route, and once for the HEAD route that Fastify adds
  // to it.
  assert.equal(routes.match(/onRequest/g)?.length, 2, routes);
});

for (const given of [
  null,
  true,
  'longRunning',
  [],
  { longRunning: 'yes' },
  { longrunning: true },
  { longRunning: 1 },
]) {
  test(`a route with config.lameduck ${JSON.stringify(given)} is rejected when it is added`, async (t) => {
    const app = await createApp(t);
    const config = { lameduck: given } as NonNullable<RouteOptions['config']>;
    assert.throws(() => app.route({ method: ['GET', 'HEAD'], url: '/poll', config, handler: async () => '' }), {
      code: 'LAMEDUCK_ERR_ROUTE_INVALID',
      message: /^config\.lameduck of GET, HEAD \/poll: .*: expected an object with longRunning/,
    });
  });
}

for (const given of [undefined, {}, { longRunning: undefined }]) {
  test(`a route whose config.lameduck is ${JSON.stringify(given)}, which does not set longRunning, is not long-running`, async (t) => {
    const app = await createApp(t);
    app.get('/', { config: { lameduck: given } }, async () => 'served');
    assert.equal((await app.inject('/')).body, 'served');
  });
}

/**
 * routesInTheLog sends one request for each path, and no request gets a response. It returns the routes with which the
 * log names these requests.
 */
async function routesInTheLog(t: TestContext, options: LameduckOptions, paths: readonly string[]): Promise<string[]> {
  const app = await createApp(t, { ...shortDrain, ...options });
  let waiting = 0;
  const handler = async (): Promise<never> => {
    waiting++;
    return new Promise(() => undefined);
  };
  app.get('/users/:id', handler);
  void app.register(
    async (inner) => {
      inner.get('/orders/*', handler);
      inner.setNotFoundHandler(handler);
    },
    { prefix: '/api' },
  );
  await ask(t, app, paths, () => waiting);
  await app.close();
  return (await app.lameduck.ended).unfinished.map(({ route }) => route).sort();
}

const paths = ['/users/42?verbose', '/api/orders/7/items', '/api/nowhere'];

test('with metrics, the log names a request by its route, or by its path if there is no route', async (t) => {
  const routes = await routesInTheLog(t, { metricsPath: '/metrics' }, paths);
  assert.deepEqual(routes, ['/api/nowhere', '/api/orders/*', '/users/:id']);
});

test('the log shows the route of a request only if metrics are on, and otherwise its path', async (t) => {
  assert.deepEqual(await routesInTheLog(t, {}, paths), ['/api/nowhere', '/api/orders/7/items', '/users/42']);
});

test("the option route takes precedence over the route names of Fastify's router", async (t) => {
  const route = (): string => 'of the program';
  assert.deepEqual(await routesInTheLog(t, { metricsPath: '/metrics', route }, paths.slice(1)), [
    'of the program',
    'of the program',
  ]);
});
