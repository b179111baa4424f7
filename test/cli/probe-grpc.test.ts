// `lameduck probe grpc`, as the kubelet runs it.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import {
  createServer as createHttp2Server,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { relative } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { Server as GrpcServer, ServerCredentials } from '@grpc/grpc-js';
import { grpcHealth } from '../../src/grpc.ts';
import { lameduck as manage, type LameduckOptions } from '../../src/index.ts';
import { echo } from '../support/grpc.ts';
import { lameduck, main, probeOnce, type Ended } from '../support/lameduck-command.ts';
import { root } from '../support/markdown.ts';
import { listen } from '../support/listening.ts';
import { freePort } from '../support/probe-client.ts';

/** managed is a lifecycle whose health service the command calls. */
async function managed(t: TestContext, options: LameduckOptions = {}) {
  const logger = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const server = createServer();
  const duck = manage(server, { logger, shutdownDelayDuration: '0s', ...options });
  t.after(() => duck.shutdown());
  let isReady = true;
  duck.addReadyzCheck('stock-db', () => isReady, { group: 'stock' });
  const port = await grpcHealth(duck, { services: { 'shop.Stock': 'stock' } }).listen('127.0.0.1:0');
  server.listen(0, '127.0.0.1');
  await duck.signals.hasBeenReady.signaled;
  const ask = (service = ''): Promise<Ended> => probeOnce(t, ['grpc', '--port', String(port), '--service', service]);
  return { duck, ask, port, turn: () => (isReady = !isReady) };
}

const passes = { code: 0, output: 'grpc: ok\n' };
const lives = { code: 0, output: 'grpc livez: ok\n' };
const fails = { code: 1, output: 'grpc: failed: NOT_SERVING\n' };
const refused = 'grpc: nothing answers on port N: connect ECONNREFUSED N.N.N.N:N\n';

/**
 * serving is a server that answers SERVING for every service, and passes the headers of each request to `onHeaders`.
 */
function serving(onHeaders: (headers: IncomingHttpHeaders) => void = () => undefined): Http2Server {
  const server = createHttp2Server();
  server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    onHeaders(headers);
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => {
      stream.sendTrailers({ 'grpc-status': '0' });
    });
    stream.end(Buffer.from([0, 0, 0, 0, 2, 8, 1]));
  });
  return server;
}

void describe('lameduck probe grpc', { concurrency: 4 }, () => {
  test('K-032, K-033, K-035 a service that serves is exit code 0, and any other 1 with the reason', async (t) => {
    const { ask, port, turn } = await managed(t);
    assert.deepEqual(await ask(), passes);
    assert.deepEqual(await probeOnce(t, ['grpc', '--port', String(port)]), passes);
    assert.deepEqual(await ask('shop.Stock'), { code: 0, output: 'grpc shop.Stock: ok\n' });
    assert.deepEqual(await ask('nobody'), { code: 1, output: 'grpc nobody: failed: unknown service\n' });
    turn();
    assert.deepEqual(await ask(), fails);
    assert.deepEqual(await ask('shop.Stock'), { code: 1, output: 'grpc shop.Stock: failed: NOT_SERVING\n' });
    assert.deepEqual(await ask('livez'), lives);
  });

  test('P-046 the probe fails from ShutdownInitiated on, and for livez passes until everything has ended', async (t) => {
    const { duck, ask } = await managed(t, { destroyHookTimeout: '20s' });
    assert.deepEqual(await Promise.all([ask(), ask('livez')]), [passes, lives]);
    let asked: unknown;
    duck.addDestroyHook('ask', async () => {
      asked = await Promise.all([ask(), ask('livez')]);
    });
    await duck.shutdown();
    assert.deepEqual(asked, [fails, lives]);
    const { code, output } = await ask();
    assert.deepEqual([code, output.replace(/\d+/g, 'N')], [1, refused]);
  });

  test('K-033 a gRPC server that has no health service has failed', async (t) => {
    const server = new GrpcServer();
    server.addService(echo, { call: () => undefined });
    t.after(() => {
      server.forceShutdown();
    });
    const port = await promisify(server.bindAsync.bind(server))('127.0.0.1:0', ServerCredentials.createInsecure());
    const ended = await probeOnce(t, ['grpc', '--port', String(port)]);
    assert.deepEqual(ended, { code: 1, output: 'grpc: failed: there is no health service\n' });
  });

  test('a port on which nothing listens, or HTTP/1 is spoken, is exit code 1 with the reason', async (t) => {
    const free = String(await freePort());
    const nothing = await probeOnce(t, ['grpc', '--port', free]);
    assert.deepEqual([nothing.code, nothing.output.replace(/\d+/g, 'N')], [1, refused]);
    const port = await listen(
      t,
      createServer((_request, response) => response.end('ok')),
    );
    assert.deepEqual(await probeOnce(t, ['grpc', '--port', String(port), '--service', 'livez']), {
      code: 1,
      output: `grpc livez: nothing answers on port ${String(port)}: what answers is no HTTP/2 in clear text\n`,
    });
  });

  test('K-032 it asks as any client of gRPC does, says who it is, and leaves nothing open', async (t) => {
    const asked: object[] = [];
    const server = serving((headers) => asked.push(Object.fromEntries(Object.entries(headers))));
    const closed = new Promise((resolve) => {
      server.on('connection', (socket: Socket) => socket.on('close', resolve));
    });
    const port = await listen(t, server);
    assert.deepEqual(await probeOnce(t, ['grpc', '--port', String(port)]), { code: 0, output: 'grpc: ok\n' });
    await closed;
    assert.deepEqual(asked, [
      {
        ':method': 'POST',
        ':scheme': 'http',
        ':path': '/grpc.health.v1.Health/Check',
        ':authority': `127.0.0.1:${String(port)}`,
        'content-type': 'application/grpc',
        'user-agent': 'lameduck-probe',
        te: 'trailers',
      },
    ]);
  });

  test('the address is that of the environment, as the others’ is, and the port is not', async (t) => {
    const port = await listen(t, serving(), '::1');
    for (const host of ['', '::', '0.0.0.0', '::1']) {
      const env = { LAMEDUCK_PROBE_PORT: 'off', LAMEDUCK_PROBE_HOST: host };
      assert.deepEqual(
        await probeOnce(t, ['grpc', '--port', String(port)], env),
        { code: 0, output: 'grpc: ok\n' },
        host,
      );
    }
    const elsewhere = await probeOnce(t, ['grpc', '--port', String(port)], { LAMEDUCK_PROBE_HOST: '127.0.0.1' });
    assert.equal(elsewhere.code, 1);
  });

  test('a service of a strange name is written on one line, and not at length', async (t) => {
    const { ask } = await managed(t);
    const { code, output } = await ask(`a b\n\u001b[31m€=${'x'.repeat(50_000)}`);
    assert.equal(code, 1);
    assert.match(output, /^grpc "a b\\n\\u001b\[31m€=x{100,200}…: failed: unknown service\n$/);
  });
});

test('K-036 a peer that says nothing is exit code 1 within the limit, ahead of the kubelet’s own second', async (t) => {
  const port = await listen(
    t,
    createTcpServer((socket) => socket.resume()),
  );
  const since = performance.now();
  const ended = await lameduck(t, ['probe', 'grpc', '--port', String(port)]);
  // Most of it is what the process takes to start; without a limit it would wait for ever.
  assert.ok(performance.now() - since < 10_000);
  assert.deepEqual(ended, { code: 1, output: `grpc: no answer on port ${String(port)} within 900 ms\n` });
  const short = await lameduck(t, ['probe', 'grpc', '--port', String(port), '--service=livez', '--timeout=300ms']);
  assert.deepEqual(short, { code: 1, output: `grpc livez: no answer on port ${String(port)} within 300 ms\n` });
});

for (const [args, line] of [
  [['grpc'], /^lameduck probe: grpc needs --port, .*; usage: lameduck probe \[readyz/],
  [['grpc', '--port', 'off'], /^lameduck probe: grpc needs --port/],
  [['grpc', '--port='], /^lameduck probe: grpc needs --port/],
  [['grpc', '--port', 'tcp://10.0.0.1:80'], /^lameduck probe: port: "tcp:\/\/10\.0\.0\.1:80": expected a TCP port/],
  [['grpc', '--port', '9090', '--service'], /^lameduck probe: --service has no value/],
  [['grpc', '--port', '9090', '--timeout=0s'], /^lameduck probe: --timeout: "0s": expected a duration/],
  [['grpc', 'livez', '--port', '9090'], /^lameduck probe: "livez" is no endpoint and no option/],
  [['/grpc', '--port', '9090'], /^lameduck probe: "\/grpc" is no endpoint and no option/],
  [['grpc?verbose', '--port', '9090'], /^lameduck probe: "grpc\?verbose" is no endpoint and no option/],
  [['readyz', '--service', 'livez'], /^lameduck probe: --service is for grpc alone/],
  [['--service='], /^lameduck probe: --service is for grpc alone/],
] as const) {
  test(`${JSON.stringify(args)} is one line and exit code 1`, async (t) => {
    // Which is what nothing but an endpoint takes.
    const { code, output } = await lameduck(t, ['probe', ...args], { LAMEDUCK_PROBE_PORT: '8081' });
    assert.equal(code, 1, output);
    assert.match(output, line);
    assert.match(output, /lameduck probe grpc --port 9090 \[--service livez\]/);
    assert.equal(output.split('\n').length, 2, output);
  });
}

// Tells at the end which files have been loaded, and whether the modules of Node's that take their time have.
const tells = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  const loaded = [];
  registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
  process.on('exit', () => {
    const heavy = ['http', 'http2', 'https', 'tls'].filter((name) => process.moduleLoadList.includes('NativeModule ' + name));
    console.log(JSON.stringify({ loaded, heavy }));
  });
`)}`;

async function loadedBy(t: TestContext, args: readonly string[]): Promise<{ loaded: string[]; heavy: string[] }> {
  const { output } = await lameduck(t, ['probe', ...args, '--timeout=20s'], {}, ['--import', tells]);
  const [said = '', told = '{}'] = output.split('\n');
  assert.match(said, /: ok$/);
  return JSON.parse(told) as { loaded: string[]; heavy: string[] };
}

test('it loads files of its own and modules of Node’s alone, and for an endpoint neither HTTP/2 nor anything of gRPC', async (t) => {
  const { port } = await managed(t);
  const own = await loadedBy(t, ['grpc', '--port', String(port), '--service', 'livez']);
  const endpoint = await listen(
    t,
    createServer((_request, response) => response.end('ok')),
  );
  const others = await loadedBy(t, ['livez', '--port', String(endpoint)]);
  assert.ok(own.heavy.includes('http2'));
  assert.deepEqual(others.heavy, []);
  const more = own.loaded.filter((url) => !others.loaded.includes(url));
  assert.deepEqual(more.map(nameOf).sort(), ['node:http2', 'src/cli/ask-grpc.ts', 'src/cli/health-message.ts']);
  assert.ok(others.loaded.includes(pathToFileURL(main).href));
  for (const name of own.loaded.map(nameOf)) assert.match(name, /^node:|^src\/(?!grpc)/);
});

function nameOf(url: string): string {
  return url.startsWith('file:') ? relative(root, fileURLToPath(url)) : url;
}
