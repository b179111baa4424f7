// Tests when the server announces the close of a keep-alive connection, when it ends an idle connection, and that no
// request in flight is lost.
import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { it, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { silenceBeforeClose } from '../../../src/http/drain/drain.ts';
import type { ShutdownRecord } from '../../../src/observer.ts';
import type { AdapterName } from '../../support/adapters.ts';
import type { Response } from '../../support/closed-loop-client.ts';
import { describeAdapters, serve, shutdownOf } from '../../support/serving.ts';
import { pacedClock } from '../../support/paced-clock.ts';
import { until } from '../../support/until.ts';

function answer(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  response.end(`answer to ${request.url ?? ''}`);
}

describeAdapters((adapter) => {
  it('P-001 the drain ends a connection after its last response, even if the program has removed all event listeners of this response', async (t) => {
    const held: ServerResponse[] = [];
    const serving = await serve(t, { adapter, listener: (_, response) => held.push(response) });
    const client = await serving.dial();
    client.get('/');
    await until(() => held.length === 1);
    const { ended } = shutdownOf(serving);
    await serving.handle.signals.httpServerStoppedListening.signaled;
    // `removeAllListeners()` also removes Node's own `finish` listener from the response. Without this listener, Node
    // does not end the connection after a response with `Connection: close`.
    held[0]?.removeAllListeners();
    held[0]?.end('whole');
    assert.equal((await client.reader.next())?.body, 'whole');
    const { exitCode, durationMs } = await ended;
    assert.equal(exitCode, 0);
    assert.ok(durationMs < 10_000, `the shutdown took ${String(durationMs)} ms, nearly its whole budget`);
  });

  it('P-001, P-003 each connection has a random close time in the shutdown delay; its first response after that time has Connection: close; the server still listens at that time', async (t) => {
    // A response has Connection: close after the random close time of its connection, which is never in the last
    // quarter of the shutdown delay. The clock of this test runs at a quarter of the normal speed, so that many round
    // trips fit into this quarter.
    const clock = pacedClock(1 / 4);
    const serving = await serve(t, { adapter, listener: answer, shutdownDelayDuration: 800, clock });
    const client = await serving.dial();
    const { ended } = shutdownOf(serving);
    client.get('/');
    let response = await client.reader.next();
    while (response?.isClose === false) {
      await setTimeout(20);
      client.get('/');
      response = await client.reader.next();
    }
    assert.equal(response?.status, 200);
    assert.equal(
      serving.handle.signals.notAcceptingNewRequest.hasSignaled,
      false,
      'Connection: close must be sent before NotAcceptingNewRequest',
    );
    await client.reader.ended;
    assert.equal(client.reader.error, undefined, 'the server must end the connection with a FIN');
    assert.equal((await ended).exitCode, 0);
  });

  it('P-001 a request that began before the process signal gets Connection: close if its headers are written after the signal', async (t) => {
    const held: ServerResponse[] = [];
    const serving = await serve(t, {
      adapter,
      listener: (_, response) => held.push(response),
      clock: pacedClock(1 / 10),
    });
    const client = await serving.dial();
    client.get('/slow');
    await until(() => held.length === 1);
    const { ended } = shutdownOf(serving);
    await serving.handle.signals.notAcceptingNewRequest.signaled;
    held[0]?.end('late');
    const response = await client.reader.next();
    assert.equal(response?.body, 'late');
    assert.equal(response.isClose, true);
    const record = await ended;
    assert.deepEqual(record.requests, { answered: 1, refused: 0, aborted: 0, cut: 0 });
    assert.ok(
      record.durationMs < silenceBeforeClose,
      'after a response with Connection: close, the drain must not wait until the connection is silent',
    );
  });

  it('P-001 every response gets Connection: close, unless its handler has called Object.seal() on it, which prevents a change of its headers', async (t) => {
    const held: ServerResponse[] = [];
    const serving = await serve(t, {
      adapter,
      listener(request, response) {
        // Node sets `statusCode` and `statusMessage` when it sends a response, and cannot add them to a sealed
        // response.
        Object.assign(response, { statusCode: 200, statusMessage: 'OK' });
        held.push(request.url === '/sealed' ? Object.seal(response) : response);
      },
      clock: pacedClock(1 / 10),
    });
    const [sealed, other] = [await serving.dial(), await serving.dial()];
    sealed.get('/sealed');
    await until(() => held.length === 1);
    other.get('/');
    await until(() => held.length === 2);
    const { ended } = shutdownOf(serving);
    await serving.handle.signals.notAcceptingNewRequest.signaled;
    for (const response of held) response.end();
    assert.equal((await other.reader.next())?.isClose, true);
    assert.equal((await sealed.reader.next())?.isClose, false);
    await sealed.reader.ended;
    assert.equal(sealed.reader.error, undefined, 'the server must end the connection with a FIN');
    const { exitCode, stepFailures } = await ended;
    assert.deepEqual({ exitCode, stepFailures }, { exitCode: 0, stepFailures: [] });
  });

  it('P-002, P-004, P-005 a silent connection stays open for one second, and a request on it is served with Connection: close', async (t) => {
    const serving = await serve(t, { adapter, listener: answer });
    const early = await serving.dial();
    const late = await serving.dial();
    early.get('/before');
    assert.equal((await early.reader.next())?.isClose, false);
    const { ended } = shutdownOf(serving);
    early.get('/in-the-same-millisecond');
    assert.equal((await early.reader.next())?.isClose, true);
    await serving.handle.signals.httpServerStoppedListening.signaled;
    late.get('/during-the-silence');
    const response = await late.reader.next();
    assert.equal(response?.body, 'answer to /during-the-silence');
    assert.equal(response.isClose, true);
    assert.equal((await ended).requests.cut, 0);
  });

  it('P-006, P-011 a silent connection gets a FIN after it has been silent for one second, whether or not it has carried a request', async (t) => {
    const serving = await serve(t, { adapter, listener: answer });
    const used = await serving.dial();
    const preconnected = await serving.dial();
    used.get('/');
    await used.reader.next();
    const { since, ended } = shutdownOf(serving);
    const [usedEnd, preconnectedEnd] = await Promise.all([used.ended(), preconnected.ended()]);
    used.socket.end();
    preconnected.socket.end();
    for (const { reader } of [used, preconnected])
      assert.equal(reader.error, undefined, 'the server must not reset the connection');
    assert.ok(
      usedEnd - since >= silenceBeforeClose,
      `a silent connection must stay open for one second after the process signal, but ended after ${String(usedEnd - since)} ms`,
    );
    assert.ok(preconnectedEnd - since >= silenceBeforeClose);
    assert.equal((await ended).exitCode, 0);
  });

  it("P-006 a connection whose client does not answer the server's FIN is destroyed after a limited time", async (t) => {
    const serving = await serve(t, { adapter, listener: answer });
    const client = await serving.dial();
    // The client reads nothing, so it does not see the server's FIN.
    client.socket.pause();
    const { ended } = shutdownOf(serving);
    const record = await ended;
    assert.equal(record.exitCode, 0);
    assert.ok(record.durationMs >= silenceBeforeClose);
  });

  it('P-008 after HTTPServerStoppedListening, a client that keeps sending requests gets at most one response, and is then disconnected', async (t) => {
    let served = 0;
    const serving = await serve(t, {
      adapter,
      listener: (request, response) => {
        served++;
        answer(request, response);
      },
    });
    const client = await serving.dial();
    client.get('/');
    await client.reader.next();
    const { ended } = shutdownOf(serving);
    await serving.handle.signals.httpServerStoppedListening.signaled;
    client.get('/last');
    assert.equal((await client.reader.next())?.isClose, true);
    client.get('/never-executed');
    assert.equal(await client.reader.next(), undefined);
    assert.equal((await ended).requests.answered, 1);
    assert.equal(served, 2);
  });

  it('P-010, P-123 a request that arrives after Connection: close was sent is never executed', async (t) => {
    const executed: string[] = [];
    const serving = await serve(t, {
      adapter,
      listener: (request, response) => {
        executed.push(`${request.method ?? ''} ${request.url ?? ''}`);
        answer(request, response);
      },
    });
    const client = await serving.dial();
    const { ended } = shutdownOf(serving);
    await serving.handle.signals.notAcceptingNewRequest.signaled;
    const post = (path: string): string => `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nhi`;
    client.get('/first');
    const first = await client.reader.next();
    client.send(post('/second'));
    client.send(post('/third'));
    assert.equal(first?.isClose, true);
    assert.equal(await client.reader.next(), undefined);
    await ended;
    assert.deepEqual(executed, ['GET /first']);
  });

  it("P-016, P-120 the drain's Connection: close replaces the handler's own Connection header, whichever way the handler uses to set that header", async (t) => {
    const forms: ((response: ServerResponse) => void)[] = [
      (response) =>
        response.writeHead(200, { Connection: 'keep-alive', 'Keep-Alive': 'timeout=9', 'X-Form': 'object' }),
      (response) => response.writeHead(200, ['Connection', 'keep-alive', 'keep-alive', 'timeout=9', 'X-Form', 'list']),
      (response) => response.writeHead(200, 'Fine', { connection: 'keep-alive', 'X-Form': 'reason' }),
      (response) => {
        response.setHeader('Connection', 'keep-alive');
        response.setHeader('Keep-Alive', 'timeout=9');
        response.setHeader('X-Form', 'set');
      },
      (response) => {
        response.removeHeader('Connection');
        response.setHeader('X-Form', 'removed');
      },
    ];
    const { responses, record } = await answersWhileLeaving(t, adapter, forms);
    for (const { head } of responses) {
      assert.deepEqual(head.match(/^connection: .*$/gim), ['Connection: close'], head);
      assert.doesNotMatch(head, /^keep-alive:/im);
      assert.match(head, /^x-form: /im);
    }
    assert.equal(record.requests.answered, forms.length);
  });

  it('P-017 the timeouts that the program has set on its server still apply during the drain', async (t) => {
    const serving = await serve(t, {
      adapter,
      listener: answer,
      shutdownDelayDuration: 9_000,
      prepare: (server) => {
        server.keepAliveTimeout = 100;
        (server as { keepAliveTimeoutBuffer?: number }).keepAliveTimeoutBuffer = 0;
      },
    });
    const client = await serving.dial();
    void shutdownOf(serving);
    client.get('/');
    await client.reader.next();
    await client.ended();
    const { afterShutdownDelayDuration } = serving.handle.signals;
    assert.equal(
      afterShutdownDelayDuration.hasSignaled,
      false,
      'the keep-alive timeout must end the connection, long before the drain does',
    );
  });

  it('P-015 a client that closes its connection itself gets its response during the drain', async (t) => {
    const serving = await serve(t, { adapter, listener: answer, shutdownDelayDuration: 1_000 });
    const { ended } = shutdownOf(serving);
    for (const request of [
      'GET /close HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
      'GET /old HTTP/1.0\r\n\r\n',
    ]) {
      const client = await serving.dial();
      client.send(request);
      assert.equal((await client.reader.next())?.status, 200);
      await client.reader.ended;
    }
    assert.equal((await ended).requests.answered, 2);
  });

  it('P-016 header values that are arrays are sent unchanged, whichever method of the response writes the headers', async (t) => {
    const cookies = ['a=1', 'b=2', 'c=3'];
    const forms: ((response: ServerResponse) => void)[] = [
      (response) => response.writeHead(200, ['Set-Cookie', cookies, 'X-Form', 'list'] as never),
      (response) => response.writeHead(200, { 'Set-Cookie': cookies, 'X-Form': 'object' }),
    ];
    const { responses, record } = await answersWhileLeaving(t, adapter, forms);
    assert.equal(responses.length, forms.length);
    for (const { head, isClose } of responses) {
      assert.deepEqual(head.match(/(?<=^set-cookie: ).*(?=\r$)/gim), cookies, head);
      assert.equal(isClose, true);
    }
    assert.equal(record.exitCode, 0);
  });
});

/**
 * answersWhileLeaving begins a shutdown. Then it sends one request for each function of `forms`, each on its own
 * connection. Each of these functions writes the headers of a response in another way.
 */
async function answersWhileLeaving(
  t: TestContext,
  adapter: AdapterName,
  forms: readonly ((response: ServerResponse) => void)[],
): Promise<{ readonly responses: readonly Response[]; readonly record: ShutdownRecord }> {
  const serving = await serve(t, {
    adapter,
    listener: (request, response) => {
      request.resume();
      forms[Number(request.url?.slice(1))]?.(response);
      response.end('ok');
    },
  });
  const clients = await Promise.all(forms.map(async () => serving.dial()));
  const { ended } = shutdownOf(serving);
  for (const [index, client] of clients.entries()) client.get(`/${String(index)}`);
  const responses: Response[] = [];
  for (const [index, client] of clients.entries()) {
    const response = await client.reader.next();
    assert.ok(response, `the response to the request in form ${String(index)} must arrive`);
    responses.push(response);
    client.socket.end();
  }
  return { responses, record: await ended };
}
