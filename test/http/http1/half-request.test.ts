// Tests incomplete requests. The drain waits for the rest of a request head, but not for a body that the client still
// sends after its response.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { silenceBeforeClose } from '../../../src/http/drain/drain.ts';
import { longestBodyAfterResponse } from '../../../src/http/exchange.ts';
import { isInMessage, tcpSocketOf } from '../../../src/node-internals.ts';
import { isSecure } from '../../support/adapters.ts';
import { describeAdapters, describeAdaptersInTurn, serve, shutdownOf, type Client } from '../../support/serving.ts';
import { pacedClock } from '../../support/paced-clock.ts';
import { until } from '../../support/until.ts';

/** `trickle()` sends small pieces of a body that never ends, until the connection has ended. */
async function trickle({ socket, reader }: Client, text: string): Promise<void> {
  const over = new AbortController();
  void reader.ended.then(() => {
    over.abort();
  });
  while (!over.signal.aborted && socket.writable) {
    socket.write(text);
    await setTimeout(20);
  }
}

// In these tests, the clock of the lifecycle runs at a third of the real speed. So the tests do not fail on a slow
// machine.
const pace = 1 / 3;

describeAdapters((adapter) => {
  it('P-012 the drain waits longer for the rest of a request line or of request headers than for a silent connection, and serves the completed request', async (t) => {
    const serving = await serve(t, { adapter, listener: ({ url }, response) => response.end(url) });
    const [line, head, second, silent] = await Promise.all([1, 2, 3, 4].map(() => serving.dial()));
    second?.get('/first');
    await second?.reader.next();
    line?.send('GET /li');
    head?.send('GET /head HTTP/1.1\r\nHost: local');
    second?.send('GET /second HTTP/1.1\r\n');
    await until(() => [...serving.traffic.connections].filter(({ socket }) => isInMessage(socket)).length === 3);
    const { since, ended } = shutdownOf(serving);
    // The drain checks all four connections of this test, and closes only the connection of the client `silent`. If the
    // drain closed another connection too, the assertions below would fail.
    await silent?.ended();
    assert.ok(performance.now() - since >= silenceBeforeClose);
    line?.send('ne HTTP/1.1\r\nHost: localhost\r\n\r\n');
    head?.send('host\r\n\r\n');
    second?.send('Host: localhost\r\n\r\n');
    for (const [client, body] of [
      [line, '/line'],
      [head, '/head'],
      [second, '/second'],
    ] as const) {
      const answer = await client?.reader.next();
      assert.deepEqual([answer?.body, answer?.isClose], [body, true]);
    }
    assert.equal((await ended).exitCode, 0);
  });

  it('a connection that sends only line breaks is not kept open, whether or not it has carried a request', async (t) => {
    const serving = await serve(t, { adapter, listener: (_, response) => response.end('ok') });
    const [used, unused] = await Promise.all([serving.dial(), serving.dial()]);
    used.get('/');
    await used.reader.next();
    for (const client of [used, unused]) client.send('\r\n\r');
    const { since, ended } = shutdownOf(serving);
    const waited = [used, unused].map(async (client) => {
      const trickling = trickle(client, '\n\r');
      assert.ok((await client.ended()) - since >= silenceBeforeClose);
      assert.equal(client.reader.error, undefined, 'the server must end the connection with a FIN, not with a reset');
      await trickling;
    });
    const record = await ended;
    assert.equal(record.exitCode, 0);
    assert.ok(record.durationMs < record.budgetMs / 2, `the shutdown took ${String(record.durationMs)} ms`);
    await Promise.all(waited);
  });

  it('a request after leading line breaks is served as the first request of its connection', async (t) => {
    const serving = await serve(t, { adapter, listener: ({ url }, response) => response.end(url) });
    const client = await serving.dial();
    client.send('\r\n');
    const { ended } = shutdownOf(serving);
    client.send('\r\n\r\n');
    client.get('/late');
    const answer = await client.reader.next();
    assert.deepEqual([answer?.body, answer?.isClose], ['/late', true]);
    assert.equal((await ended).exitCode, 0);
  });

  it('P-013 if the headers of a request never arrive completely, the connection gets a FIN one second before the time limit of the drain', async (t) => {
    const serving = await serve(t, {
      adapter,
      listener: () => undefined,
      terminationGracePeriodSeconds: 6,
      destroyHookTimeout: '1500ms',
      clock: pacedClock(pace),
    });
    const client = await serving.dial();
    client.send('GET /never HTTP/1.1\r\nHost: local');
    await until(() => [...serving.traffic.connections].some(({ socket }) => isInMessage(socket)));
    const { since, ended } = shutdownOf(serving);
    const waited = ((await client.ended()) - since) * pace;
    assert.equal(client.reader.error, undefined, 'the server must end the connection with a FIN, not with a reset');
    assert.ok(waited >= 1_500 && waited < 2_400, `the connection ended after ${waited.toFixed(0)} ms`);
    const record = await ended;
    assert.deepEqual([record.exitCode, record.requests.cut], [0, 0]);
  });

  it('P-026 a request body that still arrives in small pieces after the response delays the drain by at most one second', async (t) => {
    const serving = await serve(t, {
      adapter,
      listener: (_, response) => response.end('enough'),
      clock: pacedClock(pace),
    });
    const client = await serving.dial({ allowHalfOpen: true });
    client.send('POST /upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10000000\r\n\r\n');
    assert.equal(
      (await client.reader.next())?.isClose,
      false,
      'the response before the shutdown must not have Connection: close',
    );
    const end = client.ended();
    const trickling = trickle(client, 'x');
    const { since, ended } = shutdownOf(serving);
    const waited = ((await end) - since) * pace;
    assert.equal(client.reader.error, undefined, 'the server must end the connection with a FIN, not with a reset');
    assert.ok(waited >= 1_000 && waited < 2_000, `the connection ended after ${waited.toFixed(0)} ms`);
    client.socket.end();
    await trickling;
    assert.equal((await ended).exitCode, 0);
  });

  const skip = !isSecure(adapter) && 'there is no TLS';
  it('P-012 a connection is not silent while a TLS record arrives in parts', { skip }, async (t) => {
    const serving = await serve(t, { adapter, listener: (_, response) => response.end('ok') });
    const client = await serving.dial();
    client.get('/');
    await client.reader.next();
    const [connection] = serving.traffic.connections;
    assert.ok(connection);
    connection.beginSilence(1);
    const { bytesRead } = tcpSocketOf(connection.socket);
    // The header of a TLS record with 256 bytes of application data.
    client.raw.write(Buffer.from([0x17, 0x03, 0x03, 0x01, 0x00]));
    await until(() => tcpSocketOf(connection.socket).bytesRead === bytesRead + 5);
    connection.hear(2);
    connection.hear(3);
    assert.equal(connection.quietSince, 2);
  });

  it(
    'P-048 a client that never begins or never finishes its TLS handshake does not delay the exit',
    { skip },
    async (t) => {
      const serving = await serve(t, { adapter, listener: () => undefined, clock: pacedClock(pace) });
      const clients = [0, 7].map((length) => {
        const client = connect(serving.port, '127.0.0.1');
        client.on('error', () => undefined).resume();
        client.write(Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00].slice(0, length)));
        return client;
      });
      t.after(() => {
        for (const client of clients) client.destroy();
      });
      await until(() => serving.traffic.connections.size === 2);
      const record = await shutdownOf(serving).ended;
      assert.deepEqual([record.exitCode, record.requests.cut], [0, 0]);
      assert.ok(record.durationMs < 3_000, `the shutdown took ${String(record.durationMs)} ms`);
    },
  );
}, 3);

// This test needs a fast upload. The upload is fast enough only if no other test runs at the same time.
describeAdaptersInTurn((adapter) => {
  it('P-026 after the response to a fast upload, the server reads one more mebibyte, then sends a FIN, and does not reset the connection while the upload continues', async (t) => {
    const serving = await serve(t, {
      adapter,
      listener: (_, response) => response.end('enough'),
      clock: pacedClock(pace),
    });
    const client = await serving.dial({ allowHalfOpen: true });
    client.send('POST /upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3000000\r\n\r\n');
    assert.equal((await client.reader.next())?.isClose, false);
    const { ended } = shutdownOf(serving);
    await serving.handle.signals.httpServerStoppedListening.signaled;
    const since = performance.now();
    for (let sent = 0; sent < 10; sent++) {
      client.send('x'.repeat(200_000));
      await setTimeout(50);
    }
    const waited = ((await client.ended()) - since) * pace;
    assert.ok(
      waited < longestBodyAfterResponse - 50,
      `the server must end the connection because of the size of the upload, but ended it after ${waited.toFixed(0)} ms`,
    );
    client.send('x'.repeat(1_000_000));
    const closed = once(client.socket, 'close');
    client.socket.end();
    assert.equal((await ended).exitCode, 0);
    await closed;
    assert.equal(client.reader.error, undefined, 'the server must end the connection with a FIN, not with a reset');
  });
});
