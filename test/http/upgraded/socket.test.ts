// Tests sockets that were upgraded to a protocol that lameduck does not know, and CONNECT tunnels.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, createServer, type AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { it, test } from 'node:test';
import {
  describeAdapters,
  serve,
  shutdownOf,
  type Client,
  type Scope,
  type ServeOptions,
} from '../../support/serving.ts';
import { until } from '../../support/until.ts';

const switching = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n';
const upgrade = 'Connection: Upgrade\r\nUpgrade: echo\r\n';

function onUpgrade(
  scope: Scope,
  answer: (socket: Duplex, head: Buffer) => void,
  options: Partial<ServeOptions> = {},
): ReturnType<typeof serve> {
  return serve(scope, {
    listener: () => undefined,
    prepare: (server) =>
      server.on('upgrade', (_request, socket, head) => {
        answer(socket, head);
      }),
    ...options,
  });
}

function echo(socket: Duplex): void {
  socket.write(switching);
  socket.on('data', (data: Buffer) => socket.write(data));
  socket.on('end', () => socket.end());
}

async function upgraded(client: Client): Promise<void> {
  client.get('/', upgrade);
  assert.equal((await client.reader.next())?.status, 101);
}

describeAdapters((adapter) => {
  it('P-032, P-040 a CONNECT tunnel is a long-running request, and gets a FIN when the drain reaches it', async (t) => {
    const target = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
    await once(target, 'listening');
    t.after(() => target.close());
    const serving = await serve(t, {
      adapter,
      listener: () => undefined,
      prepare: (server) =>
        server.on('connect', (_request, socket: Duplex) => {
          const upstream = connect((target.address() as AddressInfo).port, '127.0.0.1', () => {
            socket.write('HTTP/1.1 200 Connection established\r\nContent-Length: 0\r\n\r\n');
            socket.pipe(upstream).pipe(socket);
          });
        }),
    });
    const client = await serving.dial();
    client.send('CONNECT localhost:1 HTTP/1.1\r\nHost: localhost:1\r\n\r\n');
    assert.equal((await client.reader.next())?.status, 200);
    assert.deepEqual(serving.traffic.counts, { connections: 1, requestsInFlight: 0, longRunningRequests: 1 });
    const { ended } = shutdownOf(serving);
    await client.ended();
    assert.equal(client.reader.error, undefined, 'the server must end the connection with a FIN, not with a reset');
    const record = await ended;
    assert.deepEqual([record.exitCode, record.longRunningEnded], [0, 1]);
  });

  it('P-032 HEAD and OPTIONS requests are counted like any other request', async (t) => {
    const held: ServerResponse[] = [];
    const serving = await serve(t, { adapter, listener: (_, response) => held.push(response) });
    const clients = [await serving.dial(), await serving.dial()];
    clients[0]?.send('HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    clients[1]?.send('OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await until(() => held.length === 2);
    assert.equal(serving.traffic.counts.requestsInFlight, 2);
    const { ended } = shutdownOf(serving);
    await serving.handle.signals.httpServerStoppedListening.signaled;
    for (const response of held) response.writeHead(204).end();
    assert.equal((await ended).requests.answered, 2);
  });

  it('P-040 an upgrade that is pending in the drain gets its response, and then a FIN', async (t) => {
    let given: Duplex | undefined;
    const serving = await onUpgrade(t, (socket) => (given = socket), { adapter });
    const client = await serving.dial();
    client.get('/', upgrade);
    await until(() => given !== undefined);
    const { ended } = shutdownOf(serving);
    await serving.handle.signals.httpServerStoppedListening.signaled;
    await until(() => [...serving.traffic.connections].every((one) => one.upgraded?.state.is === 'ending'));
    given?.write(switching);
    assert.equal((await client.reader.next())?.status, 101);
    await client.ended();
    const record = await ended;
    assert.deepEqual([record.exitCode, record.longRunningEnded], [0, 1]);
    assert.ok(
      record.durationMs < 3_000,
      'the drain must not wait until the end of the grace period for long-running requests',
    );
  });

  for (const [what, delay, wanted] of [
    ['an upgrade that arrives during the shutdown delay', 300, `GET / HTTP/1.1\r\nHost: localhost\r\n${upgrade}\r\n`],
    ['an upgrade that is pending in the drain', 0, `GET / HTTP/1.1\r\nHost: localhost\r\n${upgrade}\r\n`],
    ['a pending CONNECT', 0, 'CONNECT localhost:1 HTTP/1.1\r\nHost: localhost:1\r\n\r\n'],
  ] as const) {
    it(`P-040 if the program answers with an ordinary response, the drain does not cut its body: ${what}`, async (t) => {
      const given: Duplex[] = [];
      const prepare: ServeOptions['prepare'] = (server) => {
        for (const event of ['upgrade', 'connect']) server.on(event, (_request, socket: Duplex) => given.push(socket));
      };
      const serving = await onUpgrade(t, echo, { adapter, prepare, shutdownDelayDuration: delay });
      const client = await serving.dial();
      const isEnding = (): boolean =>
        [...serving.traffic.connections].every((one) => one.upgraded?.state.is === 'ending');
      const early = delay > 0 ? shutdownOf(serving) : undefined;
      client.send(wanted);
      await until(() => given.length === 1);
      const { ended } = early ?? shutdownOf(serving);
      if (early === undefined) await until(isEnding);
      given[0]?.write('HTTP/1.1 403 Forbidden\r\nContent-Length: 10\r\n\r\nhello');
      await until(isEnding);
      for (const connection of serving.traffic.connections) connection.look(0, true);
      given[0]?.end('world');
      const answer = await client.reader.next();
      assert.deepEqual([answer?.status, answer?.body], [403, 'helloworld']);
      assert.equal((await ended).exitCode, 0);
    });
  }

  it('P-040 if the program has refused an upgrade and ended the socket, a client that keeps its side open does not hold the drain', async (t) => {
    const given: Duplex[] = [];
    const prepare: ServeOptions['prepare'] = (server) =>
      server.on('upgrade', (_request, socket: Duplex) => given.push(socket.resume()));
    const serving = await onUpgrade(t, echo, { adapter, prepare });
    const client = await serving.dial({ allowHalfOpen: true });
    client.send(`GET / HTTP/1.1\r\nHost: localhost\r\n${upgrade}\r\n`);
    await until(() => given.length === 1);
    const { ended } = shutdownOf(serving);
    await until(() => [...serving.traffic.connections].every((one) => one.upgraded?.state.is === 'ending'));
    given[0]?.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n');
    assert.equal((await client.reader.next())?.status, 403);
    const { exitCode, durationMs } = await ended;
    assert.equal(exitCode, 0);
    assert.ok(durationMs < 8_000, 'the drain must not wait until the end of the grace period');
  });
});

test('P-041 if a handler has not answered an upgrade when shutdownWatchTerminationGracePeriod ends, lameduck answers with an HTTP error, and later writes of the handler to the socket do not throw', async (t) => {
  const late: unknown[] = [];
  const serving = await onUpgrade(
    t,
    (socket) => {
      socket.on('end', () => {
        late.push(socket.write(switching, (error) => late.push(error?.message)));
        socket.end('more');
      });
    },
    { shutdownWatchTerminationGracePeriod: '200ms' },
  );
  const client = await serving.dial();
  client.get('/', upgrade);
  await until(() => serving.traffic.counts.longRunningRequests === 1);
  const { ended } = shutdownOf(serving);
  const answer = await client.reader.next();
  assert.deepEqual([answer?.status, answer?.isClose], [503, true]);
  await client.ended();
  assert.equal(client.reader.error, undefined);
  assert.equal((await ended).exitCode, 0);
  assert.deepEqual(late, [
    false,
    'lameduck has already answered this request, so later writes of its handler are dropped',
  ]);
});

test("P-040 the server reads from a client that keeps sending after the server's FIN, and does not reset the connection before the grace period for long-running requests ends", async (t) => {
  const serving = await onUpgrade(t, echo, { shutdownWatchTerminationGracePeriod: '2500ms' });
  const client = await serving.dial({ allowHalfOpen: true });
  await upgraded(client);
  const { ended } = shutdownOf(serving);
  await client.ended();
  const chatter = setInterval(() => client.socket.write('still here'), 20);
  t.after(() => {
    clearInterval(chatter);
  });
  const record = await ended;
  assert.ok(
    record.durationMs >= 2_500 && record.durationMs < 6_000,
    `the socket was destroyed after ${String(record.durationMs)} ms`,
  );
  assert.deepEqual([record.exitCode, record.longRunningEnded], [0, 1]);
});

test('P-040 bytes that a handler writes after the FIN are dropped, without an error', async (t) => {
  const serving = await onUpgrade(t, echo);
  const client = await serving.dial({ allowHalfOpen: true });
  await upgraded(client);
  const { ended } = shutdownOf(serving);
  await client.ended();
  client.send('the echo of these bytes is written after the FIN');
  client.socket.end();
  await once(client.socket, 'close');
  assert.equal(client.reader.error, undefined, 'the server must not reset the connection');
  assert.equal((await ended).exitCode, 0);
});

test('P-028 the AbortSignal of an upgraded request is aborted when the drain reaches the request', async (t) => {
  const reasons: unknown[] = [];
  const serving = await serve(t, {
    listener: () => undefined,
    prepare: (server, { handle }) => {
      server.on('upgrade', (request, socket) => {
        const signal = handle.abortSignal(request);
        signal.addEventListener('abort', () => {
          reasons.push((signal.reason as Error).message);
          socket.end('bye');
        });
        socket.write(switching);
      });
    },
  });
  const client = await serving.dial();
  await upgraded(client);
  let text = '';
  client.socket.on('data', (data: string) => (text += data));
  const { ended } = shutdownOf(serving);
  await client.ended();
  assert.equal(text, 'bye');
  assert.deepEqual(reasons, ['the request was aborted: the server is shutting down']);
  assert.equal((await ended).exitCode, 0);
});

for (const [what, wanted, unfinished] of [
  ['an upgraded socket', `GET /chat?secret HTTP/1.1\r\nHost: localhost\r\n${upgrade}\r\n`, ['GET', '/chat']],
  ['a CONNECT tunnel', 'CONNECT localhost:1 HTTP/1.1\r\nHost: localhost:1\r\n\r\n', ['CONNECT', 'localhost:1']],
] as const) {
  test(`P-027, P-040 a connection that no longer uses HTTP and is still open at the deadline of the drain is named in the log and then destroyed: ${what}`, async (t) => {
    const serving = await onUpgrade(t, echo, {
      prepare: (server) => {
        for (const event of ['upgrade', 'connect']) {
          server.on(event, (_request: object, socket: Duplex) => {
            echo(socket);
          });
        }
      },
    });
    const client = await serving.dial({ allowHalfOpen: true });
    client.send(wanted);
    await until(() => client.reader.received > 0);
    const { localPort: port } = client.socket;
    const record = await serving.handle.shutdown('test', { budget: '3300ms' });
    assert.deepEqual([record.exitCode, record.requests.cut, record.longRunningEnded], [80, 1, 0]);
    assert.deepEqual(
      record.unfinished.map(({ method, route, peer }) => [method, route, peer]),
      [[...unfinished, `127.0.0.1:${String(port)}`]],
    );
    assert.deepEqual(serving.unfinished, record.unfinished, 'the log must name the socket before the final log line');
    await client.ended();
  });
}

test('P-028 the AbortSignal of an upgraded request is aborted before its socket is destroyed, even if the drain has no time left', async (t) => {
  const reasons: unknown[] = [];
  const serving = await onUpgrade(t, echo, {
    prepare: (server, { handle }) => {
      server.on('upgrade', (request, socket) => {
        const signal = handle.abortSignal(request);
        signal.addEventListener('abort', () => reasons.push((signal.reason as Error).message, socket.destroyed));
        echo(socket);
      });
    },
  });
  await upgraded(await serving.dial());
  const record = await serving.handle.shutdown('test', { budget: '3s' });
  assert.deepEqual(reasons, ['the request was aborted: the shutdown budget is over', false]);
  assert.equal(record.requests.cut, 1);
});

test('P-040 an upgraded socket that has ended during the drain is not named as unfinished', async (t) => {
  const serving = await onUpgrade(t, echo);
  const [ending, staying] = [await serving.dial(), await serving.dial({ allowHalfOpen: true })];
  for (const client of [ending, staying]) await upgraded(client);
  const { localPort: port } = staying.socket;
  const record = await serving.handle.shutdown('test', { budget: '3300ms' });
  assert.deepEqual(
    record.unfinished.map(({ peer }) => peer),
    [`127.0.0.1:${String(port)}`],
  );
  assert.equal(record.longRunningEnded, 1);
});
