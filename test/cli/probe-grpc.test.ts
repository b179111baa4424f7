// Runs `lameduck probe grpc` as the kubelet does.
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
import { reservePort } from '../support/reserved-port.ts';

/**
 * `managed()` starts a server with lameduck and a gRPC health service. It returns a function that runs `lameduck probe
 * grpc` on this server.
 */
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
 * `serving()` returns a gRPC server that responds with SERVING for every service. It passes the headers of each request
 * to `onHeaders`.
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

void describe('`lameduck probe grpc`', { concurrency: 4 }, () => {
  test('K-032, K-033, K-035 `lameduck probe grpc` exits with 0 for the status SERVING, and with 1 and the reason for every other status', async (t) => {
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

  test('P-046 `lameduck probe grpc` fails from ShutdownInitiated on, except for the service livez, which still passes while destroy hooks run', async (t) => {
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

  test('K-033 `lameduck probe grpc` fails for a gRPC server without a health service', async (t) => {
    const server = new GrpcServer();
    server.addService(echo, { call: () => undefined });
    t.after(() => {
      server.forceShutdown();
    });
    const port = await promisify(server.bindAsync.bind(server))('127.0.0.1:0', ServerCredentials.createInsecure());
    const ended = await probeOnce(t, ['grpc', '--port', String(port)]);
    assert.deepEqual(ended, { code: 1, output: 'grpc: failed: there is no health service\n' });
  });

  test('`lameduck probe grpc` exits with 1 and prints the reason if the port is closed or if the server speaks HTTP/1', async (t) => {
    const free = String(await reservePort());
    const nothing = await probeOnce(t, ['grpc', '--port', free]);
    assert.deepEqual([nothing.code, nothing.output.replace(/\d+/g, 'N')], [1, refused]);
    const port = await listen(
      t,
      createServer((_request, response) => response.end('ok')),
    );
    assert.deepEqual(await probeOnce(t, ['grpc', '--port', String(port), '--service', 'livez']), {
      code: 1,
      output: `grpc livez: nothing answers on port ${String(port)}: the peer does not speak HTTP/2 without TLS\n`,
    });
  });

  test('K-032 `lameduck probe grpc` sends an ordinary gRPC request with its own user agent, and closes its connection', async (t) => {
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

  test('`lameduck probe grpc` takes the address from the environment, but not the port', async (t) => {
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

  test('`lameduck probe grpc` prints an unusual service name escaped, shortened and on one line', async (t) => {
    const { ask } = await managed(t);
    const { code, output } = await ask(`a b\n\u001b[31m€=${'x'.repeat(50_000)}`);
    assert.equal(code, 1);
    assert.match(output, /^grpc "a b\\n\\u001b\[31m€=x{100,200}…: failed: unknown service\n$/);
  });
});

test('K-036 `lameduck probe grpc` exits with 1 if the peer sends nothing, by default after 900 ms, or after the given timeout', async (t) => {
  const port = await listen(
    t,
    createTcpServer((socket) => socket.resume()),
  );
  const since = performance.now();
  const ended = await lameduck(t, ['probe', 'grpc', '--port', String(port)]);
  // The command must stop at its own timeout. The time limit of this test is much longer than that timeout, because
  // starting the process takes most of the measured time.
  assert.ok(performance.now() - since < 10_000);
  assert.deepEqual(ended, { code: 1, output: `grpc: no answer on port ${String(port)} within 900 ms\n` });
  const short = await lameduck(t, ['probe', 'grpc', '--port', String(port), '--service=livez', '--timeout=300ms']);
  assert.deepEqual(short, { code: 1, output: `grpc livez: no answer on port ${String(port)} within 300 ms\n` });
});

for (const [args, line] of [
  [['grpc'], /^lameduck probe: grpc requires --port, .*; usage: lameduck probe \[readyz/],
  [['grpc', '--port', 'off'], /^lameduck probe: grpc requires --port/],
  [['grpc', '--port='], /^lameduck probe: grpc requires --port/],
  [['grpc', '--port', 'tcp://10.0.0.1:80'], /^lameduck probe: port: "tcp:\/\/10\.0\.0\.1:80": expected a TCP port/],
  [['grpc', '--port', '9090', '--service'], /^lameduck probe: --service has no value/],
  [['grpc', '--port', '9090', '--timeout=0s'], /^lameduck probe: --timeout: "0s": expected a duration/],
  [['grpc', 'livez', '--port', '9090'], /^lameduck probe: "livez" is neither an endpoint nor an option/],
  [['/grpc', '--port', '9090'], /^lameduck probe: "\/grpc" is neither an endpoint nor an option/],
  [['grpc?verbose', '--port', '9090'], /^lameduck probe: "grpc\?verbose" is neither an endpoint nor an option/],
  [['readyz', '--service', 'livez'], /^lameduck probe: --service is valid only with grpc/],
  [['--service='], /^lameduck probe: --service is valid only with grpc/],
] as const) {
  test(`the command lameduck probe ${JSON.stringify(args)} prints one line and exits with 1`, async (t) => {
    // `lameduck probe` takes the port from LAMEDUCK_PROBE_PORT only if it probes an HTTP endpoint.
    const { code, output } = await lameduck(t, ['probe', ...args], { LAMEDUCK_PROBE_PORT: '8081' });
    assert.equal(code, 1, output);
    assert.match(output, line);
    assert.match(output, /lameduck probe grpc --port 9090 \[--service livez\]/);
    assert.equal(output.split('\n').length, 2, output);
  });
}

// This module is loaded before the command. At the exit of the process, it prints which files were loaded, and whether
// certain slow modules of Node were loaded.
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

test('`lameduck probe` loads only its own files and modules of Node, and loads neither HTTP/2 nor gRPC for an HTTP endpoint', async (t) => {
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
  // The build writes one file for each command, and Node loads the file only when the command runs. Code that two
  // commands share has its own file.
  assert.match(more.map(nameOf).sort().join(' '), /^dist\/cli\/ask-grpc-\w+\.js dist\/cli\/chunk-\w+\.js node:http2$/);
  assert.ok(others.loaded.includes(pathToFileURL(main).href));
  for (const name of own.loaded.map(nameOf)) assert.match(name, /^node:|^dist\/cli\//);
});

function nameOf(url: string): string {
  return url.startsWith('file:') ? relative(root, fileURLToPath(url)) : url;
}
