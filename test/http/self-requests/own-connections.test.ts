// Tests that the drain ends the connections of other clients first, and then those that the process has opened to its
// own server.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeAdapters, serve } from '../../support/serving.ts';

describeAdapters((adapter) => {
  it('A-126 a silent connection of the process to itself is ended after the connections of all other clients', async (t) => {
    const serving = await serve(t, { adapter, listener: () => undefined });
    const [client, own] = [await serving.dial(), await serving.dial()];
    const ended = serving.handle.shutdown('test');
    await serving.handle.signals.httpServerStoppedListening.signaled;
    // The test process opens both connections. The test makes lameduck treat only the connection `own`, recognized by
    // its port, as a connection of the process to itself.
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
