// Tests reading the socket table of this machine's kernel, with real sockets.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { test } from 'node:test';
import { readSocketTable } from '../../../src/http/drain/read-socket-table.ts';
import { until } from '../../support/until.ts';

const skip = process.platform === 'linux' ? false : 'only Linux tells';

for (const host of ['127.0.0.1', '::1', '::']) {
  test(
    `the kernel's socket table on ${host} contains a connection until its peer has read all bytes that were sent to it`,
    { skip },
    async () => {
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
    },
  );
}

test(
  'lameduck reads a long socket table of the kernel in more than one turn of the event loop, but in fewer than one turn for each 40 kB',
  { skip },
  async () => {
    const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    // The side that closes a TCP connection first keeps its socket in the kernel's table for a minute, in the state
    // TIME_WAIT.
    for (let round = 0; round < 20; round++) {
      const clients = Array.from({ length: 100 }, () => connect(port, '127.0.0.1').resume());
      await Promise.all(clients.map((client) => once(client, 'close')));
    }
    let turns = 0;
    let hasRead = false;
    const countTurns = (): void => {
      turns++;
      if (!hasRead) setImmediate(countTurns);
    };
    const bytes = readFileSync('/proc/self/net/tcp').length;
    setImmediate(countTurns);
    await readSocketTable();
    hasRead = true;
    await once(server.close(), 'close');
    assert.ok(bytes > 200_000, `the table has ${String(bytes)} bytes`);
    assert.ok(turns > 1 && turns < bytes / 40_000, `${String(turns)} turns for ${String(bytes)} bytes`);
  },
);
