// Runs `lameduck probe` for /livez, /readyz and /healthz, as the kubelet does.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { dirname, join, relative } from 'node:path';
import { test, type TestContext } from 'node:test';
import ts from 'typescript';
import { lameduck, probeOnce } from '../support/lameduck-command.ts';
import { listen } from '../support/listening.ts';
import { reservePort } from '../support/reserved-port.ts';
import { ProbedProcess } from '../support/probed-process.ts';

/** `answers()` starts an HTTP server with the given request listener, and returns its port. */
async function answers(t: TestContext, listener: RequestListener, host = '127.0.0.1'): Promise<string> {
  return String(await listen(t, createServer(listener), host));
}

/** `says()` starts a TCP server that sends only the given text on every connection, and returns its port. */
async function says(t: TestContext, text: string): Promise<string> {
  return String(
    await listen(
      t,
      createTcpServer((socket) => socket.resume().end(text)),
    ),
  );
}

test('K-035 `lameduck probe` exits with 0 if the endpoint passes, and otherwise with 1 and the failed checks', async (t) => {
  const program = await ProbedProcess.start(t, { LAMEDUCK_SHUTDOWN_DELAY_DURATION: '5s' });
  const env = { LAMEDUCK_PROBE_PORT: String(program.probePort) };
  assert.deepEqual(await probeOnce(t, [], env), { code: 0, output: 'readyz: ok\n' });
  assert.deepEqual(await probeOnce(t, ['livez'], env), { code: 0, output: 'livez: ok\n' });
  assert.deepEqual(await probeOnce(t, ['/healthz?verbose'], env), { code: 0, output: 'healthz?verbose: ok\n' });
  program.kill('SIGTERM');
  await program.signaled('ShutdownInitiated');
  assert.deepEqual(await probeOnce(t, ['readyz'], env), { code: 1, output: 'readyz: failed: shutdown\n' });
  assert.deepEqual(await probeOnce(t, ['livez'], env), { code: 0, output: 'livez: ok\n' });
});

test('P-090 `lameduck probe` prints the age of a reused response, and says if the event loop is blocked', async (t) => {
  const program = await ProbedProcess.start(t, { LAMEDUCK_READYZ_EVENT_LOOP_STALL_LIMIT: '1s' });
  const env = { LAMEDUCK_PROBE_PORT: String(program.probePort) };
  await program.probe('/readyz');
  await program.block(6_000);
  await program.probed('/readyz', ({ status }) => status === 500);
  assert.deepEqual(await probeOnce(t, [], env), { code: 1, output: 'readyz: failed: event-loop\n' });
  const { code, output } = await probeOnce(t, ['livez'], env);
  assert.equal(code, 0);
  assert.match(output, /^livez: ok \(the state of \d s ago, because the event loop is blocked\)\n$/);
});

test('K-012 `lameduck probe` passes for each status from 200 to 399, and fails for every other status', async (t) => {
  let status = 0;
  const port = await answers(t, (_request, response) => response.writeHead(status).end());
  for (const [given, code] of [
    [200, 0],
    [204, 0],
    [399, 0],
    [400, 1],
    [404, 1],
    [503, 1],
  ] as const) {
    status = given;
    const ended = await probeOnce(t, ['livez', '--port', port]);
    assert.deepEqual(ended, { code, output: code === 0 ? 'livez: ok\n' : `livez: failed: status ${String(given)}\n` });
  }
});

test('`lameduck probe` does not print the age of a response that is younger than one second', async (t) => {
  let age = '0';
  const port = await answers(t, (_request, response) => response.writeHead(200, { Age: age }).end('ok'));
  assert.equal((await probeOnce(t, ['livez', '--port', port])).output, 'livez: ok\n');
  age = '1';
  assert.match((await probeOnce(t, ['livez', '--port', port])).output, /^livez: ok \(the state of 1 s ago, /);
});

test('K-036 `lameduck probe` exits with 1 if the server sends nothing, by default after 900 ms, or after the given timeout', async (t) => {
  const port = await answers(t, () => undefined);
  const since = performance.now();
  const ended = await lameduck(t, ['probe', 'livez', '--port', port]);
  // The limit on the measured time is generous, because most of that time is the start of the process. Without a
  // timeout of its own, the command would wait forever.
  assert.ok(performance.now() - since < 10_000);
  assert.deepEqual(ended, { code: 1, output: `livez: no answer on port ${port} within 900 ms\n` });
  const short = await lameduck(t, ['probe', 'livez', '--port', port, '--timeout=300ms']);
  assert.equal(short.output, `livez: no answer on port ${port} within 300 ms\n`);
});

test('K-036 the timeout of `lameduck probe` counts from the start of its process, even if the process starts slowly', async (t) => {
  const waited: number[] = [];
  const silent = createTcpServer((socket) => {
    const since = performance.now();
    socket.resume().on('close', () => waited.push(performance.now() - since));
  });
  const port = String(await listen(t, silent));
  const wait = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_000 - performance.now());';
  const slow = `data:text/javascript,${wait}`;
  await Promise.all(
    ['livez', 'grpc'].map(async (asked) => {
      const args = ['probe', asked, '--port', port, '--timeout', '3s'];
      const ended = await lameduck(t, args, {}, ['--import', slow]);
      assert.deepEqual(ended, { code: 1, output: `${asked}: no answer on port ${port} within 3000 ms\n` });
    }),
  );
  for (const milliseconds of waited) assert.ok(milliseconds < 1_500, String(milliseconds));
});

test('`lameduck probe` prints the reason and exits with 1 if the port is closed, or if the server on the port does not speak HTTP', async (t) => {
  const free = String(await reservePort());
  assert.deepEqual(await probeOnce(t, ['--port', free]), {
    code: 1,
    output: `readyz: nothing answers on port ${free}: connect ECONNREFUSED 127.0.0.1:${free}\n`,
  });
  for (const said of ['', 'SSH-2.0-OpenSSH\r\n', 'HTTP/1.1 200 OK\r\n']) {
    const ended = await probeOnce(t, ['--port', await says(t, said)]);
    assert.equal(ended.code, 1, said);
    assert.match(ended.output, /^readyz: nothing answers on port \d+: the peer did not answer with HTTP\n$/);
  }
});

test('K-015 `lameduck probe` exits with 1 for an incomplete response, whatever its status', async (t) => {
  const head = 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n';
  for (const [said, output] of [
    [`${head}ok`, /^livez: nothing answers on port \d+: the answer is truncated\n$/],
    [`${head}ok\n`, /^livez: ok\n$/],
  ] as const) {
    assert.match((await probeOnce(t, ['livez', '--port', await says(t, said)])).output, output);
  }
});

test('`lameduck probe` does not wait for the end of the connection after a complete response', async (t) => {
  for (const [said, ended] of [
    ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', { code: 0, output: 'livez: ok\n' }],
    ['HTTP/1.1 500 No\r\ncontent-length:0\r\n\r\n', { code: 1, output: 'livez: failed: status 500\n' }],
    ['HTTP/1.1 204 No Content\r\n\r\n', { code: 0, output: 'livez: ok\n' }],
  ] as const) {
    const stays = createTcpServer((socket) => socket.resume().write(said));
    const port = String(await listen(t, stays));
    assert.deepEqual(await probeOnce(t, ['livez', '--port', port]), ended, said);
  }
});

test('K-012 `lameduck probe` uses the status of the final response, not of an earlier 1xx response', async (t) => {
  const interim = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n';
  for (const [status, code] of [
    [200, 0],
    [500, 1],
  ] as const) {
    const port = await says(t, `${interim}HTTP/1.1 ${String(status)} So\r\nContent-Length: 2\r\n\r\nso`);
    const output = code === 0 ? 'livez: ok\n' : 'livez: failed: status 500\n';
    assert.deepEqual(await probeOnce(t, ['livez', '--port', port]), { code, output });
  }
  const alone = await probeOnce(t, ['livez', '--port', await says(t, interim)]);
  assert.equal(alone.code, 1);
  assert.match(alone.output, /: the peer did not answer with HTTP\n$/);
});

test('K-016 `lameduck probe` reads at most 10 KiB of a response, and then uses its status', async (t) => {
  const port = await answers(t, (_request, response) => {
    response.writeHead(500);
    const write = (): void => {
      while (!response.destroyed && response.write('x'.repeat(1_000)));
    };
    response.on('drain', write);
    write();
  });
  assert.deepEqual(await probeOnce(t, ['--port', port]), { code: 1, output: 'readyz: failed: status 500\n' });
});

test('`lameduck probe` takes port and address from its environment variables, and ignores the service links of Kubernetes', async (t) => {
  const port = await answers(t, (_request, response) => response.end('ok'), '::1');
  for (const host of ['', '::', '0.0.0.0', '::1']) {
    const env = { LAMEDUCK_PROBE_PORT: ` ${port} `, LAMEDUCK_PROBE_HOST: host };
    assert.deepEqual(await probeOnce(t, [], env), { code: 0, output: 'readyz: ok\n' }, host);
  }
  const link = await lameduck(t, ['probe', '--timeout', '1ms'], { LAMEDUCK_PROBE_PORT: 'tcp://10.0.0.1:80' });
  assert.match(link.output, /on port 8081/);
});

for (const [args, env, line] of [
  [
    ['probe', 'ready'],
    {},
    /^lameduck probe: "ready" is neither an endpoint nor an option; usage: lameduck probe \[readyz/,
  ],
  [['probe', 'readyz', 'livez'], {}, /^lameduck probe: "livez" is neither an endpoint/],
  [['probe', 'readyz?a b'], {}, /^lameduck probe: "readyz\?a b" is neither an endpoint/],
  [['probe', '--port'], {}, /^lameduck probe: --port has no value/],
  [['probe', '--port', '99999'], {}, /^lameduck probe: port: "99999": expected a TCP port/],
  [
    ['probe', '--timeout', '5'],
    {},
    /^lameduck probe: --timeout: "5": expected a duration with its unit; did you mean 5s/,
  ],
  [['probe', '--timeout', '600h'], {}, /^lameduck probe: --timeout: "600h": expected a duration .* to 596h/],
  [['probe', '--timeout=-1s'], {}, /^lameduck probe: --timeout: "-1s": expected a duration/],
  [['probe'], { LAMEDUCK_PROBE_PORT: 'off' }, /^lameduck probe: the probe port is off/],
  [['probe'], { LAMEDUCK_PROBE_HOST: 'a b' }, /^lameduck probe: LAMEDUCK_PROBE_HOST: expected/],
  [['prob'], {}, /^lameduck: unknown command "prob": rehearse, lint, restarts, probe, inspect, stop;/],
  [['__proto__'], {}, /^lameduck: unknown command "__proto__": /],
  [[], {}, /^lameduck: expected a command: rehearse, .*; lameduck --help shows examples/],
] as const) {
  // The command of a Docker HEALTHCHECK may exit only with 0 or 1, but an unknown command of lameduck exits with 2.
  const expected = (args as readonly string[]).includes('probe') ? 1 : 2;
  test(`lameduck ${JSON.stringify(args)} with ${JSON.stringify(env)} prints one line and exits with ${String(expected)}`, async (t) => {
    const { code, output } = await lameduck(t, args, env);
    assert.equal(code, expected, output);
    assert.match(output, line);
    assert.equal(output.split('\n').length, 2, output);
  });
}

test('`lameduck probe` loads no package, and only a few files', () => {
  const src = join(import.meta.dirname, '..', '..', 'src');
  const main = join(src, 'cli', 'main.ts');
  const loaded = new Set<string>();
  const outside = new Set<string>();
  const load = (file: string): void => {
    if (loaded.has(file)) return;
    loaded.add(file);
    const { importedFiles } = ts.preProcessFile(readFileSync(file, 'utf8'));
    const text = readFileSync(file, 'utf8');
    for (const { fileName } of importedFiles) {
      // main.ts imports the module of a subcommand only when this subcommand is run, so skip all subcommands except
      // `probe`.
      if (file === main && fileName !== './probe.ts' && text.includes(`import('${fileName}')`)) continue;
      if (new RegExp(`import type [^;]*'${fileName.replaceAll('.', '\\.')}'`).test(text)) continue;
      if (fileName.startsWith('.')) load(join(dirname(file), fileName));
      else outside.add(fileName);
    }
  };
  load(main);
  const files = [...loaded].map((file) => relative(src, file)).sort();
  assert.ok(files.includes(join('cli', 'probe.ts')));
  assert.ok(files.length <= 15, files.join(' '));
  for (const name of outside) assert.match(name, /^node:/);
  assert.equal(outside.has('node:http'), false);
});
