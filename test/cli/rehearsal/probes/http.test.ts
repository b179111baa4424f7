import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer as createTcpServer } from 'node:net';
import { test, type TestContext } from 'node:test';
import { Container } from '../../../../src/cli/rehearsal/container.ts';
import { probeHttp, type HttpGet } from '../../../../src/cli/rehearsal/probes/http.ts';
import { runAttempts } from '../../../../src/cli/rehearsal/probes/outcome.ts';
import { runProbe } from '../../../../src/cli/rehearsal/probes/probe.ts';
import { probeTcp } from '../../../../src/cli/rehearsal/probes/tcp.ts';
import { certificate } from '../../../fixtures/certificate.ts';
import { listen } from '../../../support/listening.ts';

function serve(t: TestContext, listener: RequestListener): Promise<number> {
  return listen(t, createServer(listener));
}

const seen = async (action: HttpGet): Promise<string> => {
  const { result, output, attempts, isWarning } = await runAttempts(() => probeHttp(action));
  return [isWarning === true ? 'warning' : result, ...(result === 'failure' ? [output] : []), attempts].join(' ');
};

for (const status of [200, 204, 206]) {
  test(`K-012 an HTTP probe succeeds if the response has the status ${String(status)}`, async (t) => {
    const port = await serve(t, (_, response) => response.writeHead(status).end());
    assert.equal(await seen({ port }), 'success 1');
  });
}

for (const status of [400, 401, 403, 404, 429, 500, 503]) {
  test(`K-006, K-012 an HTTP probe fails after one attempt with status ${String(status)}`, async (t) => {
    const port = await serve(t, (_, response) => response.writeHead(status).end());
    assert.equal(await seen({ port }), `failure HTTP probe failed with statuscode: ${String(status)} 1`);
  });
}

for (const [status, location] of [
  [302, 'http://example.invalid/'],
  [304, undefined],
  [300, undefined],
  [301, undefined],
] as const) {
  test(`K-005, K-018 an HTTP probe with status ${String(status)} to ${String(location)} succeeds with a warning`, async (t) => {
    const port = await serve(t, (_, response) =>
      response.writeHead(status, location === undefined ? {} : { location }).end(),
    );
    assert.equal(await seen({ port }), 'warning 1');
  });
}

test('K-018, K-216 an HTTP probe follows redirects to the same host, and fails at the tenth redirect or if the last response has an error status', async (t) => {
  const port = await serve(t, (request, response) => {
    const targets: Readonly<Record<string, string>> = { '/once': '/end', '/lost': '/nowhere', '/again': '/again' };
    const location = targets[request.url ?? ''];
    if (location !== undefined) response.writeHead(302, { location }).end();
    else response.writeHead(request.url === '/end' ? 200 : 404).end();
  });
  assert.equal(await seen({ port, path: '/once' }), 'success 1');
  assert.equal(await seen({ port, path: '/lost' }), 'failure HTTP probe failed with statuscode: 404 1');
  assert.equal(await seen({ port, path: '/again' }), 'failure stopped after 10 redirects 1');
});

test('K-006, K-007, K-015, K-216 if the response body of an HTTP probe is incomplete, the probe is tried three times and then ends in an error, not in a failure', async (t) => {
  const port = await serve(t, (_, response) => {
    response.writeHead(200, { 'content-length': 10 }).write('short');
    setImmediate(() => response.destroy());
  });
  assert.equal(await seen({ port }), 'error 3');
});

test('K-014, K-015 if the response body of an HTTP probe stalls for longer than the timeout, the probe ends in an error, not in a failure', async (t) => {
  const port = await serve(t, (_, response) => response.writeHead(200, { 'content-length': 10 }).write('short'));
  assert.equal(await seen({ port, timeoutSeconds: 0.2 }), 'error 3');
});

test('K-013, K-014 an HTTP probe fails if it receives no response headers before its timeout', async (t) => {
  const port = await serve(t, () => undefined);
  assert.match(await seen({ port, timeoutSeconds: 0.2 }), /^failure .*deadline exceeded.* 1$/);
});

test('K-013 an HTTP probe fails if the response is not HTTP, and if the connection ends or is refused', async (t) => {
  const foreign = await listen(
    t,
    createTcpServer((socket) => socket.end('SSH-2.0-OpenSSH\r\n')),
  );
  const silent = await listen(
    t,
    createTcpServer((socket) => socket.end()),
  );
  for (const port of [foreign, silent, 1]) assert.match(await seen({ port }), /^failure .* 1$/);
});

test('K-013 an HTTPS probe fails after one attempt if the server has no TLS', async (t) => {
  const port = await serve(t, (_, response) => response.end('ok'));
  assert.match(await seen({ port, scheme: 'HTTPS' }), /^failure .*wrong version number[^]* 1$/);
});

test('K-007, K-008 if the port name of a probe is unknown, the probe is tried three times, opens no connection and ends in an error', async (t) => {
  const container = new Container({ command: ['true'], env: process.env, isolation: [] });
  t.after(() => container.exited);
  const { result, attempts, output } = await runProbe({ kind: 'broken', reason: 'no port' }, 1, container, '127.0.0.1');
  assert.deepEqual([result, attempts, output], ['error', 3, 'no port']);
});

test('K-016, K-216 an HTTP probe reads at most 10 KiB of a response body', async (t) => {
  const port = await serve(t, (_, response) => response.end('x'.repeat(1_000_000)));
  const { result, output } = await probeHttp({ port });
  assert.deepEqual([result, output.length], ['success', 10_240]);
});

test('K-020, K-021, K-216 an HTTP probe sends the default headers of the kubelet, which its httpHeaders can override', async (t) => {
  const received: string[][] = [];
  const port = await serve(t, (request, response) => {
    received.push(request.rawHeaders);
    response.end();
  });
  await probeHttp({ port });
  await probeHttp({
    port,
    headers: [
      { name: 'accept', value: '' },
      { name: 'Host', value: 'shop.example' },
    ],
  });
  const host = `127.0.0.1:${String(port)}`;
  const agent = ['User-Agent', 'kube-probe/1.36'];
  assert.deepEqual(received, [
    ['Host', host, ...agent, 'Accept', '*/*', 'Connection', 'close'],
    ['Host', 'shop.example', ...agent, 'Connection', 'close'],
  ]);
});

test('K-025 an HTTPS probe does not verify the certificate, sends no SNI for an IP address, and offers HTTP/2', async (t) => {
  const seenNames: unknown[] = [];
  const server = createSecureServer({ ...certificate, allowHTTP1: true }, (_, response) => response.end('ok'));
  server.on('secureConnection', ({ servername, alpnProtocol }) => seenNames.push(servername, alpnProtocol));
  const port = await listen(t, server);
  assert.equal(await seen({ port, scheme: 'HTTPS' }), 'success 1');
  assert.deepEqual(seenNames, [false, 'h2']);
});

test('K-029 a TCP probe connects and sends nothing', async (t) => {
  const received: Buffer[] = [];
  const server = createTcpServer((socket) => socket.on('data', (chunk) => received.push(chunk)));
  const port = await listen(t, server);
  assert.equal((await probeTcp('127.0.0.1', port, 1)).result, 'success');
  assert.deepEqual(received, []);
});
