// Tests that the undocumented parts of Node that lameduck uses exist in this version of Node.
import assert from 'node:assert/strict';
import cluster from 'node:cluster';
import { EventEmitter, once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import {
  connect as connectHttp2,
  createServer as createHttp2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { createServer as createSecureServer, connect as connectSecure } from 'node:tls';
import * as internals from '../src/node-internals.ts';
import { isClusterDisconnect } from '../src/process/cluster-disconnect.ts';
import { certificate } from './fixtures/certificate.ts';
import { until } from './support/until.ts';

const head = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n';

async function listen(t: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

async function dial(t: TestContext, port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

test('lameduck finds the connections of an HTTP/1.1 server, with their requests and responses, in undocumented properties of Node', async (t) => {
  const server = createServer();
  const port = await listen(t, server);
  const client = await dial(t, port);
  client.write(head.slice(0, 20));
  await until(() => internals.connectionsOf(server).length === 1);
  const [socket] = internals.connectionsOf(server) as [Socket];
  await until(() => internals.isInMessage(socket) === true);
  assert.equal(internals.isHttp1(socket), true);
  assert.equal(internals.isInBody(socket), false);
  assert.equal(internals.responseOn(socket), undefined);
  assert.equal(internals.serverOf(socket), server);
  client.write(head.slice(20));
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
  assert.equal(internals.responseOn(socket), response);
  assert.equal(internals.isInBody(socket), true);
  assert.equal(internals.sentHead(response), undefined);
  response.writeHead(200, { 'X-Test': 'seen' }).write('part');
  assert.match(internals.sentHead(response) ?? '', /^X-Test: seen\r$/m);
  client.write('body');
  await until(() => internals.isInMessage(socket) === false);
  assert.ok(internals.socketsMade().includes(client));
  assert.ok(!internals.socketsMade().includes(socket));
});

test('in undocumented properties of Node, lameduck finds at which interval a listening server checks its connections, and whether a server has been closed', async () => {
  const server = createServer();
  assert.equal(internals.checkingInterval(server), undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  assert.notEqual(internals.checkingInterval(server), undefined);
  assert.equal(internals.hasBeenClosed(server), false);
  server.close();
  await once(server, 'close');
  assert.equal(internals.hasBeenClosed(server), true);
  let isClosed = false;
  const handle = { close: () => (isClosed = true), ref: () => undefined, unref: () => undefined };
  internals.standIn(server, handle);
  assert.equal(server.listening, true);
  internals.removeStandIn(server, (present) => present === handle);
  assert.deepEqual([server.listening, isClosed], [false, false]);
});

test('an HTTP/1.1 server of Node can respond to a peer that has sent its FIN', async (t) => {
  const server = createServer((request, response) => {
    request.socket.once('end', () => response.end('answered'));
  });
  internals.allowHalfOpen(server);
  const client = await dial(t, await listen(t, server));
  let text = '';
  client.on('data', (data) => (text += String(data)));
  client.end('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  await once(client, 'end');
  assert.match(text, /answered$/);
});

test('lameduck finds the handle of a TCP socket, with its write queue and its connect request, in undocumented properties of Node', async (t) => {
  const server = createServer();
  const port = await listen(t, server);
  const client = await dial(t, port);
  assert.equal(internals.queuedBytes(client), 0);
  for (const owner of [client, server]) assert.equal(typeof internals.tcpHandleOf(owner)?.connect6, 'function');
  assert.equal(internals.isHandedOver(client), false);
  assert.equal(internals.tcpSocketOf(client), client);
  assert.deepEqual([internals.acceptorOf(client), internals.isHttp1(client)], [undefined, false]);
});

test('lameduck finds the TCP socket that carries a TLS socket in undocumented properties of Node', async (t) => {
  const server = createSecureServer(certificate);
  const tcp = once(server, 'connection') as Promise<[Socket]>;
  const secured = once(server, 'secureConnection') as Promise<[Socket]>;
  const client = connectSecure({ port: await listen(t, server), host: '127.0.0.1', rejectUnauthorized: false });
  t.after(() => client.destroy());
  assert.equal(internals.tcpSocketOf((await secured)[0]), (await tcp)[0]);
  assert.equal(internals.acceptorOf((await secured)[0]), server);
});

test("in undocumented properties of Node, lameduck finds the objects that node:http2's compatibility API has created for a stream", async (t) => {
  const server = createHttp2Server();
  const requested = once(server, 'request') as Promise<[Http2ServerRequest, Http2ServerResponse]>;
  const client = connectHttp2(`http://127.0.0.1:${String(await listen(t, server))}`);
  t.after(() => {
    client.destroy();
  });
  client.request({ ':path': '/compatible' }).on('error', () => undefined);
  const [request, response] = await requested;
  assert.deepEqual(internals.compatibleOf(request.stream), { request, response });
  assert.equal(internals.compatibleOf(request.stream).request?.headers[':path'], '/compatible');
});

test('lameduck reads the socket of an HTTP/2 session, the state of a stream and the file that a stream sends from undocumented properties of Node', async (t) => {
  const server = createHttp2Server();
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const opened = once(server, 'session') as Promise<[ServerHttp2Session]>;
  const arrived = once(server, 'stream') as Promise<[ServerHttp2Stream]>;
  const client = connectHttp2(`http://127.0.0.1:${String(await listen(t, server))}`);
  t.after(() => {
    client.destroy();
  });
  const request = client.request().resume();
  const [session] = await opened;
  assert.equal(internals.socketUnder(session), (await accepted)[0]);
  const hasList = Number(process.versions.node.split('.')[0]) >= 24;
  assert.deepEqual(internals.sessionsOf(server), hasList ? [session] : []);
  const [stream] = await arrived;
  assert.deepEqual([...internals.streamsOf(session)], [[stream.id, stream]]);
  assert.deepEqual(internals.compatibleOf(stream), { request: undefined, response: undefined });
  assert.equal(internals.isClosedHere(stream), false);
  assert.equal(internals.sendsFile(stream), false);
  const closed = [once(request, 'close'), once(stream, 'close')];
  stream.respondWithFile(import.meta.filename);
  await until(() => internals.sendsFile(stream));
  await Promise.all(closed);

  const next = once(server, 'stream') as Promise<[ServerHttp2Stream]>;
  const upload = client.request({ ':method': 'POST' }, { endStream: false }).resume();
  const [answered] = await next;
  answered.resume().respond({});
  answered.end();
  await until(() => internals.isClosedHere(answered));
  assert.equal(internals.hasEnded(answered), false, 'the client must be able to continue its upload');
  assert.equal(typeof answered.state.state, 'number');
  upload.end();
  await once(upload, 'close');
});

test('if an `error` event has no listener, lameduck reads the place in the code that emitted the event from a property that Node adds to the error without documenting it', () => {
  const error = new Error('thrown');
  assert.equal(internals.enhancedStackOf(error), undefined);
  assert.throws(() => new EventEmitter().emit('error', error), error);
  assert.match(String(internals.enhancedStackOf(error)), /Emitted 'error' event at:/);
});

test('in node:cluster, the primary receives a message of Node for each connection that a worker accepts, and disconnects a worker with a message', async (t) => {
  const exec = new URL('fixtures/answers-as-a-cluster-worker.ts', import.meta.url).pathname;
  cluster.setupPrimary({ exec, execArgv: [], args: [] });
  const worker = cluster.fork();
  t.after(() => worker.process.kill('SIGKILL'));
  let accepted = 0;
  internals.onAcceptedBy(worker, () => accepted++);
  const [{ port }] = (await once(worker, 'listening')) as [{ port: number }];
  const client = await dial(t, port);
  await until(() => accepted === 1);
  client.destroy();
  const received = once(worker, 'message') as Promise<[{ received: unknown }]>;
  worker.disconnect();
  const [message] = await received;
  assert.equal(isClusterDisconnect(process, 'internalMessage', [message.received]), true);
  await once(worker, 'exit');
});

test('messages of lameduck between a primary of node:cluster and its worker cause no `message` event in the program', async (t) => {
  const exec = new URL('fixtures/answers-as-a-cluster-worker.ts', import.meta.url).pathname;
  cluster.setupPrimary({ exec, execArgv: [], args: [] });
  const worker = cluster.fork();
  t.after(() => worker.process.kill('SIGKILL'));
  const received: object[] = [];
  const seen: unknown[] = [];
  internals.onInternal(worker.process, (message) => received.push(message));
  worker.on('message', (message) => seen.push(message));
  await once(worker, 'listening');
  internals.sendInternal(worker.process, { kind: 'hello' });
  await until(() => received.length === 1);
  assert.deepEqual(received, [{ cmd: 'NODE_LAMEDUCK', kind: 'hello' }]);
  assert.deepEqual(seen, []);
});

test('lameduck finds the function with which Node ends a process, even if the program has replaced process.exit()', () => {
  const { exit, reallyExit } = process as unknown as Record<string, unknown>;
  assert.equal(internals.reallyExitOf(process), reallyExit);
  assert.notEqual(reallyExit, exit);
});
