// Tests the writes of lameduck to a disconnected client. They must cause no uncaught error, even if the handler has
// removed Node's `error` listener from the socket.
import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { it, test } from 'node:test';
import { ignoreResets } from '../../../src/http/responses/socket-errors.ts';
import { describeAdapters, serve } from '../../support/serving.ts';
import { until } from '../../support/until.ts';

describeAdapters((adapter) => {
  // Tests that need `isPlain` run only without TLS, because Node itself ends a TLS connection after the client's FIN.
  const isPlain = adapter === 'node:http' || adapter === 'Fastify' || adapter === 'register';
  it('P-021 a 102 response to a disconnected client raises no uncaught error', { skip: !isPlain }, async (t) => {
    const requests: IncomingMessage[] = [];
    const serving = await serve(t, {
      adapter,
      listener: (request) => {
        request.socket.removeAllListeners();
        requests.push(request);
      },
    });
    const client = await serving.dial();
    client.get('/');
    await until(() => requests.length === 1);
    const ended = serving.handle.shutdown('test');
    // After `destroy()`, the kernel of the client answers every further byte from the server with a reset.
    client.socket.destroy();
    const { exitCode, requests: counted } = await ended;
    assert.deepEqual([exitCode, counted], [0, { answered: 0, refused: 0, aborted: 0, cut: 0 }]);
  });

  it('A-171 a 504 to a client that resets its connection raises no uncaught error', async (t) => {
    const responses: ServerResponse[] = [];
    const serving = await serve(t, {
      adapter,
      requestTimeout: '50ms',
      listener: ({ socket }, response) => {
        socket.removeAllListeners();
        responses.push(response);
      },
    });
    const client = await serving.dial();
    client.get('/');
    await until(() => responses[0]?.headersSent === true);
    client.reset();
    await until(() => responses[0]?.req.socket.destroyed === true);
    assert.equal((await serving.handle.shutdown('test')).exitCode, 0);
  });

  it("P-051 a client that answers the drain's FIN with a reset causes no uncaught error", async (t) => {
    const requests: IncomingMessage[] = [];
    const serving = await serve(t, {
      adapter,
      listener: (request, response) => {
        request.socket.removeAllListeners('error');
        requests.push(request);
        response.end('ok');
      },
    });
    const client = await serving.dial({ allowHalfOpen: true });
    client.get('/');
    await client.reader.next();
    const ended = serving.handle.shutdown('test');
    await until(() => requests[0]?.socket.writableFinished === true);
    client.reset();
    assert.equal((await ended).exitCode, 0);
  });
});

test('P-051 lameduck ignores socket errors that have a code, such as EPIPE, and no other socket errors; it adds at most one `error` listener to each socket', () => {
  const socket = new Socket();
  ignoreResets(socket);
  ignoreResets(socket);
  assert.equal(socket.listenerCount('error'), 1);
  socket.emit('error', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
  const own = new Error("the program's own");
  assert.throws(() => socket.emit('error', own), own);
  const received: unknown[] = [];
  socket.on('error', (error) => received.push(error));
  socket.emit('error', own);
  assert.deepEqual(received, [own]);
});
