// Tests that no client in the backlog gets a reset when lameduck closes the listening socket, even if the program has
// already called close().
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { it } from 'node:test';
import { systemClock } from '../../../src/clock.ts';
import { closeListener, stopListening } from '../../../src/http/drain/listener.ts';
import { hasBeenClosed } from '../../../src/node-internals.ts';
import { get, newAccount, runClient } from '../../support/closed-loop-client.ts';
import { isSecure } from '../../support/adapters.ts';
import { describeAdapters, describeAdaptersInTurn, serve, shutdownOf } from '../../support/serving.ts';

// Closed-loop clients use all of the processor, so no other test runs beside them.
describeAdaptersInTurn((adapter) => {
  it('P-018 clients that connect while the listening socket closes are served or refused, never reset', async (t) => {
    const serving = await serve(t, {
      adapter,
      listener: (request, response) => request.resume().on('end', () => response.end('ok')),
    });
    const account = newAccount();
    const stop = new AbortController();
    const request = get.replace('Host', 'Connection: close\r\nHost');

    const clients = Array.from({ length: 8 }, async () =>
      runClient({ port: serving.port, isSecure: isSecure(adapter), request, account, stop: stop.signal }),
    );
    while (account.answered < 50) await new Promise((resolve) => setImmediate(resolve));
    const { ended } = shutdownOf(serving);
    await Promise.all(clients);
    assert.deepEqual(account.lost, []);
    assert.ok(
      account.refused.every((code) => code === 'ECONNREFUSED'),
      account.refused.join(),
    );
    assert.equal((await ended).exitCode, 0);
  });
});

describeAdapters((adapter) => {
  it('P-055 if the program calls close() of the server during the drain, the drain does not end early, but performs all its steps', async (t) => {
    const serving = await serve(t, { adapter, listener: () => undefined, shutdownDelayDuration: 50 });
    const client = await serving.dial();
    client.get('/');
    const { ended } = shutdownOf(serving);
    const closed = new Promise((resolve) => serving.server.close(resolve));
    client.socket.destroy();
    const record = await ended;
    assert.equal(record.exitCode, 0);
    assert.ok(record.phases.HTTPServerStoppedListening !== undefined);
    await closed;
    const again = await new Promise<Error | undefined>((resolve) => serving.server.close(resolve));
    assert.equal((again as NodeJS.ErrnoException).code, 'ERR_SERVER_NOT_RUNNING');
  });
});

it('P-114 when the listening socket is closed, idle connections stay open', async () => {
  const server = createServer((_, response) => response.end('ok'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write(get);
  await once(socket, 'data');
  await stopListening(server, systemClock, () => 1);
  assert.equal(server.listening, false);
  socket.write(get);
  await once(socket, 'data');
  socket.destroy();
});

it('P-054 the drain leaves a server that does not listen as it is, so that the server can still listen later', async () => {
  const server = createServer();
  await stopListening(server, systemClock, () => 0);
  assert.equal(hasBeenClosed(server), false);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closeListener(server);
});

it('hasBeenClosed() returns true for a closed server, and false for a server that has never listened or that listens again', async () => {
  const server = createServer();
  assert.equal(hasBeenClosed(server), false);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  assert.equal(hasBeenClosed(server), false);
  server.close();
  await once(server, 'close');
  assert.equal(hasBeenClosed(server), true);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  assert.equal(hasBeenClosed(server), false);
  server.close();
});
