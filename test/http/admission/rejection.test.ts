// Tests, for the time after the lifecycle signal NotAcceptingNewRequest, which requests are still served, which are
// rejected, and with which status.
import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { it } from 'node:test';
import { describeAdapters, noProbes, serve, shutdownOf } from '../../support/serving.ts';
import { until } from '../../support/until.ts';

const expecting = 'HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n';

describeAdapters((adapter) => {
  it('A-122, P-019 with shutdownSendRetryAfter a new connection gets 429, Retry-After and close, then a FIN, while older connections are served', async (t) => {
    const held: ServerResponse[] = [];
    const serving = await serve(t, {
      adapter,
      shutdownSendRetryAfter: true,
      listener: (request, response) => (request.url === '/hold' ? held.push(response) : response.end('served')),
    });
    const busy = await serving.dial();
    const kept = await serving.dial();
    busy.get('/hold');
    await until(() => held.length === 1);
    const { ended } = shutdownOf(serving);
    await serving.handle.signals.notAcceptingNewRequest.signaled;

    const late = await serving.dial();
    late.send('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nhi');
    const refusal = await late.reader.next();
    assert.equal(refusal?.status, 429);
    assert.match(refusal.head, /^retry-after: 5\r$/im);
    assert.match(refusal.head, /^x-content-type-options: nosniff\r$/im);
    assert.equal(refusal.isClose, true);
    assert.equal(refusal.body, 'The server is shutting down, please try again later.\n');
    await late.reader.ended;
    assert.equal(late.reader.error, undefined, 'the server must end the connection with a FIN, not with a reset');

    kept.get('/kept');
    const served = await kept.reader.next();
    assert.deepEqual(
      [served?.status, served?.isClose],
      [200, true],
      'a kept-alive connection must be served with and without shutdownSendRetryAfter',
    );

    held[0]?.end('done');
    assert.equal((await busy.reader.next())?.body, 'done');
    const record = await ended;
    assert.deepEqual(record.requests, { answered: 2, refused: 1, aborted: 0, cut: 0 });
    assert.deepEqual(serving.signals.slice(-3), [
      'NotAcceptingNewRequest',
      'InFlightRequestsDrained',
      'HTTPServerStoppedListening',
    ]);
  });

  it('P-024 after NotAcceptingNewRequest, Expect: 100-continue gets a 100 on a connection accepted earlier, and a 429 without a 100 on a new connection', async (t) => {
    const held: ServerResponse[] = [];
    const serving = await serve(t, {
      adapter,
      shutdownSendRetryAfter: true,
      listener: (request, response) => {
        if (request.url === '/hold') held.push(response);
        else request.on('data', (data: Buffer) => response.end(String(data)));
      },
    });
    const busy = await serving.dial();
    const kept = await serving.dial();
    busy.get('/hold');
    await until(() => held.length === 1);
    const { ended } = shutdownOf(serving);
    await serving.handle.signals.notAcceptingNewRequest.signaled;
    const late = await serving.dial();
    for (const client of [late, kept]) client.send(`POST / ${expecting}`);
    assert.equal((await late.reader.next())?.status, 429);
    await late.ended();
    assert.equal(late.reader.error, undefined, 'the server must end the connection with a FIN, not with a reset');
    assert.equal((await kept.reader.next())?.status, 100);
    kept.send('hello');
    assert.equal((await kept.reader.next())?.body, 'hello');
    held[0]?.end();
    const record = await ended;
    assert.deepEqual(record.requests, { answered: 2, refused: 1, aborted: 0, cut: 0 });
  });

  it('P-024, P-113 during the drain, the checkContinue listener of the program still decides which clients get the status 100 Continue', async (t) => {
    const serving = await serve(t, {
      adapter,
      shutdownDelayDuration: '300ms',
      listener: () => assert.fail('the checkContinue listener of the program must be called instead'),
      prepare: (server) =>
        server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
          if (request.url === '/no') response.writeHead(403).end();
          else response.end('without a body');
        }),
    });
    const { ended } = shutdownOf(serving);
    const [no, yes] = [await serving.dial(), await serving.dial()];
    no.send(`POST /no ${expecting}`);
    yes.send(`POST /yes ${expecting}`);
    assert.equal((await no.reader.next())?.status, 403);
    assert.equal((await yes.reader.next())?.body, 'without a body');
    assert.equal(serving.server.listeners('checkContinue').length, 1);
    assert.equal((await ended).exitCode, 0);
  });

  const skip = noProbes(adapter);
  it(
    'A-106, A-126 with shutdownSendRetryAfter probes on new connections get responses until the listening socket closes',
    { skip },
    async (t) => {
      const held: ServerResponse[] = [];
      const serving = await serve(t, {
        adapter,
        shutdownSendRetryAfter: true,
        listener: (_, response) => held.push(response),
      });
      const busy = await serving.dial();
      busy.get('/hold');
      await until(() => held.length === 1);
      const { ended } = shutdownOf(serving);
      await serving.handle.signals.notAcceptingNewRequest.signaled;
      for (const [path, status] of [
        ['/readyz', 500],
        ['/livez', 200],
        ['/healthz', 200],
        ['/readyzfoo', 429],
      ] as const) {
        const probe = await serving.dial();
        probe.get(path);
        assert.equal((await probe.reader.next())?.status, status, path);
      }
      held[0]?.end();
      assert.equal((await ended).requests.refused, 1);
    },
  );

  it('A-012, A-151 by default, after the listening socket has closed, new connections are refused and open connections are still served', async (t) => {
    const held: ServerResponse[] = [];
    const serving = await serve(t, {
      adapter,
      listener: (request, response) => (request.url === '/hold' ? held.push(response) : response.end('served')),
    });
    const busy = await serving.dial();
    const kept = await serving.dial();
    busy.get('/hold');
    await until(() => held.length === 1);
    const { ended } = shutdownOf(serving);
    await serving.handle.signals.httpServerStoppedListening.signaled;
    const error = await new Promise<NodeJS.ErrnoException>((resolve) => {
      connect(serving.port, '127.0.0.1').on('error', resolve);
    });
    assert.equal(error.code, 'ECONNREFUSED');
    kept.get('/kept');
    assert.equal((await kept.reader.next())?.body, 'served');
    held[0]?.end();
    assert.equal((await ended).exitCode, 0);
  });

  it('P-041 with shutdownSendRetryAfter an upgrade on a new connection gets an HTTP 429, and the upgrade listener is not called', async (t) => {
    const held: ServerResponse[] = [];
    let upgrades = 0;
    const serving = await serve(t, {
      adapter,
      shutdownSendRetryAfter: true,
      listener: (_, response) => held.push(response),
      prepare: (server) => server.on('upgrade', () => upgrades++),
    });
    const busy = await serving.dial();
    busy.get('/hold');
    await until(() => held.length === 1);
    const { ended } = shutdownOf(serving);
    await serving.handle.signals.notAcceptingNewRequest.signaled;
    const late = await serving.dial();
    late.get('/', 'Connection: Upgrade\r\nUpgrade: anything\r\n');
    const refusal = await late.reader.next();
    assert.deepEqual([refusal?.status, refusal?.isClose], [429, true]);
    assert.match(refusal?.head ?? '', /^retry-after: 5\r$/im);
    await late.reader.ended;
    held[0]?.end();
    const record = await ended;
    assert.equal(record.requests.refused, 1);
    assert.equal(upgrades, 0);
  });
});
