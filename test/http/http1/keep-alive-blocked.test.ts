// Tests keep-alive connections while a request handler blocks the event loop of this process.
import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { it } from 'node:test';
import { describeAdaptersInTurn, serve, shutdownOf } from '../../support/serving.ts';

describeAdaptersInTurn((adapter) => {
  it('P-004, P-005 a request that arrives while the event loop is blocked gets its response before its connection gets a FIN', async (t) => {
    const serving = await serve(t, {
      adapter,
      listener: (request, response) => {
        if (request.url === '/block') block(1_500);
        response.end(`answer to ${request.url ?? ''}`);
      },
    });
    const blocker = await serving.dial();
    const waiting = await serving.dial();
    const { ended } = shutdownOf(serving);
    await serving.handle.signals.httpServerStoppedListening.signaled;
    blocker.get('/block');
    // The client runs in the process of the server. The request therefore waits in the kernel until the event loop is
    // no longer blocked.
    waiting.get('/waited');
    assert.equal((await blocker.reader.next())?.status, 200);
    const response = await waiting.reader.next();
    assert.deepEqual([response?.body, response?.isClose], ['answer to /waited', true]);
    assert.equal((await ended).requests.answered, 2);
  });

  it('if the event loop is blocked for longer than the keep-alive timeout, a request that arrives during the block gets its response', async (t) => {
    const listener: RequestListener = (request, response) => response.end(`answer to ${request.url ?? ''}`);
    const serving = await serve(t, { adapter, listener });
    // Node 24 closes an idle connection one second after its keepAliveTimeout. This test therefore blocks the event
    // loop for longer than one second.
    serving.server.keepAliveTimeout = 1;
    const client = await serving.dial();
    client.get('/first');
    assert.equal((await client.reader.next())?.body, 'answer to /first');
    // After the callbacks of setImmediate, Node first runs its timers, and then reads from sockets. So the keep-alive
    // timer is due before Node has read the second request.
    setImmediate(() => {
      client.get('/waited');
      block(1_500);
    });
    assert.equal((await client.reader.next())?.body, 'answer to /waited');
  });

  it('P-017 a connection that is idle for the keep-alive timeout is closed', async (t) => {
    const serving = await serve(t, { adapter, listener: (_request, response) => response.end() });
    serving.server.keepAliveTimeout = 1;
    const client = await serving.dial();
    client.get('/');
    assert.equal((await client.reader.next())?.status, 200);
    assert.equal(await client.reader.next(), undefined);
  });
});

/** `block()` blocks the event loop, as a handler with a long computation does. */
function block(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
