// Tests the client of the API server over TLS: which CA it trusts, which protocol it uses, and how long it waits for a
// connection.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { rootCertificates } from 'node:tls';
import { systemClock } from '../../../src/clock.ts';
import { connect, type LeaseApi } from '../../../src/leader-election/api-client/api-client.ts';
import type { Answer } from '../../../src/leader-election/api-client/answer.ts';
import { Credentials } from '../../../src/leader-election/api-client/credentials.ts';
import { certificate } from '../../fixtures/certificate.ts';
import { status } from '../../support/lease-store.ts';

const keyAndCert = { key: certificate.key, cert: certificate.cert };

const answerNotFound: RequestListener = (_request, response) => {
  const { status: code, body } = status(404, 'NotFound', 'leases "app" not found');
  response.writeHead(code).end(JSON.stringify(body));
};

interface Client {
  readonly api: LeaseApi;
  readonly caFile: string;
  readonly read: (timeout?: number) => Promise<Answer>;
}

/** clientOf starts the server and creates a client of it. Both are closed at the end of the test. */
async function clientOf(
  t: TestContext,
  server: Server,
  { ca = certificate.cert, host = 'localhost', connectTimeout = 5_000 } = {},
): Promise<Client> {
  const folder = mkdtempSync(join(tmpdir(), 'lease-'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const caFile = join(folder, 'ca.crt');
  writeFileSync(caFile, ca);
  const address = { url: `https://${host}:${String((server.address() as AddressInfo).port)}`, caFile };
  const credentials = new Credentials(address, systemClock);
  const lease = { name: 'app', namespace: 'ns', clock: systemClock, userAgent: 'test' };
  const api = await connect({ ...lease, server: address, credentials, connectTimeout });
  t.after(() => {
    api.close();
    server.close();
    rmSync(folder, { recursive: true });
  });
  const read = (timeout = 5_000): Promise<Answer> => api.send({ method: 'GET', timeout });
  return { api, caFile, read };
}

// In a cluster, the host of the API server is an IP address.
for (const host of ['localhost', '127.0.0.1'])
  void test(`LT-43, L-121, L-123 a new connection to ${host} trusts the CA that the CA file contains at the time when the connection is opened`, async (t) => {
    const server = createServer(keyAndCert, (request, response) => {
      response.setHeader('Connection', 'close');
      answerNotFound(request, response);
    });
    const { caFile, read } = await clientOf(t, server, { ca: rootCertificates[0], host });
    const distrusted = await read();
    assert.equal(distrusted.reply.kind, 'failed');
    assert.equal(distrusted.problem?.kind, 'unreachable');
    writeFileSync(caFile, certificate.cert);
    assert.equal((await read()).reply.kind, 'absent');
  });

void test('L-123 the client of the API server uses HTTP/1.1 even if the API server prefers HTTP/2', async (t) => {
  const versions: string[] = [];
  const server = createSecureServer({ ...keyAndCert, allowHTTP1: true }, (request, response) => {
    versions.push(request.httpVersion);
    answerNotFound(request as never, response as never);
  });
  const { read } = await clientOf(t, server);
  assert.equal((await read()).reply.kind, 'absent');
  assert.deepEqual(versions, ['1.1']);
});

void test('L-084, L-123 a connection to the API server that is not established in time is abandoned, and the elector opens another connection', async (t) => {
  const real = createServer(keyAndCert, answerNotFound);
  let connections = 0;
  // The server accepts the first connection, but never answers its TLS handshake.
  const server = createTcpServer((socket) => {
    connections++;
    socket.on('error', () => undefined);
    if (connections > 1) real.emit('connection', socket);
  });
  const { read } = await clientOf(t, server, { connectTimeout: 200 });
  const first = await read();
  assert.equal(first.problem?.kind, 'unreachable');
  assert.match(first.problem.message, /timeout/i);
  assert.equal((await read()).reply.kind, 'absent');
  assert.equal(connections, 2);
});
