import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { lameduck, type Logger } from '../../../src/index.ts';
import type { LameduckOptions } from '../../../src/index.ts';
import { applyKeepAliveTimeout } from '../../../src/http/http1/keep-alive-timeout.ts';
import { certificate } from '../../fixtures/certificate.ts';

const logger: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined };

async function listening(t: TestContext, server: Server, options: LameduckOptions): Promise<Socket> {
  const duck = lameduck(server, { logger, ...options });
  server.listen(0, '127.0.0.1');
  await duck.signals.hasBeenReady.signaled;
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.setEncoding('latin1');
  t.after(async () => {
    socket.destroy();
    await duck.shutdown('end of the test');
  });
  await once(socket, 'connect');
  return socket;
}

test("K-213 without keepAliveTimeout a server keeps the program's own timeouts", async (t) => {
  const [plain, own] = [createServer(), createServer({ keepAliveTimeout: 7, headersTimeout: 8 })];
  const before = [plain, own].map(({ keepAliveTimeout, headersTimeout }) => [keepAliveTimeout, headersTimeout]);
  for (const server of [plain, own]) await listening(t, server, {});
  assert.deepEqual(
    [plain, own].map(({ keepAliveTimeout, headersTimeout }) => [keepAliveTimeout, headersTimeout]),
    before,
  );
});

test('the Keep-Alive response header states the keepAliveTimeout option of lameduck, even if the program sets server.keepAliveTimeout to another value before the server listens', async () => {
  const server = createServer((_request, response) => response.end('served'));
  const duck = lameduck(server, { logger, keepAliveTimeout: '65s' });
  assert.equal(server.keepAliveTimeout, 65_000);
  server.keepAliveTimeout = 5_000;
  server.listen(0, '127.0.0.1');
  await duck.signals.hasBeenReady.signaled;
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${String(port)}/`);
  assert.equal(response.headers.get('keep-alive'), 'timeout=65');
  await response.text();
  await duck.shutdown('end of the test');
});

test('P-017 a connection that gets no new request during the keepAliveTimeout is closed', async (t) => {
  const server = createServer({ keepAliveTimeout: 60_000 }, (_request, response) => response.end('served'));
  // Node adds `keepAliveTimeoutBuffer` to the keep-alive timeout, so that a client with the same timeout sees no reset.
  // This test needs the exact timeout.
  (server as { keepAliveTimeoutBuffer?: number }).keepAliveTimeoutBuffer = 0;
  const socket = await listening(t, server, { keepAliveTimeout: '50ms' });
  const askedAt = performance.now();
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await once(socket, 'data');
  await once(socket, 'end');
  assert.ok(performance.now() - askedAt >= 45);
});

test('a new connection on which the client has sent nothing stays open for longer than the keepAliveTimeout', async (t) => {
  const server = createServer({ connectionsCheckingInterval: 20, headersTimeout: 50, keepAliveTimeout: 60_000 });
  const connectedAt = performance.now();
  const socket = await listening(t, server, { keepAliveTimeout: '50ms' });
  const [answer] = (await once(socket, 'data')) as [string];
  assert.match(answer, /^HTTP\/1\.1 408 /);
  assert.ok(performance.now() - connectedAt >= 1_050);
});

test('every server of a lifecycle gets the keepAliveTimeout, over TCP and TLS, and the environment overrides the code', async (t) => {
  process.env['LAMEDUCK_KEEP_ALIVE_TIMEOUT'] = '1m5s';
  t.after(() => {
    delete process.env['LAMEDUCK_KEEP_ALIVE_TIMEOUT'];
  });
  const servers = [createServer(), createSecureServer(certificate)];
  const duck = lameduck(servers, { logger, keepAliveTimeout: '5s' });
  assert.deepEqual(
    servers.map(({ keepAliveTimeout, headersTimeout }) => [keepAliveTimeout, headersTimeout]),
    [
      [65_000, 66_000],
      [65_000, 66_000],
    ],
  );
  await duck.shutdown('end of the test');
});

const cases: readonly (readonly [string, Pick<Server, 'headersTimeout' | 'requestTimeout'>, number])[] = [
  ['is raised if it is shorter', { headersTimeout: 60_000, requestTimeout: 300_000 }, 66_000],
  ['is unchanged if it is longer', { headersTimeout: 90_000, requestTimeout: 300_000 }, 90_000],
  ['stays switched off', { headersTimeout: 0, requestTimeout: 300_000 }, 0],
  ['never exceeds requestTimeout', { headersTimeout: 10_000, requestTimeout: 30_000 }, 30_000],
  [
    'is raised without an upper bound if requestTimeout is switched off',
    { headersTimeout: 10_000, requestTimeout: 0 },
    66_000,
  ],
];

for (const [title, given, expected] of cases) {
  test(`K-213 after lameduck has set a keepAliveTimeout of 65 s, the headersTimeout of the server ${title}`, () => {
    const server = Object.assign(createServer(), given);
    applyKeepAliveTimeout(server, 65_000);
    assert.equal(server.headersTimeout, expected);
    assert.equal(server.requestTimeout, given.requestTimeout);
  });
}
