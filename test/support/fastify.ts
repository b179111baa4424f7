// Creates Fastify applications for tests of the plugin, and connections to them.
import { once } from 'node:events';
import { connect, type AddressInfo, type NetConnectOpts } from 'node:net';
import type { TestContext } from 'node:test';
import type { FastifyInstance, FastifyServerOptions } from 'fastify';
import fastifyLameduck, { type LameduckOptions } from '../../src/fastify.ts';
import type { Logger } from '../../src/observers/logger.ts';
import { Fastify } from './fastify-under-test.ts';
import { Client } from './serving.ts';

export { Fastify };

/** silentLogger discards the log, so that it does not appear in the output of the tests. */
export const silentLogger: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined };

/**
 * PluginOptions has the options in the types that Fastify accepts. With `exactOptionalPropertyTypes`, Fastify does not
 * accept undefined as `logLevel`.
 */
export type PluginOptions = Omit<LameduckOptions, 'logLevel'>;

/** createApp creates an application with the plugin. The application is closed when the test ends. */
export async function createApp(
  test: TestContext,
  options: PluginOptions = {},
  serverOptions: FastifyServerOptions = {},
): Promise<FastifyInstance> {
  const app = Fastify(serverOptions);
  // A short shutdown budget, for connections that a test leaves open. With the default budget, these connections would
  // delay the end of the test.
  test.after(() => app.lameduck.shutdown('end of the test', { budget: 1 }));
  await app.register(fastifyLameduck, { logger: silentLogger, ...options });
  return app;
}

/** `listen()` starts an application on a free port, and resolves when the application is ready. */
export async function listen(app: FastifyInstance, host = '127.0.0.1'): Promise<number> {
  await app.listen({ host, port: 0 });
  await app.lameduck.signals.hasBeenReady.signaled;
  return (app.server.address() as AddressInfo).port;
}

/** `dial()` connects to the server under test. The connection is closed when the test ends. */
export async function dial(test: TestContext, to: number | NetConnectOpts): Promise<Client> {
  const socket = connect(typeof to === 'number' ? { port: to, host: '127.0.0.1' } : to);
  test.after(() => socket.destroy());
  await once(socket, 'connect');
  return new Client(socket);
}

/** recordCloses records the names and times of an application's close hooks. */
export function recordCloses(app: FastifyInstance): { readonly names: string[]; readonly times: number[] } {
  const names: string[] = [];
  const times: number[] = [];
  const note = (name: string): void => {
    names.push(name);
    times.push(performance.now());
  };
  app.addHook('preClose', async () => {
    note('preClose');
  });
  app.addHook('onClose', async () => {
    note('onClose');
  });
  app.lameduck.addDestroyHook('pool', () => {
    note('pool');
  });
  return { names, times };
}
