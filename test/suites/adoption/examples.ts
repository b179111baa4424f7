// Starts each program of examples/ as its package.json does, ends it with SIGTERM under load, and checks the results of
// its clients. `.ci/register-programs` runs this file. The variable PROGRAMS names the folder in which the examples are
// installed. With LONG=yes, this file also tests the examples whose build takes minutes.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, credentials, status, type ServiceError } from '@grpc/grpc-js';
import { disposed } from '../../support/disposed.ts';
import { until } from '../../support/until.ts';
import { AdoptedProgram, assertRefusedOnlyAtTheEnd } from './adopted-program.ts';
import { failedOf, openWebSockets, type Target } from './load.ts';
import type { Startable } from './program.ts';

const root = process.env['PROGRAMS'] ?? '';
const isLong = process.env['LONG'] === 'yes';

interface Example extends Omit<Startable, 'folder' | 'args'> {
  readonly name: string;
  /**
   * How the example program is started, for the title of the test. Set only if several entries of the list of examples
   * start the same example program in different ways.
   */
  readonly startedBy?: string;
  readonly args?: readonly string[];
  /**
   * True if lameduck/register creates the lifecycle of the example program. By default, the program calls lameduck().
   */
  readonly isRegistered?: boolean;
  /** True if the example program prints before its exit that it has closed its connection pool. */
  readonly hasPool?: boolean;
  /**
   * The expected end of the example program: an exit code or a process signal. The default is exit code 0. After the
   * drain, some frameworks end the process themselves.
   */
  readonly end?: string;
}

const pool = { hasPool: true } as const;
// Without the header `Apollo-Require-Preflight`, Apollo rejects a GET that a browser could send without a preflight.
const graphql = { header: 'Apollo-Require-Preflight: true', quick: query('hello'), slow: query('slow') };

const servers: readonly Example[] = [
  { name: 'fastify', ...pool },
  { name: 'node-http', ...pool },
  { name: 'express', ...pool },
  { name: 'commonjs', ...pool, args: ['main.cjs'] },
  { name: 'nest-express', ...pool, args: ['dist/main.js'] },
  { name: 'nest-fastify', ...pool, args: ['dist/main.js'] },
  { name: 'koa', ...pool },
  { name: 'hono', ...pool },
  { name: 'socket-io', hasWebSockets: true },
  { name: 'apollo', paths: graphql },
  { name: 'node-cluster' },
  { name: 'next-custom-server', ...pool, isLong: true, args: ['server.ts'], env: { NODE_ENV: 'production' } },
  {
    name: 'next-custom-server',
    startedBy: 'next start',
    isLong: true,
    isRegistered: true,
    end: '143',
    args: ['../../node_modules/next/dist/bin/next', 'start'],
  },
  {
    name: 'next-standalone',
    isLong: true,
    isRegistered: true,
    end: '143',
    args: ['.next/standalone/long/examples/next-standalone/server.js'],
  },
  { name: 'nitro', isLong: true, isRegistered: true, args: ['.output/server/index.mjs'] },
  { name: 'sveltekit', ...pool, isLong: true, args: ['server.ts'] },
].filter((example: { isLong?: boolean }) => isLong || example.isLong !== true);

test('the examples depend on the package versions that the tests install', () => {
  assert.ok(existsSync(join(root, 'examples')), root);
  const names = [...servers.map(({ name }) => name), 'grpc', 'queue-worker', 'leader-elected-worker'];
  for (const name of names) {
    const folder = folderOf({ name, isLong: servers.find((one) => one.name === name)?.isLong === true });
    const manifest = readJson(join(root, folder, 'package.json'));
    for (const [dependency, range] of Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })) {
      assert.equal(range, `^${versionOf(join(root, folder), dependency)}`, `${name}: ${dependency}`);
    }
  }
});

void describe('each example loses no request and exits without SIGKILL', { concurrency: 4 }, () => {
  for (const example of servers) {
    const title = [example.name, example.startedBy].filter((part) => part !== undefined).join(', started by ');
    test(`the example ${title} loses no request, and the example program exits without SIGKILL`, async (t) => {
      const program = await started(t, example);
      const sockets = example.hasWebSockets === true ? await openWebSockets(program.targets[0] as Target) : [];
      const load = await program.loaded();
      const signaledAt = Date.now();
      program.kill('SIGTERM');
      const end = await program.ended();
      const clients = await load.ended(2_000);
      assert.deepEqual(program.lost(clients), [], program.output);
      assert.equal(failedOf(clients), 0, program.output);
      assertRefusedOnlyAtTheEnd(clients, signaledAt, program.output);
      assert.ok(sockets.every(({ readyState }) => readyState === WebSocket.CLOSED));
      assert.equal(program.countOf('pool closed'), example.hasPool === true ? 1 : 0, program.output);
      assert.equal(end, example.end ?? '0', program.output);
      assert.match(program.output, /"unfinished":\[\],"hookFailures":\[\]/);
    });
  }

  test('the example grpc loses no call, and its process exits with 0', async (t) => {
    const program = await started(t, { name: 'grpc' }, false);
    const calls = Array.from({ length: 20 }, () => callUntilRefused(program.targets[0] as Target));
    await until(() => calls.every(({ answered }) => answered > 1));
    program.kill('SIGTERM');
    assert.equal(await program.ended(), '0', program.output);
    for (const { ended } of calls) assert.match(await ended, /ECONNREFUSED/);
    assert.match(program.output, /"unfinished":\[\],"hookFailures":\[\]/);
  });

  test('the example queue-worker finishes each job that it has started, and its process exits with 0', async (t) => {
    const program = await started(t, { name: 'queue-worker' }, false);
    await until(() => program.countOf('job 2 started') === 1);
    program.kill('SIGTERM');
    assert.equal(await program.ended(), '0', program.output);
    const lines = program.output.split('\n').filter((line) => /^(job|pool)/.test(line));
    const last = lines.filter((line) => line.endsWith('started')).length;
    assert.deepEqual(lines.slice(-3), [`job ${String(last)} started`, `job ${String(last)} done`, 'pool closed']);
  });

  test('the example leader-elected-worker runs its job as the leader, and releases the Lease for the next leader', async (t) => {
    const env = { LAMEDUCK_LEADER_ELECTION_ALONE: '1' };
    const program = await started(t, { name: 'leader-elected-worker', env }, false);
    await until(() => /^job done with token \d+$/m.test(program.output));
    program.kill('SIGTERM');
    assert.equal(await program.ended(), '0', program.output);
    assert.match(program.output, /"msg":"lease released"/);
  });
});

async function started(t: TestContext, example: Example, isHttp = true): Promise<AdoptedProgram> {
  const startable = { args: ['main.ts'], ...example, folder: folderOf(example) };
  const program = disposed(t, await AdoptedProgram.start(root, startable, example.isRegistered === true));
  if (isHttp) await program.serving();
  await program.probed();
  return program;
}

interface Calls {
  answered: number;
  readonly ended: Promise<string>;
}

/** callUntilRefused sends gRPC calls one after another, until the server refuses a call without running its handler. */
function callUntilRefused({ port }: Target): Calls {
  const client = new Client(`127.0.0.1:${String(port)}`, credentials.createInsecure(), {
    'grpc.use_local_subchannel_pool': 1,
  });
  const bytes = (message: Buffer): Buffer => message;
  const call = (): Promise<ServiceError | null> =>
    new Promise((resolve) => client.makeUnaryRequest('/shop.Greeter/Hello', bytes, bytes, Buffer.alloc(0), resolve));
  const calls = { answered: 0, ended: run() };
  return calls;

  async function run(): Promise<string> {
    await sleep(0);
    for (;;) {
      const error = await call();
      if (error === null) calls.answered++;
      else {
        client.close();
        return error.code === status.UNAVAILABLE ? error.details : `lost: ${error.message}`;
      }
    }
  }
}

function query(field: string): string {
  return `/graphql?query=%7B${field}%7D`;
}

function folderOf({ name, isLong: isHeavy = false }: { name: string; isLong?: boolean }): string {
  return join(isHeavy ? 'long/examples' : 'examples', name);
}

interface Manifest {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** The version of a package that a program in the folder would load. */
function versionOf(folder: string, name: string): string {
  const path = join(folder, 'node_modules', name, 'package.json');
  return existsSync(path) ? readJson(path).version : versionOf(join(folder, '..'), name);
}

function readJson(path: string): Manifest {
  return JSON.parse(readFileSync(path, 'utf8')) as Manifest;
}
