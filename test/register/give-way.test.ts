// Tests that lameduck/register closes its probe port if the program itself listens on the same port.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { test, type TestContext } from 'node:test';
import { giveWay } from '../../src/register/give-way.ts';

async function occupied(t: TestContext): Promise<{ port: number; server: Server }> {
  const server = createServer().listen(0);
  await once(server, 'listening');
  t.after(() => server.close());
  return { server, port: (server.address() as AddressInfo).port };
}

function closing(server: Server): () => Promise<void> {
  return () =>
    new Promise((resolve) =>
      server.close(() => {
        resolve();
      }),
    );
}

for (const [title, create] of [
  ['HTTP', () => createHttpServer()],
  ['any other protocol', () => createServer()],
] as const) {
  test(`with lameduck/register, a server that the program creates (${title}) can listen on the probe port: the callback of listen() is called, and no error occurs`, async (t) => {
    const { port, server } = await occupied(t);
    t.after(giveWay(port, closing(server)));
    const own = create();
    t.after(() => own.close());
    const errors: Error[] = [];
    own.on('error', (error) => errors.push(error));
    await new Promise<void>((resolve) => {
      own.listen({ port, host: '127.0.0.1', backlog: 7 }, resolve);
    });
    assert.deepEqual(own.address(), { address: '127.0.0.1', family: 'IPv4', port });
    assert.deepEqual(errors, []);
    assert.equal(Object.hasOwn(own, 'emit'), false);
  });
}

test('if the program listens on the probe port, lameduck/register hides the first listen error on this port from the program, and no other listen error', async (t) => {
  const { port, server } = await occupied(t);
  const other = await occupied(t);
  let releases = 0;
  t.after(
    giveWay(port, () => {
      releases++;
      return closing(server)();
    }),
  );
  const failed = createServer().listen(other.port);
  const [error] = (await once(failed, 'error')) as [NodeJS.ErrnoException];
  assert.equal(error.code, 'EADDRINUSE');
  assert.equal(releases, 0);

  const first = createServer().listen(port);
  t.after(() => first.close());
  await once(first, 'listening');
  const [again] = (await once(createServer().listen(port), 'error')) as [NodeJS.ErrnoException];
  assert.equal(again.code, 'EADDRINUSE');
  assert.equal(releases, 1);
});
