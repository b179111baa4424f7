// Tests the listener of the probe port with requests that no prober would send.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { connect as connectSecure } from 'node:tls';
import { passed } from '../../src/health/endpoint.ts';
import type { Answer } from '../../src/message.ts';
import { createListener } from '../../src/probe-worker/listener.ts';
import { probe } from '../support/probe-client.ts';
import { until } from '../support/until.ts';

interface ListenerUnderTest {
  readonly port: number;
  /** The method and the URL of each request that the probe port has passed to `answer`. */
  readonly asked: string[];
  /** The connections that the probe port has accepted, in the order of their arrival. */
  readonly accepted: Socket[];
  readonly dial: () => Promise<Socket>;
}

async function listen(t: TestContext, answer: () => Promise<Answer> = async () => passed): Promise<ListenerUnderTest> {
  const asked: string[] = [];
  const accepted: Socket[] = [];
  const sockets: Socket[] = [];
  const server = createListener((url, method) => {
    asked.push(`${method} ${url}`);
    return answer();
  });
  server.on('connection', (socket) => accepted.push(socket));
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const dial = async (): Promise<Socket> => {
    const socket = connect({ port, host: '127.0.0.1' }).on('error', () => undefined);
    sockets.push(socket);
    await once(socket, 'connect');
    return socket;
  };
  return { port, asked, accepted, dial };
}

/** `everything()` resolves when a connection has ended, with all bytes that arrived on it. */
async function everything(socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  if (!socket.closed) await once(socket, 'close');
  return text;
}

test('K-021 each response of the probe port says Connection: close, and ends its connection', async (t) => {
  const { dial } = await listen(t);
  const socket = await dial();
  socket.write('GET /livez HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\n\r\n');
  const text = await everything(socket);
  assert.match(text, /^HTTP\/1\.1 200 OK\r\n/);
  assert.match(text, /\r\nConnection: close\r\n/);
  assert.match(text, /\r\nContent-Length: 2\r\n[^]*\r\n\r\nok$/);
});

for (const [what, bytes] of [
  ['that is no HTTP', 'nonsense\r\n\r\n'],
  ['whose head is larger than 8 KiB', `GET /livez HTTP/1.1\r\nHost: a\r\nX-A: ${'a'.repeat(9_000)}\r\n\r\n`],
  ['whose path is larger than 8 KiB', `GET /livez?${'a'.repeat(9_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
  ['with two lengths', 'GET /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
  ['for HTTP/2 with prior knowledge', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['for a tunnel', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'],
] as const) {
  test(`the probe port closes the connection of an invalid request (a request ${what}) without a response, and serves the next probe`, async (t) => {
    const { port, asked, dial } = await listen(t);
    const socket = await dial();
    socket.write(bytes);
    assert.doesNotMatch(await everything(socket), /^HTTP\/1\.1 2/);
    assert.deepEqual(asked, []);
    assert.equal((await probe(port, '/livez')).status, 200);
  });
}

test('if a client begins a TLS handshake on the probe port, the probe port closes the connection, and serves the next probe', async (t) => {
  const { port, asked } = await listen(t);
  const socket = connectSecure({ port, host: '127.0.0.1', rejectUnauthorized: false });
  const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
  assert.match(error.code ?? '', /SSL|ECONNRESET/);
  assert.deepEqual(asked, []);
  assert.equal((await probe(port, '/livez')).status, 200);
});

test('the probe port serves only the first of several pipelined requests', async (t) => {
  let resolve: (answer: Answer) => void = () => undefined;
  const answered = new Promise<Answer>((settle) => (resolve = settle));
  const { asked, dial } = await listen(t, () => answered);
  const socket = await dial();
  socket.write('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(100));
  await until(() => asked.length > 0);
  resolve(passed);
  const text = await everything(socket);
  assert.equal(text.match(/HTTP\/1\.1/g)?.length, 1);
  assert.deepEqual(asked, ['GET /livez']);
});

test('the probe port ends the connection of a client that pipelines without end, and handles only one request of this client', async (t) => {
  const { port, asked, accepted, dial } = await listen(t, () =>
    asked.length > 1 ? Promise.resolve(passed) : new Promise(() => undefined),
  );
  const socket = await dial();
  socket.resume().write('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(100_000));
  await until(() => asked.length === 1);
  await until(() => socket.closed);
  assert.deepEqual(asked, ['GET /livez']);
  const [{ bytesRead } = { bytesRead: Infinity }] = accepted;
  assert.ok(bytesRead <= 65_536, String(bytesRead));
  assert.equal((await probe(port, '/readyz')).status, 200);
});

test('the probe port does not read an endless body while the response is being prepared', async (t) => {
  const { port, asked, accepted, dial } = await listen(t, () =>
    asked.length > 1 ? Promise.resolve(passed) : new Promise(() => undefined),
  );
  const socket = await dial();
  socket.write('POST /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n');
  await until(() => asked.length === 1);
  const part = Buffer.alloc(1_000_000);
  for (let count = 0; count < 100; count++) socket.write(part);
  for (let count = 0; count < 50; count++) assert.equal((await probe(port, '/livez')).status, 200);
  const [{ bytesRead } = { bytesRead: Infinity }] = accepted;
  assert.ok(bytesRead < 1_000_000, String(bytesRead));
  assert.equal(socket.closed, false);
});

test('the probe port sets no time limit for the preparation of a response, and gives a client ten seconds to read the response', async (t) => {
  const long: Answer = { ...passed, body: 'x'.repeat(50_000_000) };
  const answer = Promise.withResolvers<Answer>();
  const { asked, accepted, dial } = await listen(t, () => answer.promise);
  const socket = await dial();
  await until(() => accepted.length === 1);
  const timeout = (): number | undefined => accepted[0]?.timeout;
  assert.equal(timeout(), 10_000);
  socket.write('GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n');
  await until(() => asked.length === 1);
  assert.equal(timeout(), 0);
  answer.resolve(long);
  await until(() => timeout() === 10_000);
  assert.equal(accepted[0]?.destroyed, false);
});

test('the probe port also responds with Connection: close to a request with an unknown Expect header', async (t) => {
  const { asked, dial } = await listen(t);
  const socket = await dial();
  socket.write('GET /livez HTTP/1.1\r\nHost: a\r\nExpect: much\r\n\r\n');
  const text = await everything(socket);
  assert.match(text, /^HTTP\/1\.1 200 OK\r\n[^]*\r\nConnection: close\r\n/);
  assert.deepEqual(asked, ['GET /livez']);
});

test('the probe port responds without waiting for the body of a request', async (t) => {
  const { dial } = await listen(t);
  for (const body of ['hello', '']) {
    const socket = await dial();
    socket.write(`POST /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n${body}`);
    assert.match(await everything(socket), /^HTTP\/1\.1 200 OK\r\n/);
  }
});

test('HEAD on the probe port has the headers of GET and no body', async (t) => {
  const { port } = await listen(t);
  const { headers, body } = await probe(port, '/livez', { method: 'HEAD' });
  assert.deepEqual([headers['content-length'], body], ['2', '']);
});

test('K-030, K-202 a client that connects to the probe port and sends no byte causes no error, and does not delay the probes of other clients', async (t) => {
  const { port, asked, dial } = await listen(t);
  for (let index = 0; index < 20; index++) (await dial()).end();
  assert.equal((await probe(port, '/livez')).status, 200);
  assert.deepEqual(asked, ['GET /livez']);
});

test('of 1000 connections without a complete request, the probe port keeps the newest 256, and still serves a probe', async (t) => {
  let resolve: (answer: Answer) => void = () => undefined;
  const { port, asked, dial } = await listen(t, () => new Promise<Answer>((settle) => (resolve = settle)));
  const patient = await dial();
  const patientText = everything(patient);
  patient.write('GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n');
  await until(() => asked.length === 1);
  const answerPatient = resolve;
  const sockets: Socket[] = [];
  for (let index = 0; index < 1_000; index++) {
    const socket = await dial();
    if (index % 2 === 0) socket.write('GET /livez HTTP/1.1\r\nHost:');
    socket.resume();
    sockets.push(socket);
  }
  await until(() => sockets.filter((socket) => !socket.closed).length <= 256);
  const open = sockets.map((socket) => !socket.closed);
  assert.equal(open.lastIndexOf(false) < open.indexOf(true), true, 'the probe port must close the oldest connections');
  const probed = probe(port, '/livez');
  await until(() => asked.length === 2);
  resolve(passed);
  assert.equal((await probed).status, 200);
  answerPatient(passed);
  assert.match(
    await patientText,
    /^HTTP\/1\.1 200 OK\r\n/,
    'a connection of the probe port that waits for its response must stay open',
  );
});

test('if 256 connections of the probe port wait for a response and another probe arrives, the probe port closes the oldest of the 256 connections', async (t) => {
  const { port, asked, dial } = await listen(t, () =>
    asked.length <= 256 ? new Promise<Answer>(() => undefined) : Promise.resolve(passed),
  );
  const waiting: Socket[] = [];
  for (let index = 1; index <= 256; index++) {
    const socket = await dial();
    socket.resume().write('GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n');
    waiting.push(socket);
    await until(() => asked.length === index);
  }
  assert.equal((await probe(port, '/livez')).status, 200);
  await until(() => waiting[0]?.closed === true);
  assert.equal(waiting.filter((socket) => socket.closed).length, 1);
});

test('the probe port closes a connection whose request is still incomplete after five seconds, even if bytes keep arriving', async (t) => {
  const { asked, dial } = await listen(t);
  const socket = await dial();
  const since = performance.now();
  socket.write('GET /livez HTTP/1.1\r\n');
  const drip = setInterval(() => socket.write('X-A: a\r\n'), 200);
  t.after(() => {
    clearInterval(drip);
  });
  // A byte that arrives after the end of the connection causes a reset, and the client may then miss the 408.
  await new Promise((resolve) =>
    socket
      .resume()
      .on('error', () => undefined)
      .on('close', resolve),
  );
  const took = performance.now() - since;
  assert.ok(took > 4_500 && took < 8_000, String(took));
  assert.deepEqual(asked, []);
});
