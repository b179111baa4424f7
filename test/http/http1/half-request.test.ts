// Requests of which a part has arrived: half a head is waited for, and a body that goes on after its answer is not.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { linger } from '../../../src/http/drain/drain.ts';
import { longestBehindAnswer } from '../../../src/http/http1/half-request.ts';
import { isInMessage } from '../../../src/http/node-internals.ts';
import { isSecure } from '../../support/adapters.ts';
import { describeAdapters, describeAdaptersInTurn, serve, shutdownOf, type Client } from '../../support/serving.ts';
import { pacedClock } from '../../support/paced-clock.ts';
import { until } from '../../support/until.ts';

/** trickle goes on sending a little of a body that never ends, until the connection has ended. */
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

// A second of the lifecycle is three of the machine, which needs some of them for itself.
const pace = 1 / 3;

describeAdapters((adapter) => {
  it('P-012 half a request line or head is waited for longer than a silent connection, and served when the rest comes', async (t) => {
    const serving = await serve(t, { adapter, listener: ({ url }, response) => response.end(url) });
    const [line, head, second, silent] = await Promise.all([1, 2, 3, 4].map(() => serving.dial()));
    second?.get('/first');
    await second?.reader.next();
    line?.send('GET /li');
    head?.send('GET /head HTTP/1.1\r\nHost: local');
    second?.send('GET /second HTTP/1.1\r\n');
    await until(() => [...serving.traffic.connections].filter(({ socket }) => isInMessage(socket)).length === 3);
    const { since, ended } = shutdownOf(serving);
    // The same sweep would have ended the others, which could not be answered after that.
    await silent?.ended();
    assert.ok(performance.now() - since >= linger);
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

  it('line ends keep no connection open, whether it has carried a request or not', async (t) => {
    const serving = await serve(t, { adapter, listener: (_, response) => response.end('ok') });
    const [used, unused] = await Promise.all([serving.dial(), serving.dial()]);
    used.get('/');
    await used.reader.next();
    for (const client of [used, unused]) client.send('\r\n\r');
    const { since, ended } = shutdownOf(serving);
    const waited = [used, unused].map(async (client) => {
      const trickling = trickle(client, '\n\r');
      assert.ok((await client.ended()) - since >= linger);
      assert.equal(client.reader.error, undefined, 'a FIN, not a reset');
      await trickling;
    });
    const record = await ended;
    assert.equal(record.exitCode, 0);
    assert.ok(record.durationMs < record.budgetMs / 2, `after ${String(record.durationMs)} ms`);
    await Promise.all(waited);
  });

  it('a request that follows line ends is served on a connection that has carried none', async (t) => {
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

  it('P-013 half a head that nothing follows is ended by FIN, a linger ahead of the end of the drain’s time', async (t) => {
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
    assert.equal(client.reader.error, undefined, 'a FIN, not a reset');
    assert.ok(waited >= 1_500 && waited < 2_400, `after ${waited.toFixed(0)} ms`);
    const record = await ended;
    assert.deepEqual([record.exitCode, record.requests.cut], [0, 0]);
  });

  it('P-026 a body that trickles on after its answer holds the drain for a second at most', async (t) => {
    const serving = await serve(t, {
      adapter,
      listener: (_, response) => response.end('enough'),
      clock: pacedClock(pace),
    });
    const client = await serving.dial({ allowHalfOpen: true });
    client.send('POST /upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10000000\r\n\r\n');
    assert.equal((await client.reader.next())?.isClose, false, 'answered before the shutdown');
    const end = client.ended();
    const trickling = trickle(client, 'x');
    const { since, ended } = shutdownOf(serving);
    const waited = ((await end) - since) * pace;
    assert.equal(client.reader.error, undefined, 'a FIN, not a reset');
    assert.ok(waited >= 1_000 && waited < 2_000, `ended after ${waited.toFixed(0)} ms`);
    client.socket.end();
    await trickling;
    assert.equal((await ended).exitCode, 0);
  });

  const skip = !isSecure(adapter) && 'there is no TLS';
  it(
    'P-048 a client that never begins or never finishes its TLS handshake does not hold the exit',
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
      assert.ok(record.durationMs < 3_000, `after ${String(record.durationMs)} ms`);
    },
  );
}, 3);

// Fast it is only where nobody else is.
describeAdaptersInTurn((adapter) => {
  it('P-026 a fast body after its answer is read for a mebibyte and then gets a FIN, and no reset as long as it goes on', async (t) => {
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
    assert.ok(waited < longestBehindAnswer - 50, `ended by its size, and not after ${waited.toFixed(0)} ms`);
    client.send('x'.repeat(1_000_000));
    const closed = once(client.socket, 'close');
    client.socket.end();
    assert.equal((await ended).exitCode, 0);
    await closed;
    assert.equal(client.reader.error, undefined, 'a FIN, not a reset');
  });
});
