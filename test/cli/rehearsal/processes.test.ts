import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { listenersOf } from '../../../src/cli/rehearsal/processes.ts';

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));

for (const [host, isLoopback] of [
  ['127.0.0.1', true],
  ['::1', true],
  // If a JVM listens on 127.0.0.1, its socket has the address ::ffff:127.0.0.1.
  ['::ffff:127.0.0.1', true],
  ['0.0.0.0', false],
  ['::', false],
] as const) {
  const skip = process.platform !== 'linux' || (host.includes(':') && !hasIpv6);
  const where = isLoopback ? 'only on loopback' : 'not only on loopback';
  test(`if a server listens on ${host}, the rehearsal reports that the server listens ${where}`, { skip }, async () => {
    const server = createServer().listen(0, host);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const found = listenersOf([process.pid]).find((one) => one.port === port);
    server.close();
    assert.equal(found?.isLoopback, isLoopback);
  });
}
