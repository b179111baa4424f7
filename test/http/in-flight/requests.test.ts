// Tests that the drain waits for each request in flight and counts it once. Each request either gets its whole
// response, or is cut at the deadline of the drain and named in the log.
import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { isSecure } from '../../support/adapters.ts';
import { describeAdapters, serve, shutdownOf, type Serving } from '../../support/serving.ts';
import { until } from '../../support/until.ts';
import { eventSource } from '../../support/watching.ts';

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** `keep()` stores the requests that reach the server, so that the test decides when each of them gets its response. */
function keep(exchanges: Exchange[]): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    exchanges.push({ request, response });
  };
}

function inFlight({ traffic }: Serving): number {
  return traffic.counts.requestsInFlight;
}

describeAdapters((adapter) => {
  it('P-021 a request whose client disconnects does not delay the drain', async (t) => {
    const exchanges: Exchange[] = [];
    const serving = await serve(t, { adapter, listener: keep(exchanges) });
    const before = await serving.dial();
    const during = await serving.dial();
    before.get('/given-up-before');
    during.get('/given-up-during');
    await until(() => exchanges.length === 2);
    assert.equal(inFlight(serving), 2);
    before.socket.destroy();
    await until(() => inFlight(serving) === 1);
    const { ended } = shutdownOf(serving);
    await serving.handle.signals.httpServerStoppedListening.signaled;
    during.socket.destroy();
    const record = await ended;
    assert.equal(record.exitCode, 0);
    assert.deepEqual(record.requests, { answered: 0, refused: 0, aborted: 0, cut: 0 });
    assert.equal(inFlight(serving), 0);
  });

  it('P-022 an upload in progress at the process signal completes and gets its response', async (t) => {
    const serving = await serve(t, {
      adapter,
      listener: (request, response) => {
        let bytes = 0;
        request.on('data', (chunk: Buffer) => (bytes += chunk.length));
        request.on('end', () => response.end(String(bytes)));
      },
    });
    const client = await serving.dial();
    client.send('POST /upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 200000\r\n\r\n');
    client.send('x'.repeat(50_000));
    await until(() => inFlight(serving) === 1);
    const { ended } = shutdownOf(serving);
    await serving.handle.signals.httpServerStoppedListening.signaled;
    client.send('x'.repeat(150_000));
    const response = await client.reader.next();
    assert.equal(response?.body, '200000');
    assert.equal(response.isClose, true);
    assert.equal((await ended).exitCode, 0);
  });

  it('P-025, P-029 the drain does not change a response whose headers have been sent, even if the handler bypasses its framework and writes to the response object of Node', async (t) => {
    const exchanges: Exchange[] = [];
    const serving = await serve(t, { adapter, listener: keep(exchanges) });
    const client = await serving.dial();
    client.get('/stream');
    await until(() => exchanges.length === 1);
    exchanges[0]?.response.write('first ');
    const { ended } = shutdownOf(serving);
    await serving.handle.signals.httpServerStoppedListening.signaled;
    exchanges[0]?.response.end('last');
    const response = await client.reader.next();
    assert.match(response?.body ?? '', /first [\s\S]*last/);
    // The response headers were sent before the shutdown, without `Connection: close`. The server therefore ends the
    // connection only after one second of silence (P-002).
    assert.equal(response?.isClose, false);
    await client.reader.ended;
    assert.equal(client.reader.error, undefined);
    assert.equal((await ended).exitCode, 0);
  });

  it('P-023, P-027 a request without a response at the deadline of the drain is logged with its method, route, age and client address, and its connection is destroyed', async (t) => {
    const exchanges: Exchange[] = [];
    const serving = await serve(t, {
      adapter,
      listener: keep(exchanges),
      terminationGracePeriodSeconds: 4,
      destroyHookTimeout: 1,
    });
    const hung = await serving.dial();
    const stalled = await serving.dial();
    hung.get('/hang?secret=1');
    await until(() => exchanges.length === 1);
    stalled.send('POST /stalled HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf');
    await until(() => exchanges.length === 2);
    const order: string[] = [];
    serving.handle.addDestroyHook('note', () => order.push(`destroy hook, ${String(inFlight(serving))} in flight`));
    const { ended } = shutdownOf(serving);
    const record = await ended;
    assert.equal(record.exitCode, 80);
    assert.deepEqual(record.unfinished.map(({ method, route }) => `${method} ${route}`).sort(), [
      'GET /hang',
      'POST /stalled',
    ]);
    assert.deepEqual(serving.unfinished, record.unfinished, 'the requests were reported before they were destroyed');
    for (const { ageMs, peer } of record.unfinished) {
      assert.ok(ageMs >= 1_900, String(ageMs));
      assert.match(peer, /^127\.0\.0\.1:\d+$/);
    }
    assert.ok(record.durationMs < 4_000, 'the shutdown must end within the grace period');
    assert.deepEqual(order, ['destroy hook, 0 in flight']);
    assert.equal(await hung.reader.next(), undefined);
  });

  // Node ends a TLS connection as soon as the client ends its side, whatever the settings of the server.
  const skip = isSecure(adapter) && 'TLS sockets of Node have no half-open state';
  it(
    'P-014 a client that has ended its side of the connection still receives its response during the drain',
    { skip },
    async (t) => {
      const exchanges: Exchange[] = [];
      const serving = await serve(t, { adapter, listener: keep(exchanges) });
      const client = await serving.dial({ allowHalfOpen: true });
      const { ended } = shutdownOf(serving);
      await serving.handle.signals.notAcceptingNewRequest.signaled;
      client.get('/half-open');
      await until(() => exchanges.length === 1);
      client.socket.end();
      const interim = await client.reader.next();
      assert.equal(interim?.status, 102, 'the server must send a 102 to test whether the client is still connected');
      exchanges[0]?.response.end('all of it');
      assert.equal((await client.reader.next())?.body, 'all of it');
      assert.equal((await ended).exitCode, 0);
    },
  );

  it(
    'P-014 a client that ends its side of the connection in the middle of a response receives the rest of the response',
    { skip },
    async (t) => {
      const exchanges: Exchange[] = [];
      const serving = await serve(t, { adapter, listener: keep(exchanges) });
      const client = await serving.dial({ allowHalfOpen: true });
      const { ended } = shutdownOf(serving);
      await serving.handle.signals.notAcceptingNewRequest.signaled;
      client.get('/half-open');
      await until(() => exchanges.length === 1);
      exchanges[0]?.response.write('first ');
      client.socket.end();
      await until(() => exchanges[0]?.request.socket.readableEnded === true);
      // Wait for longer than the drain takes to check all connections, so that the drain has checked each connection at
      // least once.
      await setTimeout(200);
      exchanges[0]?.response.end('last');
      assert.match((await client.reader.next())?.body ?? '', /first [^]*last/);
      const record = await ended;
      assert.deepEqual([record.exitCode, record.requests], [0, { answered: 1, refused: 0, aborted: 0, cut: 0 }]);
    },
  );

  it('P-021 if a client disconnects in the middle of a response, lameduck detects this when the handler writes the next part of the response', async (t) => {
    const exchanges: Exchange[] = [];
    const serving = await serve(t, { adapter, listener: keep(exchanges) });
    const client = await serving.dial();
    const { ended } = shutdownOf(serving);
    await serving.handle.signals.notAcceptingNewRequest.signaled;
    client.get('/left');
    await until(() => exchanges.length === 1);
    exchanges[0]?.response.write('first ');
    await until(() => client.reader.received > 0);
    client.socket.destroy();
    const writing = setInterval(() => exchanges[0]?.response.write('more '), 50);
    t.after(() => {
      clearInterval(writing);
    });
    const record = await ended;
    assert.deepEqual([record.exitCode, record.requests.answered], [0, 0]);
    assert.ok(record.durationMs < 5_000);
  });

  it('P-030 a request that reaches no handler, for example a malformed one, is counted once, and stops counting as in flight when its connection has ended', async (t) => {
    const serving = await serve(t, { adapter, listener: (_, response) => response.end('ok') });
    for (const bad of [
      'GET / HTTP/1.1\r\nConnection: close\r\n\r\n', // This request has no Host header.
      'NONSENSE\r\n\r\n',
      'GET / HTTP/9.9\r\nHost: localhost\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: localhost\r\nExpect: the-impossible\r\nConnection: close\r\n\r\n',
      'GET /%ff%ff HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
    ]) {
      const client = await serving.dial();
      client.send(bad);
      await client.reader.ended;
      assert.equal(inFlight(serving), 0, bad);
    }
    const { ended } = shutdownOf(serving);
    assert.equal((await ended).exitCode, 0);
  });

  it('P-051, P-052 errors of sockets during the drain cause no uncaught error', async (t) => {
    const exchanges: Exchange[] = [];
    const serving = await serve(t, { adapter, listener: keep(exchanges) });
    const client = await serving.dial();
    client.get('/');
    await until(() => exchanges.length === 1);
    const { ended } = shutdownOf(serving);
    await serving.handle.signals.httpServerStoppedListening.signaled;
    client.reset();
    exchanges[0]?.response.end('x'.repeat(1_000_000));
    assert.equal((await ended).exitCode, 0);
  });

  it('P-009 two pipelined requests both get responses, and only the last response says Connection: close', async (t) => {
    const exchanges: Exchange[] = [];
    const serving = await serve(t, { adapter, listener: keep(exchanges) });
    const client = await serving.dial();
    const { ended } = shutdownOf(serving);
    await serving.handle.signals.notAcceptingNewRequest.signaled;
    client.send('GET /one HTTP/1.1\r\nHost: localhost\r\n\r\nGET /two HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await until(() => exchanges.length === 2);
    exchanges[1]?.response.end('two');
    exchanges[0]?.response.end('one');
    const [one, two] = [await client.reader.next(), await client.reader.next()];
    assert.deepEqual([one?.body, one?.isClose], ['one', false]);
    assert.deepEqual([two?.body, two?.isClose], ['two', true]);
    const record = await ended;
    assert.equal(record.requests.answered, 2);
  });

  it('P-009 all requests that arrive in one packet get responses, even if the handler responds at once', async (t) => {
    const serving = await serve(t, { adapter, listener: (request, response) => response.end(request.url) });
    const client = await serving.dial();
    const { ended } = shutdownOf(serving);
    await serving.handle.signals.httpServerStoppedListening.signaled;
    client.send(['/one', '/two', '/three'].map((path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join(''));
    for (const path of ['/one', '/two', '/three']) {
      const response = await client.reader.next();
      assert.deepEqual([response?.body, response?.isClose], [path, path === '/three']);
    }
    assert.equal((await ended).requests.answered, 3);
  });

  it('P-009, P-010 if a client always sends a further pipelined request before a response, lameduck chooses a last request, whose response says Connection: close', async (t) => {
    const exchanges: Exchange[] = [];
    const serving = await serve(t, { adapter, listener: keep(exchanges) });
    const client = await serving.dial();
    const next = async (): Promise<void> => {
      const { length } = exchanges;
      client.get(`/${String(length)}`);
      await until(() => exchanges.length > length);
    };
    await next();
    await next();
    const { ended } = shutdownOf(serving);
    await serving.handle.signals.httpServerStoppedListening.signaled;
    for (const count of [0, 1, 2]) {
      // Send requests /2, /3 and /4, each before the response to an earlier request.
      await next();
      exchanges[count]?.response.end('served');
      assert.equal((await client.reader.next())?.isClose, false);
    }
    // /2 was the newest request when the headers of the response to /0 were sent. A later request has arrived before the
    // headers of the response to /2 were sent. So the newest request, /4, is the last request of the connection.
    const [connection] = serving.traffic.connections;
    const bytesRead = connection?.socket.bytesRead;
    client.get('/never-executed');
    await until(() => connection?.socket.bytesRead !== bytesRead);
    for (const count of [4, 3]) exchanges[count]?.response.end('served');
    const answers = [await client.reader.next(), await client.reader.next()];
    assert.deepEqual(
      answers.map((answer) => [answer?.body, answer?.isClose]),
      [
        ['served', false],
        ['served', true],
      ],
    );
    await client.reader.ended;
    assert.equal(client.reader.error, undefined, 'the server must end the connection with a FIN');
    const { exitCode, requests } = await ended;
    assert.deepEqual([exitCode, requests.answered, requests.cut, exchanges.length], [0, 5, 0, 5]);
  });

  it('P-006 the upload of a client that gets an early response is read to its end, and the connection is not reset', async (t) => {
    const serving = await serve(t, { adapter, listener: (_, response) => response.end('enough') });
    const client = await serving.dial({ allowHalfOpen: true });
    const { since, ended } = shutdownOf(serving);
    await serving.handle.signals.notAcceptingNewRequest.signaled;
    client.send('POST /upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 160000\r\n\r\n');
    // The server closes a connection if the client does not answer the server's FIN within a time limit. The upload
    // lasts longer than this time limit.
    for (let sent = 0; sent < 16; sent++) {
      client.send('x'.repeat(10_000));
      await setTimeout(100);
    }
    assert.equal((await client.reader.next())?.body, 'enough');
    assert.equal(client.reader.error, undefined);
    client.socket.end();
    assert.equal((await ended).exitCode, 0);
    assert.ok(performance.now() - since >= 1_600);
  });

  it('P-021 a client that disconnects in the middle of a stream does not delay the drain', async (t) => {
    const exchanges: Exchange[] = [];
    const serving = await serve(t, { adapter, listener: keep(exchanges) });
    const client = await serving.dial();
    client.get('/events', eventSource);
    await until(() => exchanges.length === 1);
    exchanges[0]?.response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
    const { ended } = shutdownOf(serving);
    await serving.handle.signals.httpServerStoppedListening.signaled;
    client.socket.destroy();
    const record = await ended;
    assert.deepEqual([record.exitCode, record.requests.cut], [0, 0]);
    assert.ok(
      record.durationMs < 5_000,
      `the shutdown must not last to the end of the grace period, but took ${String(record.durationMs)} ms`,
    );
  });
});
