// Tests frameworks in programs that call lameduck(). `.ci/register-programs` runs this file. PROGRAMS is the folder in
// which the frameworks and the packed package are installed.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { disposed } from '../../support/disposed.ts';
import { AdoptedProgram, assertRefusedOnlyAtTheEnd } from './adopted-program.ts';
import { failedOf } from './load.ts';

const root = process.env['PROGRAMS'] ?? '';
const require = createRequire(join(root, 'package.json'));

interface Nest {
  readonly NestFactory: { create(...args: unknown[]): Promise<unknown> };
}
type Constructor = new () => object;

const nest = (...adapter: object[]): Promise<unknown> => {
  const { AppModule } = require('./nest/dist/app.js') as { readonly AppModule: Constructor };
  return (require('@nestjs/core') as Nest).NestFactory.create(AppModule, ...adapter, { logger: false });
};

const takesWhatListenReturns = 'pass the return value of `app.listen()`';
const applications: readonly (readonly [name: string, create: () => unknown, remedy: string])[] = [
  ['express', () => (require('express') as () => unknown)(), `an Express application: ${takesWhatListenReturns}`],
  ['express-4', () => (require('express-4') as () => unknown)(), `an Express application: ${takesWhatListenReturns}`],
  ['koa', () => new (defaultOf(require('koa')) as Constructor)(), `a Koa application: ${takesWhatListenReturns}`],
  ['fastify', () => (require('fastify') as () => unknown)(), 'a Fastify application: pass `app.server`'],
  ['@hapi/hapi', () => (require('@hapi/hapi') as Hapi).server(), 'a hapi server: pass `server.listener`'],
  ['Nest on Express', () => nest(), 'a Nest application: pass `app.getHttpServer()`'],
  [
    'Nest on Fastify',
    () => nest(new (require('@nestjs/platform-fastify') as Fastify).FastifyAdapter()),
    'a Nest application: pass `app.getHttpServer()`',
  ],
];

interface Hapi {
  server(): unknown;
}
interface Fastify {
  readonly FastifyAdapter: Constructor;
}

// require() returns a namespace object for an ECMAScript module.
function defaultOf(module: unknown): unknown {
  return (module as { default?: unknown }).default ?? module;
}

for (const [name, create, remedy] of applications) {
  test(`passing an application of ${name} to lameduck() throws an error that says what to pass`, async () => {
    const { lameduck } = require('lameduck') as { readonly lameduck: (server: unknown) => unknown };
    const application = await create();
    assert.throws(
      () => lameduck(application),
      (error: Error) => error.message.endsWith(`. This is ${remedy}`),
    );
  });
}

for (const adapter of ['express', 'fastify']) {
  test(`P-003, P-111 Nest on ${adapter} with enableShutdownHooks() and lameduck() in code loses no request, and its hooks run once`, async (t) => {
    const program = { folder: 'in-code', args: ['nest.cjs'], env: { ADAPTER: adapter } };
    const adopted = disposed(t, await AdoptedProgram.start(root, program, false));
    await adopted.serving();
    const load = await adopted.loaded();
    const signaledAt = Date.now();
    adopted.kill('SIGTERM');
    // After its hooks, Nest sends the process signal to its own process once more. The exit code is nevertheless the
    // one that lameduck sets.
    assert.equal(await adopted.ended(), '0', adopted.output);
    const clients = await load.ended(2_000);
    assert.deepEqual([adopted.lost(clients), failedOf(clients)], [[], 0], adopted.output);
    assertRefusedOnlyAtTheEnd(clients, signaledAt, adopted.output);
    for (const line of ['module destroyed', 'before shutdown by SIGTERM', 'pool closed']) {
      assert.equal(adopted.countOf(line), 1, `${line}\n${adopted.output}`);
      assert.ok(adopted.output.indexOf(line) > adopted.output.indexOf('"InFlightRequestsDrained"'), line);
    }
  });
}
