// Tests the order in which the drain ends connections. The connections that the process has opened to its own server
// end after the connections of all other clients.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeAdapters, serve } from '../../support/serving.ts';

describeAdapters((adapter) => {
  it('A-126 an idle connection that the process has opened to its own server is ended after the connections of all other clients', async (t) => {
    const serving = await serve(t, { adapter, listener: () => undefined });
    const [client, own] = [await serving.dial(), await serving.dial()];
    const ended = serving.handle.shutdown('test');
    await serving.handle.signals.httpServerStoppedListening.signaled;
    // The test process opens both connections. `isOwn` recognizes the connection `own` by its port, so that lameduck
    // considers only `own` as a connection of the process to itself.
    const isOwn = ({ remotePort }: { remotePort?: number | undefined }): boolean => remotePort === own.socket.localPort;
    serving.traffic.own.recognize(isOwn);
    for (const connection of serving.traffic.connections) {
      if (isOwn(connection.socket)) connection.beginSilence(-Infinity);
    }
    const order: string[] = [];
    await Promise.all([
      client.reader.ended.then(() => order.push('the client')),
      own.reader.ended.then(() => order.push('the process')),
    ]);
    assert.deepEqual(order, ['the client', 'the process']);
    assert.equal((await ended).exitCode, 0);
  });
});
