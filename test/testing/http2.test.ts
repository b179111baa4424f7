// Tests runShutdown on HTTP/2 servers.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createSecureServer, createServer, type ClientHttp2Session, type Http2Server } from 'node:http2';
import { test } from 'node:test';
import { runShutdown } from '../../src/testing.ts';
import { certificate } from '../fixtures/certificate.ts';

async function ask(session: ClientHttp2Session, path: string): Promise<string> {
  const stream = session.request({ ':path': path });
  stream.setEncoding('utf8');
  let body = '';
  stream.on('data', (chunk: string) => (body += chunk));
  await once(stream, 'close');
  return body;
}

const servers: Readonly<Record<string, () => Http2Server>> = {
  'without TLS': () =>
    createServer((_request, response) => {
      setTimeout(() => response.end('served'), 20);
    }),
  'over TLS': () =>
    createSecureServer(certificate, (_request, response) => {
      setTimeout(() => response.end('served'), 20);
    }),
  'that handles streams': () => {
    const server = createServer();
    server.on('stream', (stream) => {
      setTimeout(() => {
        stream.respond();
        stream.end('served');
      }, 20);
    });
    return server;
  },
};

for (const [what, create] of Object.entries(servers)) {
  test(`runShutdown shuts down an HTTP/2 server ${what} while a request for the path in the option "during" is in flight`, async () => {
    const { record, result } = await runShutdown(
      create(),
      async (origin) => {
        const session = connect(origin, { rejectUnauthorized: false });
        const closed = once(session, 'close');
        const bodies = [await ask(session, '/before'), await ask(session, '/slow?ms=20')];
        await closed;
        return bodies;
      },
      { during: '/slow' },
    );
    assert.deepEqual(result, ['served', 'served']);
    assert.deepEqual([record.exitCode, record.requests.answered], [0, 1]);
  });
}
