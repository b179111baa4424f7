// Tests reading the socket table of this machine's kernel, with real sockets.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { test } from 'node:test';
import { readSocketTable } from '../../../src/http/drain/read-socket-table.ts';
import { until } from '../../support/until.ts';

const skip = process.platform === 'linux' ? false : 'only Linux tells';

for (const host of ['127.0.0.1', '::1', '::']) {
  test(`the kernel's socket table shows a peer that does not read, until it reads: ${host}`, { skip }, async () => {
    const server = createServer({ allowHalfOpen: true }).listen(0, host);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const client = connect({ port, host: host === '::' ? '127.0.0.1' : host });
    const [accepted] = (await once(server, 'connection')) as [Socket];
    const { remotePort, remoteAddress } = accepted;
    const rowOf = async () => (await readSocketTable()).find((row) => row.remotePort === remotePort);

    accepted.write(Buffer.alloc(8_000_000));
    await until(() => accepted.bytesWritten > 0);
    const waiting = await rowOf();
    assert.equal(waiting?.localPort, port);
    assert.equal(waiting.remoteAddress, remoteAddress);
    assert.ok(waiting.bytes > 0);
    assert.equal(waiting.isOrphan, false);

    client.resume();
    await once(accepted, 'drain');
    while ((await rowOf()) !== undefined);
    client.destroy();
    accepted.destroy();
    await once(server.close(), 'close');
  });
}
