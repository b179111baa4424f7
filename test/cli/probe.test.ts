// `lameduck probe` of the three endpoints, as the kubelet runs it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { dirname, join, relative } from 'node:path';
import { test, type TestContext } from 'node:test';
import ts from 'typescript';
import { lameduck, main, probeOnce } from '../support/lameduck-command.ts';
import { listen } from '../support/listening.ts';
import { freePort } from '../support/probe-client.ts';
import { ProbedProcess } from '../support/probed-process.ts';

/** answers lets a server answer every request so, and returns its port. */
async function answers(t: TestContext, listener: RequestListener, host = '127.0.0.1'): Promise<string> {
  return String(await listen(t, createServer(listener), host));
}

/** says starts a server that sends this text on every connection and nothing else, and returns its port. */
async function says(t: TestContext, text: string): Promise<string> {
  return String(
    await listen(
      t,
      createTcpServer((socket) => socket.resume().end(text)),
    ),
  );
}

test('K-035 an endpoint that passes is exit code 0, and one that fails 1 with the checks that fail', async (t) => {
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

test('P-090 the line says of an answer that it is an old one, and of a blocked loop that it is blocked', async (t) => {
  const program = await ProbedProcess.start(t, { LAMEDUCK_READYZ_EVENT_LOOP_STALL_LIMIT: '1s' });
  const env = { LAMEDUCK_PROBE_PORT: String(program.probePort) };
  await program.probe('/readyz');
  await program.block(6_000);
  await program.probed('/readyz', ({ status }) => status === 500);
  assert.deepEqual(await probeOnce(t, [], env), { code: 1, output: 'readyz: failed: event-loop\n' });
  const { code, output } = await probeOnce(t, ['livez'], env);
  assert.equal(code, 0);
  assert.match(output, /^livez: ok, as of \d s ago: the event loop does not answer\n$/);
});

test('K-012 any status from 200 to 399 passes, and no other', async (t) => {
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

test('of an answer that is less than a second old the line says nothing', async (t) => {
  let age = '0';
  const port = await answers(t, (_request, response) => response.writeHead(200, { Age: age }).end('ok'));
  assert.equal((await probeOnce(t, ['livez', '--port', port])).output, 'livez: ok\n');
  age = '1';
  assert.match((await probeOnce(t, ['livez', '--port', port])).output, /^livez: ok, as of 1 s ago: /);
});

test('K-036 what does not answer is exit code 1 within the limit, ahead of the kubelet’s own second', async (t) => {
  const port = await answers(t, () => undefined);
  const since = performance.now();
  const ended = await lameduck(t, ['probe', 'livez', '--port', port]);
  // Most of it is what the process takes to start; without a limit it would wait for ever.
  assert.ok(performance.now() - since < 10_000);
  assert.deepEqual(ended, { code: 1, output: `livez: no answer on port ${port} within 900 ms\n` });
  const short = await lameduck(t, ['probe', 'livez', '--port', port, '--timeout=300ms']);
  assert.equal(short.output, `livez: no answer on port ${port} within 300 ms\n`);
});

test('K-036 the limit counts from the start of the process, however long that takes', async (t) => {
  const waited: number[] = [];
  const silent = createTcpServer((socket) => {
    const since = performance.now();
    socket.resume().on('close', () => waited.push(performance.now() - since));
  });
  const port = String(await listen(t, silent));
  const slow = 'data:text/javascript,while (performance.now() < 3_000);';
  await Promise.all(
    ['livez', 'grpc'].map(async (asked) => {
      const args = ['probe', asked, '--port', port, '--timeout', '3s'];
      const ended = await lameduck(t, args, {}, ['--import', slow]);
      assert.deepEqual(ended, { code: 1, output: `${asked}: no answer on port ${port} within 3000 ms\n` });
    }),
  );
  for (const milliseconds of waited) assert.ok(milliseconds < 1_500, String(milliseconds));
});

test('a port on which nothing listens, or no HTTP is spoken, is exit code 1 with the reason', async (t) => {
  const free = String(await freePort());
  assert.deepEqual(await probeOnce(t, ['--port', free]), {
    code: 1,
    output: `readyz: nothing answers on port ${free}: connect ECONNREFUSED 127.0.0.1:${free}\n`,
  });
  for (const said of ['', 'SSH-2.0-OpenSSH\r\n', 'HTTP/1.1 200 OK\r\n']) {
    const ended = await probeOnce(t, ['--port', await says(t, said)]);
    assert.equal(ended.code, 1, said);
    assert.match(ended.output, /^readyz: nothing answers on port \d+: what answers is no HTTP\n$/);
  }
});

test('K-015 an answer that is cut short is exit code 1, whatever its status', async (t) => {
  const head = 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n';
  for (const [said, output] of [
    [`${head}ok`, /^livez: nothing answers on port \d+: the answer is cut short\n$/],
    [`${head}ok\n`, /^livez: ok\n$/],
  ] as const) {
    assert.match((await probeOnce(t, ['livez', '--port', await says(t, said)])).output, output);
  }
});

test('an answer that is whole is not waited on, whether its connection ends or not', async (t) => {
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

test('K-012 the status that counts is the last, behind those that only say that one will come', async (t) => {
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
  assert.match(alone.output, /: what answers is no HTTP\n$/);
});

test('K-016 an answer without an end is cut behind 10 KiB, and its status counts', async (t) => {
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

test('port and address are those of the environment, and a service link is none', async (t) => {
  const port = await answers(t, (_request, response) => response.end('ok'), '::1');
  for (const host of ['', '::', '0.0.0.0', '::1']) {
    const env = { LAMEDUCK_PROBE_PORT: ` ${port} `, LAMEDUCK_PROBE_HOST: host };
    assert.deepEqual(await probeOnce(t, [], env), { code: 0, output: 'readyz: ok\n' }, host);
  }
  const link = await lameduck(t, ['probe', '--timeout', '1ms'], { LAMEDUCK_PROBE_PORT: 'tcp://10.0.0.1:80' });
  assert.match(link.output, /on port 8081/);
});

for (const [args, env, line] of [
  [['probe', 'ready'], {}, /^lameduck probe: "ready" is no endpoint and no option; usage: lameduck probe \[readyz/],
  [['probe', 'readyz', 'livez'], {}, /^lameduck probe: "livez" is no endpoint/],
  [['probe', 'readyz?a b'], {}, /^lameduck probe: "readyz\?a b" is no endpoint/],
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
  [['prob'], {}, /^lameduck: there is no command "prob": rehearse, lint, restarts, probe, inspect, stop;/],
  [['__proto__'], {}, /^lameduck: there is no command "__proto__": /],
  [[], {}, /^lameduck: give a command: rehearse, .*; lameduck --help shows examples/],
] as const) {
  // A HEALTHCHECK knows 0 and 1, and nobody runs what is no command as one.
  const expected = (args as readonly string[]).includes('probe') ? 1 : 2;
  test(`${JSON.stringify(args)} with ${JSON.stringify(env)} is one line and exit code ${String(expected)}`, async (t) => {
    const { code, output } = await lameduck(t, args, env);
    assert.equal(code, expected, output);
    assert.match(output, line);
    assert.equal(output.split('\n').length, 2, output);
  });
}

test('it loads no package, and few files', () => {
  const src = join(import.meta.dirname, '..', '..', 'src');
  const loaded = new Set<string>();
  const outside = new Set<string>();
  const load = (file: string): void => {
    if (loaded.has(file)) return;
    loaded.add(file);
    const { importedFiles } = ts.preProcessFile(readFileSync(file, 'utf8'));
    const text = readFileSync(file, 'utf8');
    for (const { fileName } of importedFiles) {
      // The other commands are imported only when they are called.
      if (file === main && fileName !== './probe.ts' && text.includes(`import('${fileName}')`)) continue;
      if (new RegExp(`import type [^;]*'${fileName.replaceAll('.', '\\.')}'`).test(text)) continue;
      if (fileName.startsWith('.')) load(join(dirname(file), fileName));
      else outside.add(fileName);
    }
  };
  load(main);
  const files = [...loaded].map((file) => relative(src, file)).sort();
  assert.ok(files.includes(join('cli', 'probe.ts')));
  assert.ok(files.length <= 14, files.join(' '));
  for (const name of outside) assert.match(name, /^node:/);
  assert.equal(outside.has('node:http'), false);
});
