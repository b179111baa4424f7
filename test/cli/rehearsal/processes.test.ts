import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { listenersOf } from '../../../src/cli/rehearsal/processes.ts';

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));

const own = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
  .map(({ address }) => address);

for (const [host, isLoopback, address = host] of [
  ['127.0.0.1', true],
  ['127.0.0.5', true],
  ['127.0.1.1', false],
  ['::1', true],
  // A JVM that listens on 127.0.0.1 has a socket with this address.
  ['::ffff:127.0.0.1', true, '127.0.0.1'],
  ['0.0.0.0', false, '127.0.0.1'],
  ['::', false, '127.0.0.1'],
  ...own.map((one) => [one, false] as const),
] as readonly (readonly [host: string, isLoopback: boolean, address?: string])[]) {
  const skip = process.platform !== 'linux' || (host.includes(':') && !hasIpv6);
  const where = isLoopback ? 'only on loopback' : 'not only on loopback';
  test(
    `the rehearsal finds that a server on ${host} listens ${where}, and can be reached at ${address}`,
    { skip },
    async () => {
      const server = createServer().listen(0, host);
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const found = listenersOf([process.pid]).find((one) => one.port === port);
      server.close();
      assert.deepEqual([found?.isLoopback, found?.address], [isLoopback, address]);
    },
  );
}
