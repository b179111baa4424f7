// Tests HTTP without TLS on a TLS server. Packages such as httpolyglot read the first byte of a connection, and pass the
// socket either to the TLS handshake or to the HTTP parser.
import assert from 'node:assert/strict';
import * as nodeHttp from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { it, type TestContext } from 'node:test';
import type { Http1Server } from '../../../src/http/server.ts';
import type { AdapterName } from '../../support/adapters.ts';
import type { Client } from '../../support/serving.ts';
import { describeEach, serve, shutdownOf, clientOn, type Serving } from '../../support/serving.ts';
import { until } from '../../support/until.ts';

type OnConnection = (this: unknown, socket: Socket) => void;

const { _connectionListener: parseHttp1 } = nodeHttp as unknown as { readonly _connectionListener: OnConnection };

// The first byte of a TLS handshake.
const handshakeByte = 22;

// Makes a TLS server speak HTTP without TLS too.
function speakBoth(server: Http1Server): void {
  const [shakeHands] = server.listeners('connection') as [OnConnection];
  server.removeAllListeners('connection').on('connection', (socket: Socket) => {
    socket.once('readable', () => {
      const first = socket.read(1) as Buffer | null;
      if (first === null) return;
      socket.unshift(first);
      (first[0] === handshakeByte ? shakeHands : parseHttp1).call(server, socket);
    });
  });
}

async function dialPlain(t: TestContext, { port }: Serving): Promise<Client> {
  const client = await clientOn(connect(port, '127.0.0.1'), 'node:http');
  t.after(() => client.socket.destroy());
  return client;
}

// On Node 22, a TLS server of node:http2 can serve HTTP/1.1 only on connections with TLS.
const canServePlain = (adapter: AdapterName): boolean =>
  adapter === 'node:https' || !process.versions.node.startsWith('22.');

describeEach(
  (['node:https', 'node:http2 over TLS'] as const).filter(canServePlain),
  (adapter) => {
    it('P-001 if a TLS server also serves HTTP without TLS, the drain adds Connection: close to the response on a connection without TLS', async (t) => {
      const held: ServerResponse[] = [];
      const listener = (_: IncomingMessage, response: ServerResponse): number => held.push(response);
      const serving = await serve(t, { adapter, listener, patch: speakBoth });
      const [early, late, secure] = [await dialPlain(t, serving), await dialPlain(t, serving), await serving.dial()];
      for (const client of [early, secure]) client.get('/');
      await until(() => held.length === 2);
      // Node attaches an HTTP parser to a connection without TLS only at its first request. So send a first request on
      // this connection.
      late.get('/first');
      await until(() => held.length === 3);
      held.pop()?.end('first');
      assert.equal((await late.reader.next())?.isClose, false);
      const { ended } = shutdownOf(serving);
      await serving.handle.signals.httpServerStoppedListening.signaled;
      late.get('/');
      await until(() => held.length === 3);
      for (const response of held) response.end('whole');
      for (const client of [early, late, secure]) {
        const response = await client.reader.next();
        assert.deepEqual([response?.body, response?.isClose], ['whole', true]);
      }
      const { exitCode, requests } = await ended;
      assert.deepEqual({ exitCode, cut: requests.cut }, { exitCode: 0, cut: 0 });
    });

    it('P-006 on a TLS server, an idle connection without TLS gets a FIN; if a part of a request has arrived on the connection, the server first waits for the rest of this request', async (t) => {
      const listener = (_: IncomingMessage, response: ServerResponse): unknown => response.end('whole');
      const serving = await serve(t, { adapter, listener, patch: speakBoth });
      const [idle, slow] = [await dialPlain(t, serving), await dialPlain(t, serving)];
      for (const client of [idle, slow]) {
        client.get('/');
        await client.reader.next();
      }
      slow.send('GET / HTTP/1.1\r\nHost: local');
      const { ended } = shutdownOf(serving);
      await idle.ended();
      assert.equal(idle.reader.error, undefined, 'the server must not reset the connection');
      assert.equal(idle.socket.readableEnded, true);
      slow.send('host\r\n\r\n');
      assert.equal((await slow.reader.next())?.isClose, true);
      assert.equal((await ended).exitCode, 0);
    });

    it('a plain-text connection of a TLS server counts as a long-running request after an upgrade', async (t) => {
      const serving = await serve(t, {
        adapter,
        listener: () => undefined,
        patch: (server) => {
          speakBoth(server);
          server.on('upgrade', (_request, socket: Socket) => {
            socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n');
          });
        },
      });
      const client = await dialPlain(t, serving);
      client.get('/', 'Connection: Upgrade\r\nUpgrade: other\r\n');
      await until(() => serving.traffic.counts.longRunningRequests === 1);
      const { ended } = shutdownOf(serving);
      await client.ended();
      client.socket.end();
      assert.equal((await ended).exitCode, 0);
    });
  },
  true,
);
