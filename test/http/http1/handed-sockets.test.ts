// Tests a net.Server or a tls.Server that passes its sockets to an HTTP server. If the HTTP server listens too, the
// drain closes the listening sockets of both servers. If the HTTP server never listens, its lifecycle does not start,
// and lameduck logs a warning about this.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer, type ServerResponse } from 'node:http';
import { createSecureServer as createHttp2Server } from 'node:http2';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { it, test } from 'node:test';
import { createServer as createSecureServer } from 'node:tls';
import { certificate } from '../../fixtures/certificate.ts';
import type { AdapterName } from '../../support/adapters.ts';
import { disposed } from '../../support/disposed.ts';
import { HeldRequest } from '../../support/held-request.ts';
import { manage } from '../../support/manage.ts';
import { registered } from '../../support/under-register.ts';
import { ProcessUnderTest } from '../../support/process-under-test.ts';
import {
  clientOn,
  describeAdapters,
  listen,
  serve,
  shutdownOf,
  type Client,
  type Scope,
  type Serving,
} from '../../support/serving.ts';
import { until } from '../../support/until.ts';

for (const [how, env, warning] of [
  [
    'lameduck() in code',
    { WITH_CODE: '1' },
    /a server gets requests but does not listen: lameduck starts the lifecycle/,
  ],
  [
    'lameduck/register',
    registered(),
    /^lameduck\/register: a server gets requests but does not listen: lameduck neither drains it/m,
  ],
] as const) {
  test(`lameduck warns once if an HTTP server never listens and gets its sockets from another server, with ${how}`, async (t) => {
    const program = disposed(t, new ProcessUnderTest('hands-sockets-to-a-server.ts', env));
    const port = await program.port();
    for (let request = 0; request < 3; request++) {
      assert.equal(await (await fetch(`http://127.0.0.1:${String(port)}/`)).text(), 'served');
    }
    await program.printed(warning);
    assert.equal(program.output.match(/gets requests but does not listen/g)?.length, 1);
  });
}

for (const [how, env] of [
  ['lameduck() in code', { WITH_CODE: '1', LAMEDUCK_PROBE_PORT: 'off' }],
  ['lameduck/register', registered()],
] as const) {
  test(`P-055 with ${how}, if an HTTP server listens and also gets sockets from another server, the drain closes the listening sockets of both servers`, async (t) => {
    const program = disposed(t, new ProcessUnderTest('hands-sockets-to-a-server.ts', { ...env, LISTENS: '1' }));
    const port = await program.ready();
    const request = await HeldRequest.open(t, port);
    program.kill('SIGTERM');
    await program.signaled('HTTPServerStoppedListening');
    await assert.rejects(fetch(`http://127.0.0.1:${String(port)}/`));
    assert.equal(await request.release(), 'served');
    assert.deepEqual(await program.exit, { code: 0, signal: null });
    const closed = await program.line('the end of the server', ({ msg }) => msg === 'closed');
    assert.equal(closed['hasFailed'], false);
  });
}

/**
 * serveFront starts an HTTP server, and a second server, `front`, which listens on `port` and passes its sockets to the
 * HTTP server. With `isSecure`, `front` uses TLS. No request gets a response until the test ends its response in
 * `held`.
 */
async function serveFront(
  t: Scope,
  options: Omit<Parameters<typeof serve>[1], 'listener'>,
  isSecure = false,
): Promise<{ held: ServerResponse[]; serving: Serving; front: Server; port: number }> {
  const held: ServerResponse[] = [];
  const serving = await serve(t, { ...options, listener: (_, response) => held.push(response) });
  const hand = (socket: unknown): unknown => serving.server.emit('connection', socket);
  const front = isSecure ? createSecureServer(certificate, hand) : createServer(hand);
  await listen(front as never);
  t.after(() => front.close());
  return { held, serving, front, port: portOf(front) };
}

async function dial(t: Scope, port: number, adapter: AdapterName): Promise<Client> {
  const client = await clientOn(connect(port, '127.0.0.1'), adapter);
  t.after(() => client.socket.destroy());
  return client;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

async function isRefused(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED';
  } finally {
    socket.destroy();
  }
}

test('P-055 if an HTTP/2 server passes a socket to an HTTP/1.1 server of the same lifecycle, the connection and its request count once', async (t) => {
  const held: ServerResponse[] = [];
  const [outer, inner] = [createHttp2Server(certificate), createHttpServer((_, response) => held.push(response))];
  outer.on('unknownProtocol', (socket) => inner.emit('connection', socket));
  const { startup, handle, traffic } = manage([outer, inner]);
  t.after(() => handle.shutdown('end of the test', { budget: 1 }));
  startup.begin();
  for (const server of [outer, inner]) await listen(server);
  await handle.signals.hasBeenReady.signaled;
  const client = await dial(t, portOf(outer), 'node:https');
  client.get('/');
  await until(() => held.length === 1);
  const { connections, requestsInFlight } = traffic.counts;
  assert.deepEqual([connections, requestsInFlight, traffic.connectionsAccepted], [1, 1, 1]);
  const ended = handle.shutdown('test');
  await handle.signals.httpServerStoppedListening.signaled;
  held[0]?.end('whole');
  const response = await client.reader.next();
  assert.deepEqual([response?.body, response?.isClose], ['whole', true]);
  const { exitCode, requests } = await ended;
  assert.deepEqual([exitCode, requests.answered], [0, 1]);
});

describeAdapters((adapter) => {
  it('P-055 if another server passes its sockets to the HTTP server, lameduck closes the listening socket of the passing server before HTTPServerStoppedListening; if the program calls close() of the passing server during the shutdown, the passing server emits close only after the drain', async (t) => {
    const { held, serving, front, port } = await serveFront(t, { adapter });
    let hasClosed = false;
    front.on('close', () => (hasClosed = true));
    const client = await dial(t, port, adapter);
    client.get('/');
    await until(() => held.length === 1);
    const { ended } = shutdownOf(serving);
    const closed = new Promise((resolve) => front.close(resolve));
    assert.equal(front.listening, true, 'a close() of the program must not take effect before the drain');
    await serving.handle.signals.httpServerStoppedListening.signaled;
    assert.ok(await isRefused(port));
    assert.equal(portOf(front), port, 'address() must still return the address during the drain');
    held[0]?.end('whole');
    const response = await client.reader.next();
    assert.deepEqual([response?.body, response?.isClose], ['whole', true]);
    await client.reader.ended;
    assert.equal(hasClosed, false, "the program must get the event 'close' after the drain");
    const { exitCode, stepFailures } = await ended;
    assert.deepEqual({ exitCode, stepFailures }, { exitCode: 0, stepFailures: [] });
    assert.equal(await closed, undefined);
  });

  it('A-122 with shutdownSendRetryAfter, if another server listens and passes its sockets to the HTTP server, requests on new connections get a 429 during the drain', async (t) => {
    const { held, serving, port } = await serveFront(t, { adapter, shutdownSendRetryAfter: true });
    const early = await dial(t, port, adapter);
    early.get('/');
    await until(() => held.length === 1);
    const { ended } = shutdownOf(serving);
    await serving.handle.signals.notAcceptingNewRequest.signaled;
    const late = await dial(t, port, adapter);
    late.get('/');
    assert.equal((await late.reader.next())?.status, 429);
    held[0]?.end('whole');
    assert.equal((await early.reader.next())?.body, 'whole');
    await serving.handle.signals.httpServerStoppedListening.signaled;
    assert.ok(await isRefused(port));
    assert.equal((await ended).exitCode, 0);
  });

  it('if, during the drain, a server passes a socket to an HTTP server for the first time, lameduck closes the listening socket of the server that passed it at once', async (t) => {
    const { held, serving, port } = await serveFront(t, { adapter });
    const busy = await serving.dial();
    busy.get('/');
    await until(() => held.length === 1);
    const { ended } = shutdownOf(serving);
    await serving.handle.signals.httpServerStoppedListening.signaled;
    const late = await dial(t, port, adapter);
    late.get('/');
    await until(() => held.length === 2);
    assert.ok(await isRefused(port));
    for (const response of held) response.end('whole');
    assert.deepEqual([(await busy.reader.next())?.body, (await late.reader.next())?.body], ['whole', 'whole']);
    assert.equal((await ended).exitCode, 0);
  });
});

it('if a TLS server passes its sockets to an HTTP server, the lifecycle signal HTTPServerStoppedListening fires only after the TLS server has also stopped listening', async (t) => {
  const { held, serving, port } = await serveFront(t, {}, true);
  const client = await dial(t, port, 'node:https');
  client.get('/');
  await until(() => held.length === 1);
  const { ended } = shutdownOf(serving);
  await serving.handle.signals.httpServerStoppedListening.signaled;
  assert.ok(await isRefused(port));
  held[0]?.end('whole');
  assert.equal((await client.reader.next())?.isClose, true);
  assert.equal((await ended).exitCode, 0);
});

it('the drain waits one second for the first byte of a connection that a net.Server has not yet passed to the HTTP server', async (t) => {
  const server = await serve(t, { listener: (_, response) => response.end('whole') });
  const accepted: Socket[] = [];
  // This server hands a socket over only after its first byte, as a program does that reads the protocol from this
  // byte.
  const front = createServer((socket) => {
    accepted.push(socket);
    socket.once('readable', () => {
      socket.unshift(socket.read());
      server.server.emit('connection', socket);
    });
  });
  await listen(front as never);
  t.after(() => front.close());
  const first = await dial(t, portOf(front), 'node:http');
  first.get('/');
  await first.reader.next();
  first.socket.end();
  await until(() => accepted[0]?.destroyed === true);
  const mute = await dial(t, portOf(front), 'node:http');
  const late = await dial(t, portOf(front), 'node:http');
  await until(() => accepted.length === 3);
  const { ended } = shutdownOf(server);
  await server.handle.signals.httpServerStoppedListening.signaled;
  late.get('/');
  assert.deepEqual((await late.reader.next())?.body, 'whole');
  const { exitCode, phases, requests } = await ended;
  assert.deepEqual({ exitCode, answered: requests.answered }, { exitCode: 0, answered: 1 });
  const waited = (phases.InFlightRequestsDrained ?? 0) - (phases.ShutdownInitiated ?? 0);
  assert.ok(waited >= 900, `the drain waited only ${String(waited)} ms`);
  mute.socket.destroy();
});
