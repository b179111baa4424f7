// Tests programs that close their servers during the shutdown. Some of them close a server in a destroy hook. Others
// give their server its own `close()`, which returns a promise: they assign it to the server, or override it in a
// subclass.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { it } from 'node:test';
import { promisify } from 'node:util';
import type { Http1Server } from '../../../src/http/server.ts';
import { describeAdapters, serve, shutdownOf } from '../../support/serving.ts';
import { serve as serveHttp2, streamsWithoutTls } from '../../support/serving-http2.ts';

type Close = (callback: (error?: Error) => void) => unknown;

const patches = {
  'an async method of a subclass': (server: Http1Server): void => {
    const parent = Object.getPrototypeOf(server) as { readonly close: Close };
    async function close(this: Http1Server): Promise<void> {
      await promisify((callback: (error?: Error) => void) => parent.close.call(this, callback))();
    }
    const subclass = Object.create(parent, { close: { value: close, writable: true, configurable: true } }) as object;
    Object.setPrototypeOf(server, subclass);
  },
  'a function that util.promisify has returned': (server: Http1Server): void => {
    Object.assign(server, { close: promisify(server.close.bind(server)) });
  },
};

const awaitsClose: Readonly<Record<string, (server: Http1Server) => Promise<unknown>>> = {
  'calls close() and awaits the event close': (server) => {
    server.close();
    return once(server, 'close');
  },
  'listens for the event close and calls close()': (server) =>
    new Promise((resolve) => {
      server.on('close', resolve);
      server.close();
    }),
};

describeAdapters((adapter) => {
  for (const [what, close] of Object.entries(awaitsClose)) {
    it(`P-116 a destroy hook that ${what} ends, and older listeners of the event are called after the shutdown`, async (t) => {
      const serving = await serve(t, { adapter, listener: () => undefined });
      const { server, handle } = serving;
      const order: string[] = [];
      const emitted = new Promise<void>((resolve) => {
        server.on('close', () => {
          order.push('close');
          resolve();
        });
      });
      handle.addDestroyHook('pool', () => void order.push('pool'));
      handle.addDestroyHook('server', async () => {
        await close(server);
        order.push('server');
      });
      const record = await shutdownOf(serving).ended;
      assert.deepEqual([record.exitCode, record.hookFailures], [0, []]);
      await emitted;
      assert.deepEqual(order, ['server', 'pool', 'close']);
    });
  }

  for (const [how, patch] of Object.entries(patches)) {
    it(`P-116 if close() of a server is ${how}, its promise resolves after the drain`, async (t) => {
      const held: ServerResponse[] = [];
      const { promise: arrived, resolve } = Promise.withResolvers<undefined>();
      const listener = (_: unknown, response: ServerResponse): void => {
        held.push(response);
        resolve(undefined);
      };
      const serving = await serve(t, { adapter, listener, patch });
      const client = await serving.dial();
      client.get('/');
      await arrived;
      const { ended } = shutdownOf(serving);
      let isClosed = false;
      const closing = serving.server.close() as unknown as Promise<unknown>;
      const closed = closing.then(() => (isClosed = true));
      await serving.handle.signals.httpServerStoppedListening.signaled;
      assert.equal(isClosed, false);
      for (const response of held) response.end('served');
      assert.equal((await ended).exitCode, 0);
      await closed;
    });
  }
});

for (const [timeout, isWarned] of [
  ['20ms', true],
  ['20s', false],
] as const) {
  it(`P-116 if a pre-shutdown hook has a limit of ${timeout} and the program calls close() meanwhile, lameduck ${isWarned ? 'warns that the hook must not await close()' : 'logs no warning'}`, async (t) => {
    const serving = await serve(t, { listener: () => undefined });
    const { server, handle, warnings } = serving;
    const closed = Promise.withResolvers<unknown>();
    handle.addPreShutdownHook(
      'server',
      async () => {
        server.close(closed.resolve);
        if (isWarned) await closed.promise;
      },
      { timeout },
    );
    const record = await handle.shutdown('test');
    await closed.promise;
    assert.equal(record.exitCode, isWarned ? 81 : 0);
    const warning =
      'pre-shutdown hooks timed out while server.close() waited for the end of the drain: "server". A pre-shutdown hook' +
      ' must not await server.close(). Close the server in a destroy hook, or let lameduck close it';
    assert.deepEqual(warnings, isWarned ? [warning] : []);
  });
}

it('P-116 Symbol.asyncDispose of an HTTP/2 server without TLS waits for the end of the drain, and leaves the server listening in the delay', async (t) => {
  const serving = await serveHttp2(t, streamsWithoutTls, { listener: () => undefined });
  const { server, port, handle } = serving;
  const left = Promise.withResolvers<undefined>();
  handle.addPreShutdownHook('leave', () => left.promise);
  const ended = handle.shutdown('test');
  let isDisposed = false;
  const disposed = server[Symbol.asyncDispose]().then(() => (isDisposed = true));
  const client = connect(port, '127.0.0.1');
  await once(client, 'connect');
  client.destroy();
  assert.equal(isDisposed, false);
  left.resolve(undefined);
  assert.equal((await ended).exitCode, 0);
  await disposed;
});

it('P-116 a destroy hook that awaits Symbol.asyncDispose of an HTTP/2 server without TLS ends', async (t) => {
  const { server, handle } = await serveHttp2(t, streamsWithoutTls, { listener: () => undefined });
  handle.addDestroyHook('server', () => server[Symbol.asyncDispose]());
  const record = await handle.shutdown('test');
  assert.deepEqual([record.exitCode, record.hookFailures], [0, []]);
});
