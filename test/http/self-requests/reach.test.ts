// Tests how lameduck recognizes connections that a process opens to its own servers, by the addresses on which the
// servers listen.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { test, type TestContext } from 'node:test';
import { reachOf, type Reach } from '../../../src/http/self-requests/reach.ts';
import { listen } from '../../support/listening.ts';

async function reachAt(t: TestContext, host: string): Promise<Reach> {
  const server = createServer();
  const port = await listen(t, server, host);
  const [reach] = reachOf([server]);
  assert.equal(reach?.port, port);
  return reach;
}

const own = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
const ownIPv4 = own.filter(({ family }) => family === 'IPv4').map(({ address }) => address);

test('A-126 a server that listens on every IPv4 address can be reached at each of them, and at no IPv6 address', async (t) => {
  const reach = await reachAt(t, '0.0.0.0');
  for (const address of ['0.0.0.0', '127.0.0.1', '127.9.9.9', '::ffff:127.0.0.1', ...ownIPv4]) {
    assert.ok(reach.has(address), address);
  }
  for (const address of ['::1', '::', '192.0.2.1', '2001:db8::1']) assert.ok(!reach.has(address), address);
});

test('A-126 a server that listens on every IPv6 address can also be reached at the IPv4 addresses', async (t) => {
  const reach = await reachAt(t, '::');
  for (const address of [
    '::',
    '::1',
    '0:0:0:0:0:0:0:1',
    '0.0.0.0',
    '127.0.0.1',
    ...own.map(({ address: one }) => one),
  ]) {
    assert.ok(reach.has(address), address);
  }
  for (const address of ['192.0.2.1', '2001:db8::1']) assert.ok(!reach.has(address), address);
});

test('A-126 a server that listens on one address can be reached only at that address', async (t) => {
  const reach = await reachAt(t, '127.0.0.1');
  assert.ok(reach.has('127.0.0.1'));
  for (const address of ['127.0.0.2', '::1', ...ownIPv4.filter((one) => one !== '127.0.0.1')]) {
    assert.ok(!reach.has(address), address);
  }
});

test('A-126 if an IPv4 server and an IPv6 server have the same port, an IPv4 address reaches the first, and an IPv6 address the second', async (t) => {
  const [first, second] = [createServer(), createServer()];
  const port = await listen(t, first, '0.0.0.0');
  second.listen({ port, host: '::', ipv6Only: true });
  t.after(() => second.close());
  while ((second.address() as AddressInfo | null) === null)
    await new Promise((resolve) => second.once('listening', resolve));
  const reaches = reachOf([second, first]);
  assert.equal(reaches.find((reach) => reach.has('127.0.0.1'))?.server, first);
  assert.equal(reaches.find((reach) => reach.has('::1'))?.server, second);
});

test('A-126 reachOf() returns an empty list for a server that does not listen', () => {
  assert.deepEqual(reachOf([createServer()]), []);
});
