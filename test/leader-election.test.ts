import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { afterEach, test } from 'node:test';
import { promisify } from 'node:util';
import { systemClock } from '../src/clock.ts';
import { createElector } from '../src/leader-election.ts';
import { ApiServer } from './support/api-server.ts';

const alone = 'LAMEDUCK_LEADER_ELECTION_ALONE';
const logger = { info: () => undefined, warn: () => undefined, error: () => undefined };

afterEach(() => {
  process.env[alone] = '';
});

test('with LAMEDUCK_LEADER_ELECTION_ALONE an elector leads without a cluster, and each call of run() gets a greater decimal fencing token', async () => {
  process.env[alone] = '1';
  const elector = createElector({ leaseName: 'alone', identity: 'a', logger });
  const tokens: string[] = [];
  for (let round = 0; round < 2; round++) {
    await elector.run(({ token, assertLeader }) => {
      assertLeader();
      assert.ok(elector.isLeader() && elector.remainingMs() > 9_000);
      tokens.push(token);
    });
  }
  assert.match(tokens.join(), /^\d+,\d+$/);
  assert.ok(BigInt(tokens[1] ?? 0) > BigInt(tokens[0] ?? 0));
  assert.equal(elector.leader, 'a');
  assert.equal(elector.isLeader(), false);
  await elector.stop();
});

test('a second elector for a Lease is rejected until the first one has stopped', async () => {
  process.env[alone] = '1';
  const create = (): ReturnType<typeof createElector> => createElector({ leaseName: 'one', logger });
  const first = create();
  assert.throws(create, { code: 'LAMEDUCK_ERR_LEASE_TAKEN' });
  assert.equal(await first.stop(), false);
  const second = create();
  await first.stop();
  assert.throws(create, { code: 'LAMEDUCK_ERR_LEASE_TAKEN' });
  await second.stop();
});

test('L-120 createElector() throws outside of a cluster', () => {
  for (const namespace of [{ leaseNamespace: 'ns' }, {}]) {
    assert.throws(() => createElector({ leaseName: 'app', ...namespace, logger }), {
      code: 'LAMEDUCK_ERR_NOT_IN_CLUSTER',
    });
  }
});

test('an elector does not replace the undici dispatcher that a program has set for the global fetch', async (t) => {
  const api = new ApiServer(systemClock);
  const url = await api.listen();
  t.after(() => {
    api.close();
  });
  const global = globalThis as unknown as Record<symbol, unknown>;
  const key = Symbol.for('undici.globalDispatcher.1');
  const dispatcher = { dispatch: () => true };
  global[key] = dispatcher;
  // Simulate an older version of undici in this process. The older version has set a global dispatcher for version 1 of
  // the dispatcher interface, but none for version 2.
  global[Symbol.for('undici.globalDispatcher.2')] = undefined;
  const elector = createElector({ leaseName: 'app', leaseNamespace: 'ns', apiServer: { url }, logger });
  await elector.run(() => undefined);
  await elector.stop();
  assert.equal(global[key], dispatcher);
});

test('undici is loaded when an elector first runs, and not before', async (t) => {
  const api = new ApiServer(systemClock);
  const url = await api.listen();
  t.after(() => {
    api.close();
  });
  const program = `
    const { createElector } = require('lameduck/leader-election');
    const isLoaded = () => Object.keys(require.cache).some((path) => path.includes('undici'));
    const elector = createElector({ leaseName: 'app', leaseNamespace: 'ns', apiServer: { url: '${url}' } });
    console.log(isLoaded());
    elector.run(() => console.log(isLoaded())).then(() => elector.stop());
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--eval', program]);
  const lines = stdout.split('\n').filter((line) => !line.startsWith('{'));
  assert.deepEqual(lines, ['false', 'true', '']);
});
