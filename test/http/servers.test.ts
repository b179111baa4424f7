// Tests the drain of servers: several servers together, a server on a unix socket, a server that already listens, and a
// server that never listens.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { duplexPair } from 'node:stream';
import { text } from 'node:stream/consumers';
import { it } from 'node:test';
import type { Http1Server } from '../../src/http/server.ts';
import type { Parts } from '../../src/parts.ts';
import type { SettingsOptions } from '../../src/settings/table.ts';
import { adapters, type AdapterName } from '../support/adapters.ts';
import { manage } from '../support/manage.ts';
import { clientOn, describeAdapters, listen, serve, shutdownOf, type Client } from '../support/serving.ts';
import { until } from '../support/until.ts';

let sockets = 0;

it('P-040 if a program upgrades an in-memory stream instead of a network socket, the drain ends the stream and writes nothing into it', async (t) => {
  const switched = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n';
  const { server, traffic, handle } = await serve(t, {
    listener: () => undefined,
    prepare: (one) => one.on('upgrade', (_, socket) => socket.resume().write(switched)),
  });
  const [near, far] = duplexPair();
  t.after(() => near.destroy());
  server.emit('connection', far);
  const body = text(near);
  near.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
  await until(() => traffic.counts.longRunningRequests === 1);
  const ended = handle.shutdown('test');
  assert.equal(await body, switched);
  near.end();
  assert.equal((await ended).exitCode, 0);
});

it('P-090 each event that a server emits, such as a connection or a request, counts as a sign that the event loop is not blocked', async (t) => {
  const server = createServer((_, response) => response.end('ok'));
  let signs = 0;
  manage([server], {}, { signOfLife: () => signs++ });
  await listen(server);
  t.after(() => server.close());
  const before = signs;
  assert.equal((await fetch(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}`)).status, 200);
  assert.equal(signs, before + 2, 'the server must have one connection and one request');
});

/** manageOpen adds a lifecycle to servers that already listen. In production, only lameduck/register does this. */
async function manageOpen(
  adapter: AdapterName,
  servers: readonly Http1Server[],
  options: SettingsOptions = {},
): Promise<Parts> {
  const parts = manage(servers, options, { isUnderRegister: adapter === 'register' });
  parts.startup.begin();
  await parts.handle.signals.hasBeenReady.signaled;
  return parts;
}

async function dial(adapter: AdapterName, server: Http1Server): Promise<Client> {
  const address = server.address() as AddressInfo | string;
  const raw = typeof address === 'string' ? connect(address) : connect(address.port, address.address);
  return clientOn(raw, adapter);
}

describeAdapters((adapter) => {
  const open = async (listener: RequestListener): Promise<Http1Server> => {
    const server = await adapters[adapter](listener);
    await listen(server);
    return server;
  };

  it('A-007, P-020, P-050 two servers of one lifecycle, one of them on a unix socket, drain together', async () => {
    const held: ServerResponse[] = [];
    const hold: RequestListener = (_, response) => held.push(response);
    const onSocket = await adapters[adapter](hold);
    onSocket.listen(join(tmpdir(), `lameduck-${String(process.pid)}-${String(sockets++)}.sock`));
    await once(onSocket, 'listening');
    const servers = [await open(hold), onSocket];
    const parts = await manageOpen(adapter, servers);
    const clients = await Promise.all(servers.map(async (server) => dial(adapter, server)));
    for (const client of clients) client.get('/');
    await until(() => held.length === 2);
    const ended = parts.handle.shutdown();
    await parts.handle.signals.httpServerStoppedListening.signaled;
    for (const [index, response] of held.entries()) {
      assert.equal(
        parts.handle.signals.inFlightRequestsDrained.hasSignaled,
        false,
        'one request must still be in flight',
      );
      response.end(String(index));
      await until(() => parts.traffic.counts.requestsInFlight === 1 - index);
    }
    for (const client of clients) assert.equal((await client.reader.next())?.isClose, true);
    assert.deepEqual((await ended).requests, { answered: 2, refused: 0, aborted: 0, cut: 0 });
  });

  it('P-053 connections that were opened before the lifecycle began are counted and served, get Connection: close, and are ended like all other connections', async () => {
    const server = await open((_, response) => response.end('ok'));
    const [client, silent] = [await dial(adapter, server), await dial(adapter, server)];
    for (const { get, reader } of [client, silent].map((one) => ({
      get: () => one.get('/before'),
      reader: one.reader,
    }))) {
      get();
      await reader.next();
    }
    const parts = await manageOpen(adapter, [server]);
    assert.equal(parts.traffic.connections.size, 2);
    const ended = parts.handle.shutdown();
    client.get('/leaving');
    assert.equal((await client.reader.next())?.isClose, true);
    await silent.reader.ended;
    assert.equal(silent.reader.error, undefined, 'the server must end the connection with a FIN');
    silent.socket.end();
    const { exitCode, phases } = await ended;
    assert.equal(exitCode, 0);
    assert.ok((phases.InFlightRequestsDrained ?? 0) >= 1_000, 'an idle connection must stay open for one second');
  });

  // With an overload limit, lameduck counts requests at their arrival. A request that arrived before the lifecycle
  // began is missing from this count.
  for (const maxRequestsInflight of [0, 100]) {
    const limit = maxRequestsInflight === 0 ? 'without overload limits' : 'with an overload limit';

    it(`P-053 the drain waits for a request that arrived before the lifecycle of its server began (${limit})`, async () => {
      const held: ServerResponse[] = [];
      const server = await open((_, response) => held.push(response));
      const client = await dial(adapter, server);
      client.get('/older');
      await until(() => held.length === 1);
      const parts = await manageOpen(adapter, [server], { maxRequestsInflight });
      assert.equal(parts.traffic.counts.requestsInFlight, 1);
      const ended = parts.handle.shutdown();
      await parts.handle.signals.httpServerStoppedListening.signaled;
      held[0]?.end('whole');
      const response = await client.reader.next();
      assert.deepEqual([response?.body, response?.isClose], ['whole', true]);
      assert.deepEqual((await ended).requests, { answered: 1, refused: 0, aborted: 0, cut: 0 });
    });

    it(`P-009, P-053 each pipelined request that arrived before the lifecycle of the server began gets its response (${limit})`, async () => {
      const held: ServerResponse[] = [];
      const server = await open((_, response) => held.push(response));
      const client = await dial(adapter, server);
      for (const path of ['/first', '/second', '/third']) client.get(path);
      await until(() => held.length === 3);
      const parts = await manageOpen(adapter, [server], { maxRequestsInflight });
      const ended = parts.handle.shutdown();
      await parts.handle.signals.httpServerStoppedListening.signaled;
      const closes: (boolean | undefined)[] = [];
      for (const response of held) {
        response.end('whole');
        closes.push((await client.reader.next())?.isClose);
      }
      assert.deepEqual(closes, [false, false, true]);
      const { exitCode, requests } = await ended;
      assert.deepEqual([exitCode, requests.aborted, requests.cut], [0, 0, 0]);
    });
  }

  it('P-033, P-053 the drain answers a request below a long-running path, even if the request arrived before the lifecycle of its server began', async () => {
    let arrived = false;
    const server = await open(() => (arrived = true));
    const client = await dial(adapter, server);
    client.get('/poll');
    await until(() => arrived);
    const options = { longRunningPaths: '/poll', shutdownWatchTerminationGracePeriod: '0s' };
    const parts = await manageOpen(adapter, [server], options);
    assert.equal(parts.traffic.counts.longRunningRequests, 1);
    const ended = parts.handle.shutdown();
    assert.equal((await client.reader.next())?.isClose, true);
    assert.equal((await ended).exitCode, 0);
  });

  const skip = adapter === 'register' && 'a server has its lifecycle once it listens';
  it(
    'P-054 the drain of a server that never listens ends at once, and lameduck closes a server that begins to listen after that',
    { skip },
    async () => {
      const server = await adapters[adapter](() => undefined);
      const { handle, startup } = manage([server]);
      startup.begin();
      assert.equal((await handle.shutdown()).exitCode, 0);
      server.listen(0, '127.0.0.1');
      await once(server, 'close');
      assert.equal(server.listening, false);
    },
  );

  it('P-047 a request in flight is served, with and without TLS', async (t) => {
    let answer: (() => void) | undefined;
    const serving = await serve(t, { adapter, listener: (_, response) => (answer = () => response.end('whole')) });
    const client = await serving.dial();
    client.get('/');
    await until(() => answer !== undefined);
    const { ended } = shutdownOf(serving);
    await serving.handle.signals.httpServerStoppedListening.signaled;
    answer?.();
    const response = await client.reader.next();
    assert.deepEqual([response?.body, response?.isClose], ['whole', true]);
    assert.equal((await ended).exitCode, 0);
  });

  it('P-007 the drain closes idle connections in groups, one group every 50 ms, and not all at once', async (t) => {
    const serving = await serve(t, { adapter, listener: () => undefined });
    const clients = await Promise.all(Array.from({ length: 40 }, async () => serving.dial()));
    await until(() => [...serving.traffic.connections].filter(({ spoken }) => spoken.is === 'http').length === 40);
    const sweeps: number[] = [];
    let isInSweep = false;
    const noteEnd = (): void => {
      if (!isInSweep) sweeps.push(0);
      sweeps.push((sweeps.pop() ?? 0) + 1);
      isInSweep = true;
      queueMicrotask(() => (isInSweep = false));
    };
    for (const connection of serving.traffic.connections) {
      const end = connection.end.bind(connection);
      connection.end = () => {
        noteEnd();
        end();
      };
    }
    const { ended } = shutdownOf(serving);
    await Promise.all(clients.map(async (client) => client.ended()));
    for (const { socket } of clients) socket.end();
    assert.deepEqual(sweeps, [10, 10, 10, 10], 'the server must end at most ten connections per sweep of 50 ms');
    assert.equal((await ended).exitCode, 0);
  });
});
