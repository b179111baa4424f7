// Tests programs whose handlers send requests to their own server. Meanwhile, closed-loop clients that never retry send
// requests.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { get, newAccount, runClient } from '../support/closed-loop-client.ts';
import { disposed } from '../support/disposed.ts';
import { registered } from '../support/under-register.ts';
import { HeldRequest } from '../support/held-request.ts';
import { ProcessUnderTest } from '../support/process-under-test.ts';
import { until } from '../support/until.ts';

const clientCount = 6;

const ways = ['fetch', 'node:http', 'node:http without keep-alive', 'node:https', 'node:http2', 'proxy'] as const;
const inCode = { LIFECYCLE: 'code' };
const modes = [
  ['a delay of 200 ms', { ...inCode, LAMEDUCK_SHUTDOWN_DELAY_DURATION: '200ms' }],
  ['shutdownSendRetryAfter', { ...inCode, LAMEDUCK_SHUTDOWN_SEND_RETRY_AFTER: 'true' }],
  ['lameduck/register', registered()],
] as const;

for (const asks of ways) {
  describe(asks, () => {
    for (const [mode, env] of modes) {
      it(`A-126 with ${mode}, each request that a handler sends to its own server during the shutdown succeeds`, async (t) => {
        await shutDownUnderLoad(t, { ...env, ASKS: asks });
      });
    }
  });
}

for (const [mode, env] of modes) {
  it(`A-126 with ${mode}, a program whose server has an address() that throws starts, drains, and can send requests to itself`, async (t) => {
    await shutDownUnderLoad(t, { ...env, ASKS: 'fetch', ADDRESS: 'hidden' });
  });
}

for (const [listenHost, host] of [
  ['127.0.0.1', '127.0.0.1'],
  ['::', 'localhost'],
  ['::', '::1'],
  ['0.0.0.0', '0.0.0.0'],
] as const) {
  it(`A-126 during the shutdown, a program that listens on ${listenHost} can still send requests to itself at ${host}`, async (t) => {
    await shutDownUnderLoad(t, { ...inCode, ASKS: 'fetch', LISTEN_HOST: listenHost, HOST: host });
  });
}

it('A-126 while a draining program sends requests to itself, all its listening sockets refuse connections from other processes', async (t) => {
  const program = disposed(t, new ProcessUnderTest('asks-itself.ts', inCode));
  const port = await program.ready();
  const held = await HeldRequest.open(t, port, '/');
  program.kill('SIGTERM');
  await program.signaled('HTTPServerStoppedListening');
  assert.equal(await answerFrom(port), 'ECONNREFUSED');
  const others = listeningPorts(program.pid);
  assert.equal(others.length, 1);
  for (const other of others) assert.notEqual(await answerFrom(other), 'an answer');
  assert.match((await held.release()) ?? '', /leaf$/);
  assert.equal((await program.exit).code, 0);
  const record = await program.finalLine();
  assert.deepEqual(record['requests'], { answered: 5, refused: 0, aborted: 0, cut: 0 });
});

for (const [listenHost, host, seen, seenByServer] of [
  ['127.0.0.1', '127.0.0.1', '127.0.0.1', '127.0.0.1'],
  ['::', '::1', '::1', '::1'],
  ['::', 'localhost', undefined, undefined],
  ['::', '127.0.0.1', '127.0.0.1', '::ffff:127.0.0.1'],
  ['0.0.0.0', '0.0.0.0', '127.0.0.1', '127.0.0.1'],
] as const) {
  it(`A-126 if the program listens on ${listenHost} and connects to itself at ${host}, both ends of this connection have the same address`, async (t) => {
    const env = { ...inCode, ASKS: 'fetch', LISTEN_HOST: listenHost, HOST: host };
    const program = disposed(t, new ProcessUnderTest('asks-itself.ts', env));
    const port = await program.ready();
    const held = await HeldRequest.open(t, port, '/later');
    program.kill('SIGTERM');
    const ends = JSON.parse((await held.release()) ?? '') as [Sockets, Sockets];
    const [[local, localPort, remote, remotePort], [serverLocal, serverPort, serverRemote, clientPort]] = ends;
    assert.deepEqual([remotePort, serverPort, clientPort], [port, port, localPort]);
    if (seen !== undefined) {
      assert.deepEqual([local, remote], [seen, seen]);
      assert.deepEqual([serverLocal, serverRemote], [seenByServer, seenByServer]);
    }
  });
}

it('A-126 if a program constantly sends requests to itself, its drain ends as soon as no request of a client is in flight', async (t) => {
  const program = disposed(t, new ProcessUnderTest('asks-itself.ts', { ...inCode, BACKGROUND: 'loop' }));
  const port = await program.ready();
  const held = await HeldRequest.open(t, port, '/');
  program.kill('SIGTERM');
  await program.signaled('HTTPServerStoppedListening');
  assert.match((await held.release()) ?? '', /leaf$/);
  const drained = await program.signaled('InFlightRequestsDrained');
  assert.equal(drained['requestsInFlight'], 0);
  assert.deepEqual((await program.finalLine())['unfinished'], []);
});

type Sockets = readonly [localAddress: string, localPort: number, remoteAddress: string, remotePort: number];

async function answerFrom(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1').end(get);
  let received = '';
  socket.setEncoding('latin1').on('data', (text: string) => (received += text));
  const error = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    socket.on('error', resolve).on('close', () => {
      resolve(undefined);
    });
  });
  return received === '' ? (error?.code ?? 'closed') : 'an answer';
}

// Reads from the kernel which sockets of the process listen.
function listeningPorts(pid: number): number[] {
  const files = `/proc/${String(pid)}/fd`;
  const sockets = readdirSync(files).map((file) => readlinkSync(join(files, file)));
  const lines = readFileSync(`/proc/${String(pid)}/net/tcp`, 'utf8')
    .split('\n')
    .slice(1);
  const listening = lines.map((line) => line.trim().split(/ +/)).filter(([, , , state]) => state === '0A');
  const own = listening.filter((fields) => sockets.includes(`socket:[${String(fields[9])}]`));
  return own.map(([, local = '']) => parseInt(local.split(':')[1] ?? '', 16));
}

async function shutDownUnderLoad(t: TestContext, env: Readonly<Record<string, string>>): Promise<void> {
  const program = disposed(t, new ProcessUnderTest('asks-itself.ts', env));
  const port = await program.ready();
  const isSecure = env['ASKS'] === 'node:https' || env['ASKS'] === 'node:http2';
  const account = newAccount();
  const stop = new AbortController();
  const clients = Array.from({ length: clientCount }, () => runClient({ port, isSecure, account, stop: stop.signal }));
  await until(() => account.answered >= 2 * clientCount);
  // During this request, the handler sends a request to its own server, after the listening socket has closed for other
  // processes. The server must serve the handler's request, although other clients send requests too.
  const held = await HeldRequest.open(t, port, '/', isSecure);
  program.kill('SIGTERM');
  await program.signaled('NotAcceptingNewRequest');
  // In the variant `proxy`, the response to the held request has a chunked body, which ends with an empty chunk.
  assert.match((await held.release()) ?? '', /leaf$|^0$/);
  const { code } = await program.exit;
  await Promise.all(clients);
  assert.equal(account.failed, 0);
  // If the program had not accepted a connection when the listening socket closed, the kernel resets the connection
  // (P-018). The test does not count such a connection as lost.
  const accepted = await program.acceptedPorts(port);
  const lost = account.lost.filter((_, index) => {
    const first = account.lostPorts[index];
    return first === undefined || accepted.includes(first);
  });
  assert.deepEqual(lost, []);
  assert.equal(code, 0);
  const record = await program.finalLine();
  assert.deepEqual(record['unfinished'], []);
}
