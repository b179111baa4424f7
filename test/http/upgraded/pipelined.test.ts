// Tests an upgrade request that a client sends before it has the responses to its earlier requests.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { test } from 'node:test';
import { serve, shutdownOf } from '../../support/serving.ts';
import { until } from '../../support/until.ts';

const switching = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n';
const upgrade = 'Connection: Upgrade\r\nUpgrade: echo\r\n';

test('P-009, P-041 a request gets its response although an upgrade is pipelined after it', async (t) => {
  const held: ServerResponse[] = [];
  const serving = await serve(t, {
    listener: (_, response) => {
      response.write('first ');
      held.push(response);
    },
    prepare: (server) => {
      server.on('upgrade', () => {
        assert.fail('the rejected upgrade must never reach the program');
      });
    },
  });
  const [one, two] = [await serving.dial(), await serving.dial()];
  one.get('/');
  two.get('/');
  await until(() => held.length === 2);
  const { ended } = shutdownOf(serving);
  await serving.handle.signals.httpServerStoppedListening.signaled;
  one.get('/', upgrade);
  two.get('/');
  await until(() => held.length === 3);
  two.get('/', upgrade);
  for (const response of held) response.end('last');
  assert.match((await one.reader.next())?.body ?? '', /last/);
  assert.equal((await one.reader.next())?.status, 503, 'no earlier response may have had Connection: close');
  assert.match((await two.reader.next())?.body ?? '', /last/);
  assert.match((await two.reader.next())?.body ?? '', /last/);
  const record = await ended;
  assert.deepEqual([record.exitCode, record.requests.cut], [0, 0]);
});

test('P-009, P-041 a response has no header Connection: close if the client has already sent an upgrade request on the same connection', async (t) => {
  const held: ServerResponse[] = [];
  let given: Duplex | undefined;
  const serving = await serve(t, {
    listener: (_, response) => held.push(response),
    prepare: (server) => server.on('upgrade', (_, socket) => (given = socket)),
  });
  let endDelay = (): void => undefined;
  serving.handle.addPreShutdownHook('delay', () => new Promise<void>((resolve) => (endDelay = resolve)));
  const [early, late] = [await serving.dial(), await serving.dial()];
  for (const [index, client] of [early, late].entries()) {
    client.get('/');
    await until(() => held.length === index + 1);
  }
  void serving.handle.shutdown('test');
  for (const connection of serving.traffic.connections) connection.setCloseTimes(0, 0);
  early.get('/', upgrade);
  await until(() => serving.traffic.counts.longRunningRequests === 1);
  endDelay();
  await serving.handle.signals.notAcceptingNewRequest.signaled;
  late.get('/', upgrade);
  await until(() => [...serving.traffic.connections].some(({ isClosing }) => isClosing));
  for (const response of held) response.end('served');
  for (const [client, status, isClose] of [
    [early, 101, false],
    [late, 503, true],
  ] as const) {
    const before = await client.reader.next();
    assert.deepEqual([before?.status, before?.isClose], [200, false]);
    if (client === early) given?.write(switching);
    const answer = await client.reader.next();
    assert.deepEqual([answer?.status, answer?.isClose], [status, isClose]);
  }
  await serving.handle.shutdown('test', { budget: '4s' });
});

for (const [event, request, answer] of [
  ['upgrade', `GET / HTTP/1.1\r\nHost: localhost\r\n${upgrade}\r\n`, switching],
  ['connect', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n', 'HTTP/1.1 101 Connected\r\n\r\n'],
] as const) {
  test(`P-009 a request that arrives in the shutdown delay is answered before the ${event} request that follows in the same packet`, async (t) => {
    const serving = await serve(t, {
      listener: (_, response) => response.end('first'),
      prepare: (server) => server.on(event, (_, socket: Duplex) => socket.resume().write(answer)),
      shutdownDelayDuration: '60s',
    });
    const client = await serving.dial();
    await until(() => serving.traffic.connections.size === 1);
    void shutdownOf(serving);
    for (const connection of serving.traffic.connections) connection.setCloseTimes(0, 0);
    client.send(`GET /first HTTP/1.1\r\nHost: localhost\r\n\r\n${request}`);
    assert.equal((await client.reader.next())?.body, 'first');
    assert.equal((await client.reader.next())?.status, 101);
  });
}

for (const [how, functions] of [
  ['of a server with a longRunning function', { longRunning: () => false }],
  ['of a server without a longRunning function', {}],
] as const) {
  test(`P-009, P-040 an unanswered request ${how} counts as in flight until its response is sent, even if a later pipelined request has upgraded the socket`, async (t) => {
    const held: ServerResponse[] = [];
    const serving = await serve(t, {
      functions,
      listener: (_, response) => held.push(response),
      prepare: (server) => server.on('upgrade', (_, socket) => socket.resume().write(switching)),
    });
    const client = await serving.dial();
    client.get('/');
    await until(() => held.length === 1);
    client.get('/', upgrade);
    await until(() => serving.traffic.requests.inFlight.longRunning === 1);
    assert.equal(serving.traffic.counts.requestsInFlight, 1);
    held[0]?.end('served');
    await until(() => serving.traffic.counts.requestsInFlight === 0);
    assert.equal((await shutdownOf(serving).ended).exitCode, 0);
  });
}
