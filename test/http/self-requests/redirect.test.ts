// Tests that every way to open a connection is intercepted, and that the patched prototype is restored afterwards.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, Socket } from 'node:net';
import { test } from 'node:test';
import { tcpHandleOf } from '../../../src/node-internals.ts';
import { redirectConnects } from '../../../src/http/self-requests/redirect.ts';
import { listen } from '../../support/listening.ts';

test('A-126 redirectConnects() intercepts each connection attempt after the DNS lookup, with the IP address of the target; the returned function restores the original prototype', async (t) => {
  const server = createServer((socket) => socket.end('elsewhere'));
  const port = await listen(t, server);
  const handle = tcpHandleOf(server);
  assert.ok(handle);
  const before = { ...(Object.getPrototypeOf(handle) as object) };
  const seen: string[] = [];
  const redirect = redirectConnects(handle, ({ address, port: asked, toLoopback }) => {
    seen.push(`${address} ${String(asked)}`);
    return asked === 1 && toLoopback(port);
  });
  for (const host of ['192.0.2.1', 'localhost', '::1']) {
    const socket = new Socket().connect(1, host);
    const [data] = (await once(socket, 'data')) as [Buffer];
    assert.equal(String(data), 'elsewhere');
    socket.destroy();
  }
  const other = connect(port, '127.0.0.1');
  await once(other, 'connect');
  other.destroy();
  assert.equal(seen.length, 4);
  assert.deepEqual([seen[0], seen[2], seen[3]], ['192.0.2.1 1', '::1 1', `127.0.0.1 ${String(port)}`]);
  assert.match(seen[1] ?? '', /^(127\.0\.0\.1|::1) 1$/);
  redirect();
  assert.deepEqual({ ...(Object.getPrototypeOf(handle) as object) }, before);
});

test('A-126 if redirectConnects() was called twice, its two interceptors can be removed in any order: after the removal of the one that was added first, the other still works', async (t) => {
  const server = createServer((socket) => socket.end());
  const port = await listen(t, server);
  const handle = tcpHandleOf(server);
  assert.ok(handle);
  const prototype = Object.getPrototypeOf(handle) as { connect: unknown };
  const before = prototype.connect;
  let count = 0;
  const endFirst = redirectConnects(handle, () => false);
  const endSecond = redirectConnects(handle, () => count++ < 0);
  endFirst();
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.destroy();
  assert.equal(count, 1);
  endSecond();
  assert.equal(prototype.connect, before);
});
