// The client of the API server over TLS: it trusts the CA that is given, and nothing else.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { connect } from '../../src/leader-election/api-client.ts';
import type { Answer } from '../../src/leader-election/answer.ts';
import { Credentials } from '../../src/leader-election/api-server.ts';
import { certificate } from '../fixtures/certificate.ts';
import { status } from '../support/lease-store.ts';

// In a cluster the host is an IP address.
for (const host of ['localhost', '127.0.0.1'])
  void test(`L-121, L-123 a connection to ${host} trusts the CA as it is when the connection is made`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'lease-'));
    const server = createServer({ key: certificate.key, cert: certificate.cert }, (_request, response) => {
      const { status: code, body } = status(404, 'NotFound', 'leases "app" not found');
      response.writeHead(code, { Connection: 'close' }).end(JSON.stringify(body));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => {
      server.close();
      rmSync(folder, { recursive: true });
    });
    const caFile = join(folder, 'ca.crt');
    writeFileSync(caFile, '-----BEGIN CERTIFICATE-----\nnone\n-----END CERTIFICATE-----\n');
    const address = { url: `https://${host}:${String((server.address() as AddressInfo).port)}`, caFile };
    const credentials = new Credentials(address, systemClock);
    const api = await connect({ server: address, credentials, name: 'app', namespace: 'ns', userAgent: 'test' });
    const read = (): Promise<Answer> => api.send({ method: 'GET', timeout: 1_000 }, new AbortController().signal);
    const distrusted = await read();
    assert.equal(distrusted.reply.kind, 'failed');
    assert.equal(distrusted.problem?.kind, 'unreachable');
    writeFileSync(caFile, certificate.cert);
    assert.equal((await read()).reply.kind, 'absent');
    api.close();
  });
