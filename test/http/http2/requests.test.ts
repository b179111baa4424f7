// Tests HTTP/2 at the beginning of a shutdown: requests that arrive, requests that are cancelled, and silent
// connections.
import assert from 'node:assert/strict';
import { connect, type AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { it } from 'node:test';
import { describeKinds, serve, serveHeld } from '../../support/serving-http2.ts';
import { pacedClock } from '../../support/paced-clock.ts';
import { until } from '../../support/until.ts';

describeKinds((kind) => {
  it('P-005, P-008 an HTTP/2 client that sends a request at the beginning of the shutdown gets its response; if the client never stops sending requests, the drain ends its session', async (t) => {
    const serving = await serve(t, kind, {
      listener: (path, answer) => {
        answer.respond(200);
        answer.end(path);
      },
    });
    const client = await serving.dial();
    await client.request('/first');
    const outcome = client.request('/with-the-signal');
    const ended = serving.handle.shutdown('test');
    assert.equal((await outcome).body, '/with-the-signal');
    while (client.goaways.length === 0 && !client.session.closed) assert.ok((await client.request('/on')).code !== 2);
    await client.closed;
    assert.equal((await ended).exitCode, 0);
  });

  it('P-028 a request whose response is sent with one write counts as answered, and its AbortSignal is not aborted', async (t) => {
    const signals: AbortSignal[] = [];
    const serving = await serve(t, kind, {
      shutdownDelayDuration: '100ms',
      listener: (path, answer, request) => {
        signals.push(serving.handle.abortSignal(request as never));
        // Node closes an HTTP/2 stream at once if the request has been read to its end and the whole response is sent
        // in one write.
        (request as Readable).resume().on('end', () => {
          answer.respond(200);
          answer.end(path);
        });
      },
    });
    const client = await serving.dial();
    const ended = serving.handle.shutdown('test');
    assert.equal((await client.request('/whole')).body, '/whole');
    assert.equal((await ended).requests.answered, 1);
    assert.deepEqual(
      signals.map((signal) => signal.aborted),
      [false],
    );
  });

  it('P-021, P-032 a request is in flight whatever its method, and does not delay the drain after its client has cancelled it', async (t) => {
    const seen: string[] = [];
    const serving = await serve(t, kind, { listener: (path) => seen.push(path) });
    const client = await serving.dial();
    const streams = ['HEAD', 'OPTIONS', 'DELETE'].map((method) =>
      client.session.request({ ':path': '/', ':method': method }),
    );
    for (const stream of streams) stream.on('error', () => undefined);
    await until(() => seen.length === 3);
    assert.equal(serving.traffic.counts.requestsInFlight, 3);
    const ended = serving.handle.shutdown('test');
    for (const stream of streams) stream.close(8);
    const { exitCode, requests } = await ended;
    assert.deepEqual([exitCode, requests.cut], [0, 0]);
  });

  it('P-006, P-011 a connection on which the client sends nothing gets a FIN and does not delay the drain', async (t) => {
    // The clock of the lifecycle runs at half of the real speed. So the test does not fail on a slow machine.
    const serving = await serve(t, kind, { listener: () => undefined, clock: pacedClock(1 / 2) });
    const { port } = serving.server.address() as AddressInfo;
    const socket = connect({ port, host: '127.0.0.1' });
    t.after(() => {
      socket.destroy();
    });
    const errors: unknown[] = [];
    socket.on('error', (error) => errors.push(error));
    const closed = new Promise((resolve) => socket.on('close', resolve));
    await until(() => serving.traffic.connections.size === 1);
    const ended = serving.handle.shutdown('test');
    socket.resume();
    await closed;
    assert.deepEqual(errors, []);
    const record = await ended;
    assert.equal(record.exitCode, 0);
    assert.ok(
      record.durationMs >= 1_000 && record.durationMs < 3_000,
      `the shutdown took ${String(record.durationMs)} ms`,
    );
  });

  it('P-055 if the program calls close() of the HTTP/2 server during the drain, the drain still waits for the request in flight', async (t) => {
    const { serving, held, outcome } = await serveHeld(t, kind, 'whole');
    const ended = serving.handle.shutdown('test');
    const closed = new Promise((resolve) => serving.server.close(resolve));
    held.finish();
    assert.equal((await outcome).body, 'whole');
    assert.equal((await ended).exitCode, 0);
    await closed;
  });
});
