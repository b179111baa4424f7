// Tests the gRPC health service of a lifecycle with a real client over real sockets.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createNetServer, type AddressInfo } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { Server, ServerCredentials, status as codes, type sendUnaryData } from '@grpc/grpc-js';
import { grpcHealth, type GrpcHealth, type GrpcHealthOptions } from '../src/grpc.ts';
import { lameduck, type Lameduck, type LameduckOptions, type Logger } from '../src/index.ts';
import { callEcho, echo, GrpcHealthClient } from './support/grpc.ts';

interface Subject {
  readonly duck: Lameduck;
  readonly health: GrpcHealth;
  readonly warnings: string[];
  /** `start()` makes the server listen. */
  readonly start: () => Promise<void>;
}

function subject(t: TestContext, options: LameduckOptions = {}, health: GrpcHealthOptions = {}): Subject {
  const warnings: string[] = [];
  const logger: Logger = {
    info: () => undefined,
    warn: (_details, message) => warnings.push(message),
    error: () => undefined,
  };
  const server = createServer();
  const duck = lameduck(server, { logger, shutdownDelayDuration: '0s', ...options });
  t.after(() => duck.shutdown());
  return {
    duck,
    warnings,
    health: grpcHealth(duck, health),
    start: async () => {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
    },
  };
}

async function ownPort(t: TestContext, { health, start }: Subject): Promise<GrpcHealthClient> {
  const port = await health.listen('127.0.0.1:0');
  await start();
  return clientOf(t, port);
}

function clientOf(t: TestContext, port: number): GrpcHealthClient {
  const client = new GrpcHealthClient(port);
  t.after(() => {
    client.stub.close();
  });
  return client;
}

/**
 * Starts a gRPC server with the health service and with one other service. The test decides when each call of the other
 * service gets its response.
 */
async function ownServer(t: TestContext, { health, start }: Subject): Promise<OwnServer> {
  const server = new Server();
  const waiting: sendUnaryData<string>[] = [];
  server.addService(echo, { call: (_call: unknown, callback: sendUnaryData<string>) => waiting.push(callback) });
  health.addTo(server);
  const port = await promisify(server.bindAsync.bind(server))('127.0.0.1:0', ServerCredentials.createInsecure());
  await start();
  t.after(() => {
    server.forceShutdown();
  });
  const call = async (): Promise<{ readonly answer: Promise<string | number> }> => {
    const before = waiting.length;
    const calling = callEcho(port, 'hello');
    t.after(calling.close);
    while (waiting.length === before) await new Promise((resolve) => setImmediate(resolve));
    return calling;
  };
  return { port, waiting, call };
}

interface OwnServer {
  readonly port: number;
  readonly waiting: sendUnaryData<string>[];
  /** Begins a gRPC call, and resolves when the server has received the call. */
  call(): Promise<{ readonly answer: Promise<string | number> }>;
}

void describe('the gRPC health service', { concurrency: 4 }, () => {
  test('K-032, K-033 the gRPC health service reports the status of /readyz for the services "" and readyz, the status of /livez for livez, and the status of /healthz for healthz', async (t) => {
    const it = subject(t);
    let isReady = true;
    it.duck.addReadyzCheck('flag', () => isReady);
    const client = await ownPort(t, it);
    assert.deepEqual(await statuses(client), ['SERVING', 'SERVING', 'SERVING', 'SERVING']);
    isReady = false;
    assert.deepEqual(await statuses(client), ['NOT_SERVING', 'NOT_SERVING', 'SERVING', 'SERVING']);
    assert.deepEqual(Object.keys(await client.list()).sort(), ['', 'healthz', 'livez', 'readyz']);
  });

  test('K-033 an unknown gRPC service is NOT_FOUND for Check and SERVICE_UNKNOWN for Watch', async (t) => {
    const client = await ownPort(t, subject(t));
    assert.equal(await client.check('nobody'), codes.NOT_FOUND);
    const watch = client.watch('nobody');
    await watch.first;
    assert.deepEqual(watch.told, ['SERVICE_UNKNOWN']);
  });

  test('the status of a gRPC service depends only on the readyz checks of its group', async (t) => {
    const it = subject(t, {}, { services: { 'shop.Orders': 'orders', 'shop.Stock': 'stock', 'shop.None': 'none' } });
    it.duck.addReadyzCheck('orders-db', () => false, { group: 'orders' });
    it.duck.addReadyzCheck('stock-db', () => true, { group: 'stock' });
    const client = await ownPort(t, it);
    assert.equal(await client.check('shop.Orders'), 'NOT_SERVING');
    assert.equal(await client.check('shop.Stock'), 'SERVING');
    assert.equal(await client.check(''), 'NOT_SERVING');
    assert.deepEqual(
      it.warnings.filter((warning) => warning.includes('gRPC')),
      ['gRPC service "shop.None" uses the group "none", but no readyz check is in this group'],
    );
  });

  test('P-046 from ShutdownInitiated to the end of the lifecycle, every gRPC service except livez and healthz is NOT_SERVING', async (t) => {
    // The destroy hook sends five gRPC calls to its own process. The destroy hook timeout must be long enough for all
    // five responses.
    const it = subject(t, { destroyHookTimeout: '20s' }, { services: { 'shop.Orders': 'orders' } });
    let asked: unknown[] = [];
    it.duck.addDestroyHook('ask', async () => {
      asked = [...(await statuses(client)), await client.check('shop.Orders')];
    });
    const client = await ownPort(t, it);
    assert.equal(await client.check('shop.Orders'), 'SERVING');
    await it.duck.shutdown();
    assert.deepEqual(asked, ['NOT_SERVING', 'NOT_SERVING', 'SERVING', 'SERVING', 'NOT_SERVING']);
    // This call of the method Check may arrive while the gRPC server is closing. Such a call fails with CANCELLED
    // instead of UNAVAILABLE.
    const code = await client.check('livez');
    assert.ok(code === codes.UNAVAILABLE || code === codes.CANCELLED, String(code));
  });

  test('P-046 a Watch stream gets NOT_SERVING at ShutdownInitiated, unless it watches livez, and ends without an error', async (t) => {
    const it = subject(t);
    const client = await ownPort(t, it);
    const watch = client.watch();
    const live = client.watch('livez');
    await Promise.all([watch.first, live.first]);
    it.duck.addPreShutdownHook('see', async () => {
      while (watch.told.length < 2) await new Promise((resolve) => setImmediate(resolve));
    });
    await it.duck.shutdown();
    assert.deepEqual(await watch.end, ['SERVING', 'NOT_SERVING', `code ${String(codes.OK)}`]);
    assert.deepEqual(await live.end, ['SERVING', `code ${String(codes.OK)}`]);
  });

  test('A-042, P-087 over gRPC an unfinished post-start hook fails livez only after livezGracePeriod, as it does over HTTP', async (t) => {
    for (const [livezGracePeriod, status] of [
      ['1m', 'SERVING'],
      ['1ms', 'NOT_SERVING'],
    ] as const) {
      const it = subject(t, { livezGracePeriod });
      const hook = Promise.withResolvers<undefined>();
      it.duck.addPostStartHook('warm-up', () => hook.promise);
      const client = await ownPort(t, it);
      let found = await client.check('livez');
      while (found !== status) found = await client.check('livez');
      assert.equal(await client.check('readyz'), 'NOT_SERVING');
      hook.resolve(undefined);
    }
  });

  test('each of a thousand Watch streams gets a change of status, and a further stream is rejected until one of them has ended', async (t) => {
    const client = await ownPort(t, subject(t));
    const watches = Array.from({ length: 1_000 }, () => client.watch());
    await Promise.all(watches.map(({ first }) => first));
    const refused = [`code ${String(codes.RESOURCE_EXHAUSTED)}`];
    assert.deepEqual(await client.watch().end, refused);
    watches[0]?.cancel();
    let more = client.watch();
    while ((await Promise.race([more.first.then(() => 'told'), more.end])) !== 'told') more = client.watch();
  });

  test('a Watch stream gets the new status when the result of a readyz check changes', async (t) => {
    const it = subject(t);
    let isReady = true;
    it.duck.addReadyzCheck('flag', () => isReady);
    const client = await ownPort(t, it);
    const watch = client.watch();
    await watch.first;
    isReady = false;
    while (watch.told.length < 2) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(watch.told, ['SERVING', 'NOT_SERVING']);
  });
});

void describe('a gRPC server that the program itself has created drains at a shutdown', { concurrency: 4 }, () => {
  test("P-046 the program's own gRPC server drains with the other servers: it completes its calls, ends its watches and rejects new calls", async (t) => {
    const it = subject(t);
    const own = await ownServer(t, it);
    const client = clientOf(t, own.port);
    const watch = client.watch();
    await watch.first;
    const calling = await own.call();
    const ended = it.duck.shutdown();
    assert.deepEqual(await watch.end, ['SERVING', 'NOT_SERVING', `code ${String(codes.OK)}`]);
    // The gRPC call that began before the server stopped listening is still being served.
    await it.duck.signals.httpServerStoppedListening.signaled;
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(it.duck.signals.inFlightRequestsDrained.hasSignaled, false);
    const late = callEcho(own.port, 'late');
    t.after(late.close);
    assert.equal(await late.answer, codes.UNAVAILABLE);
    own.waiting[0]?.(null, 'served');
    assert.equal(await calling.answer, 'served');
    assert.equal((await ended).exitCode, 0);
  });

  test('P-046 a client that watches again after its stream has ended does not delay the drain', async (t) => {
    const it = subject(t);
    const own = await ownServer(t, it);
    const client = clientOf(t, own.port);
    const ends: string[] = [];
    const watchOn = async (): Promise<void> => {
      for (let end = `code ${String(codes.OK)}`; end === `code ${String(codes.OK)}`; ends.push(end)) {
        end = (await client.watch().end).at(-1) ?? '';
      }
    };
    const watching = watchOn();
    while ((await client.check()) !== 'SERVING');
    const { exitCode, unfinished } = await it.duck.shutdown();
    await watching;
    assert.deepEqual({ exitCode, unfinished }, { exitCode: 0, unfinished: [] });
    assert.equal(ends.at(-1), `code ${String(codes.UNAVAILABLE)}`);
  });

  test('P-023 a gRPC call that does not end is cut at the deadline of the drain, and the exit code is 80', async (t) => {
    const it = subject(t);
    const own = await ownServer(t, it);
    const calling = await own.call();
    const record = await it.duck.shutdown('test', { budget: '3100ms' });
    assert.equal(await calling.answer, codes.CANCELLED);
    assert.equal(record.exitCode, 80);
    assert.deepEqual(
      record.unfinished.map(({ method, route }) => `${method} ${route}`),
      ['gRPC *'],
    );
  });
});

void describe('the gRPC health service reports invalid options and a failed listen() as errors', () => {
  test('if the gRPC health service cannot listen on its address, exactly one error is reported', async (t) => {
    const taken = createNetServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    t.after(() => taken.close());
    const { port } = taken.address() as AddressInfo;
    const { health, start } = subject(t);
    await start();
    await assert.rejects(health.listen(`127.0.0.1:${String(port)}`), {
      code: 'LAMEDUCK_ERR_GRPC_LISTEN',
      message: new RegExp(`^gRPC health service: "127\\.0\\.0\\.1:${String(port)}": unable to listen: `),
    });
  });

  test('unknown options and invalid group names of the gRPC health service are rejected', (t) => {
    const { duck } = subject(t);
    const message = /^options of grpcHealth\(\)/;
    assert.throws(() => grpcHealth(duck, { port: 1 } as object), { code: 'LAMEDUCK_ERR_OPTIONS_INVALID', message });
    assert.throws(() => grpcHealth(duck, { services: { a: '' } }), {
      code: 'LAMEDUCK_ERR_NAME_INVALID',
      message: /^name of the group of the gRPC service "a": ""/,
    });
  });
});

async function statuses(client: GrpcHealthClient): Promise<unknown[]> {
  return Promise.all(['', 'readyz', 'livez', 'healthz'].map((name) => client.check(name)));
}
