// Tests HTTP/2 sessions that were opened before the lifecycle began, so that the lifecycle saw no event for them.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createSecureServer, createServer, type ServerHttp2Stream } from 'node:http2';
import { describe, it, type TestContext } from 'node:test';
import type { Lameduck } from '../../../src/handle.ts';
import { certificate } from '../../fixtures/certificate.ts';
import { Http2Client } from '../../support/http2-client.ts';
import { listen } from '../../support/listening.ts';
import { manage } from '../../support/manage.ts';
import { until } from '../../support/until.ts';

/**
 * dialOlder opens an HTTP/2 session to a server that has no lifecycle yet. It returns the client of this session, the
 * streams that the server has received, and a function that begins the lifecycle. The server sends no response until
 * the test sends one on a stream.
 */
async function dialOlder(t: TestContext, isSecure: boolean) {
  const server = isSecure ? createSecureServer(certificate) : createServer();
  const streams: ServerHttp2Stream[] = [];
  server.on('stream', (stream: ServerHttp2Stream) => {
    stream.on('error', () => undefined);
    streams.push(stream);
  });
  const isThere = once(server, 'session');
  const client = new Http2Client(await listen(t, server), isSecure);
  t.after(() => {
    client.session.destroy();
  });
  await Promise.all([isThere, client.connected()]);
  const begin = async (): Promise<Lameduck> => {
    const { handle, startup } = manage([server]);
    startup.begin();
    await handle.signals.hasBeenReady.signaled;
    return handle;
  };
  return { client, streams, begin };
}

async function serveOlder(t: TestContext, isSecure: boolean) {
  const { client, streams, begin } = await dialOlder(t, isSecure);
  const handle = await begin();
  const outcome = client.request('/');
  await until(() => streams.length === 1);
  const answer = (): void => {
    streams[0]?.respond({ ':status': 200 });
    streams[0]?.end('whole');
  };
  return { handle, client, outcome, answer };
}

for (const isSecure of [false, true]) {
  void describe(`node:http2 ${isSecure ? 'over TLS' : 'without TLS'}, lameduck handles a session that was opened before the lifecycle began, after a request has arrived on it`, () => {
    it('P-042, P-053 if an HTTP/2 session was opened before the lifecycle of its server began, the drain waits for the response to a request on this session, and sends a GOAWAY', async (t) => {
      const { handle, client, outcome, answer } = await serveOlder(t, isSecure);
      const ended = handle.shutdown('test');
      const expected = isSecure ? [1] : [2 ** 31 - 1, 1];
      await until(() => client.goaways.length === expected.length);
      answer();
      assert.equal((await outcome).body, 'whole');
      assert.deepEqual(client.goaways, expected);
      assert.equal((await ended).exitCode, 0);
    });

    it('P-023, P-053 if an HTTP/2 session was opened before the lifecycle of its server began, an unanswered request on this session is cut at the deadline of the drain', async (t) => {
      const { handle, client, outcome } = await serveOlder(t, isSecure);
      const record = await handle.shutdown('test', { budget: 100 });
      assert.deepEqual([record.exitCode, record.requests.cut], [80, 1]);
      assert.equal((await outcome).isWhole, false);
      await client.closed;
    });
  });

  const [major = 0] = process.versions.node.split('.').map(Number);
  const skip = major < 24 && 'Node does not say which sessions a server has';
  void describe(
    `node:http2 ${isSecure ? 'over TLS' : 'without TLS'}, lameduck handles a session that was opened before the lifecycle began, even if no further request arrives on it`,
    { skip },
    () => {
      it('P-044, P-053 an HTTP/2 session without a request gets a GOAWAY even if it was opened before the lifecycle of its server began', async (t) => {
        const { client, begin } = await dialOlder(t, isSecure);
        const handle = await begin();
        assert.equal((await handle.shutdown('test')).exitCode, 0);
        await client.closed;
        assert.ok(client.goaways.length > 0);
      });

      it('P-042, P-053 the drain waits for an HTTP/2 stream that was opened before the lifecycle of its server began', async (t) => {
        const { client, streams, begin } = await dialOlder(t, isSecure);
        const outcome = client.request('/');
        await until(() => streams.length === 1);
        const handle = await begin();
        let hasEnded = false;
        const ended = handle.shutdown('test').finally(() => (hasEnded = true));
        await until(() => client.goaways.at(-1) === 1);
        assert.equal(hasEnded, false);
        streams[0]?.respond({ ':status': 200 });
        streams[0]?.end('whole');
        assert.equal((await outcome).body, 'whole');
        const { exitCode, requests } = await ended;
        assert.deepEqual([exitCode, requests.answered], [0, 1]);
      });

      it('P-023, P-053 at the deadline of the drain, an HTTP/2 stream is cut even if it was opened before the lifecycle of its server began', async (t) => {
        const { client, streams, begin } = await dialOlder(t, isSecure);
        const outcome = client.request('/');
        await until(() => streams.length === 1);
        const handle = await begin();
        const record = await handle.shutdown('test', { budget: 100 });
        assert.deepEqual([record.exitCode, record.requests.cut], [80, 1]);
        assert.equal((await outcome).isWhole, false);
      });
    },
  );
}
