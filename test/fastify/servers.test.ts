// Tests the servers of a Fastify application: the servers that Fastify creates for further addresses, and each kind of
// server that Fastify accepts.
import assert from 'node:assert/strict';
import { channel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, get, type RequestListener } from 'node:http';
import { createServer as createSecureServer, get as getSecure } from 'node:https';
import { createServer as createNetServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { FastifyInstance, FastifyServerOptions } from 'fastify';
import fastifyLameduck from '../../src/fastify.ts';
import { lameduck } from '../../src/index.ts';
import { certificate } from '../fixtures/certificate.ts';
import { createApp, dial, Fastify, listen, silentLogger } from '../support/fastify.ts';
import { localhost, patchLocalhost } from '../support/localhost.ts';
import type { Client } from '../support/serving.ts';
import { until } from '../support/until.ts';

const logger = silentLogger;
const [, second] = localhost;

interface Twofold {
  readonly app: FastifyInstance;
  /** A client with a connection to the server on the second address of `localhost`. */
  readonly client: Client;
  readonly port: number;
  readonly letGo: () => void;
}

/** listenTwice starts an application on both addresses of `localhost`. */
async function listenTwice(t: TestContext, serverOptions: FastifyServerOptions = {}): Promise<Twofold> {
  t.after(patchLocalhost());
  const app = await createApp(t, {}, serverOptions);
  let letGo = (): void => undefined;
  app.get('/held', async () => {
    await new Promise<void>((resolve) => (letGo = resolve));
    return 'let go';
  });
  app.get('/', async () => 'served');
  const port = await listen(app, 'localhost');
  assert.equal(app.addresses().length, 2);
  return {
    app,
    port,
    client: await dial(t, { port, host: second }),
    letGo: () => {
      letGo();
    },
  };
}

async function refusesConnections(t: TestContext, port: number, host: string): Promise<boolean> {
  try {
    await dial(t, { port, host });
    return false;
  } catch {
    return true;
  }
}

for (const serverOptions of [{}, { forceCloseConnections: true }]) {
  const kind = JSON.stringify(serverOptions);
  test(`P-020, P-112 with the server options ${kind}, a shutdown treats a request to the second address of localhost like a request to the first`, async (t) => {
    const { app, port, client, letGo } = await listenTwice(t, serverOptions);
    client.get('/held');
    await until(() => app.lameduck.signals.hasBeenReady.hasSignaled);
    const probes = await dial(t, { port, host: second });
    probes.get('/readyz');
    assert.equal((await probes.reader.next())?.body, 'ok');

    const closed = app.close();
    probes.get('/readyz');
    const red = await probes.reader.next();
    assert.deepEqual([red?.status, red?.isClose], [500, true]);
    await app.lameduck.signals.httpServerStoppedListening.signaled;
    for (const host of localhost) assert.ok(await refusesConnections(t, port, host), host);
    letGo();
    const response = await client.reader.next();
    assert.deepEqual([response?.status, response?.isClose, response?.body], [200, true, 'let go']);
    await closed;
  });

  test(`P-004 with the server options ${kind}, the drain serves a connection to the second address of localhost, even if the first address has no connection`, async (t) => {
    const { app, client } = await listenTwice(t, serverOptions);
    client.get('/');
    assert.equal((await client.reader.next())?.isClose, false);
    const closed = app.close();
    await app.lameduck.signals.httpServerStoppedListening.signaled;
    client.get('/');
    const response = await client.reader.next();
    assert.deepEqual([response?.status, response?.isClose], [200, true]);
    await closed;
  });
}

test('an upgraded socket on the second address of localhost counts as one long-running request, although Fastify passes the socket to the servers of both addresses', async (t) => {
  const { app, client } = await listenTwice(t);
  app.server.on('upgrade', (_request, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
  });
  client.get('/', 'Connection: Upgrade\r\nUpgrade: echo\r\n');
  assert.equal((await client.reader.next())?.status, 101);
  const closed = app.close();
  client.socket.on('end', () => client.socket.end());
  await closed;
  const { longRunningEnded, unfinished } = await app.lameduck.ended;
  assert.deepEqual({ longRunningEnded, unfinished }, { longRunningEnded: 1, unfinished: [] });
});

test('P-020 app.close() drains each server whose requests the application handles, and closes no other server', async (t) => {
  const app = await createApp(t);
  let letGo = (): void => undefined;
  app.get('/held', async () => {
    await new Promise<void>((resolve) => (letGo = resolve));
    return 'let go';
  });
  await listen(app);
  const handle: RequestListener = (request, response) => {
    app.routing(request, response);
  };
  // eslint-disable-next-line @typescript-eslint/unbound-method
  const [joined, wrapped, managed] = [createServer(app.routing), createServer(handle), createServer(app.routing)];
  const duck = lameduck(managed, { logger });
  t.after(() => duck.shutdown());
  for (const server of [joined, wrapped, managed]) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
  t.after(() => wrapped.close());

  const client = await dial(t, (joined.address() as AddressInfo).port);
  client.get('/held');
  await once(joined, 'request');
  const closed = app.close();
  await app.lameduck.signals.httpServerStoppedListening.signaled;
  letGo();
  assert.equal((await client.reader.next())?.isClose, true);
  await closed;
  assert.deepEqual(
    [joined, wrapped, managed].map((server) => server.listening),
    [false, true, true],
  );
  assert.equal(duck.signals.shutdownInitiated.hasSignaled, false);
});

test('A-014, P-020 if app.server never listens, the lifecycle starts when another server of the application listens', async (t) => {
  const starts: unknown[] = [];
  const onStart = (fields: unknown, message?: string): void => {
    if (message?.startsWith('lifecycle started')) starts.push((fields as { addresses?: unknown }).addresses);
  };
  const app = await createApp(t, { logger: { ...logger, info: onStart } });
  await app.ready();
  // eslint-disable-next-line @typescript-eslint/unbound-method
  const servers = [createServer(app.routing), createServer(app.routing)];
  for (const server of servers) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
  await app.lameduck.signals.hasBeenReady.signaled;
  const { port } = servers[0]?.address() as AddressInfo;
  assert.deepEqual(starts, [[`127.0.0.1:${String(port)}`]]);
  await app.close();
  assert.deepEqual(
    servers.map((server) => server.listening),
    [false, false],
  );
});

test('P-070 after its lifecycle has ended, the Fastify plugin no longer watches for new servers of the process', async (t) => {
  const listens = channel('tracing:net.server.listen:asyncStart');
  const app = await createApp(t);
  await app.ready();
  assert.equal(listens.hasSubscribers, true);
  await app.close();
  assert.equal(listens.hasSubscribers, false);
});

test('if no shutdown has begun, app.close() closes the servers as if the Fastify plugin were not registered', async (t) => {
  const { app, client } = await listenTwice(t);
  client.get('/');
  assert.equal((await client.reader.next())?.status, 200);
  const closed = once(app.server, 'close');
  app.server.close();
  await closed;
  assert.equal(await client.reader.next(), undefined);
});

test('P-020 an application on a unix socket drains as it does on a port', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'fastify-'));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, 'app.sock');
  const app = await createApp(t);
  app.get('/', async () => 'served');
  await app.listen({ path });
  await app.lameduck.signals.hasBeenReady.signaled;
  const client = await dial(t, { path });
  client.get('/');
  assert.equal((await client.reader.next())?.body, 'served');
  const closed = app.close();
  client.get('/');
  assert.equal((await client.reader.next())?.isClose, true);
  await closed;
  assert.equal((await app.lameduck.ended).exitCode, 0);
});

const kinds: Readonly<Record<string, object>> = {
  'the option https': { https: certificate },
  'a serverFactory of node:http': { serverFactory: (handler: RequestListener) => createServer(handler) },
  'a serverFactory of node:https': {
    serverFactory: (handler: RequestListener) => createSecureServer(certificate, handler),
  },
};

for (const [kind, serverOptions] of Object.entries(kinds)) {
  test(`P-047 a Fastify application serves probes and drains on each kind of server, here on ${kind}`, async (t) => {
    t.after(patchLocalhost());
    const app = await createApp(t, {}, serverOptions);
    app.get('/', async () => 'served');
    const port = await listen(app, 'localhost');
    const ask = async (path: string): Promise<number | undefined> => {
      const options = { port, host: '127.0.0.1', path, agent: false, rejectUnauthorized: false };
      const [response] = (await once((kind.includes('https') ? getSecure : get)(options), 'response')) as [
        { statusCode?: number; resume(): void },
      ];
      response.resume();
      return response.statusCode;
    };
    assert.deepEqual([await ask('/readyz'), await ask('/')], [200, 200]);
    await app.close();
    assert.equal((await app.lameduck.ended).exitCode, 0);
    assert.equal(app.server.listening, false);
  });
}

test('an application with a server that does not speak HTTP is rejected', async () => {
  const app = Fastify({ serverFactory: () => createNetServer() as never });
  await assert.rejects(
    async () => {
      await app.register(fastifyLameduck, { logger });
    },
    { code: 'LAMEDUCK_ERR_SERVER_INVALID' },
  );
  await app.close();
});
