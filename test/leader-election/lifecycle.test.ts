// Tests an elector in a process that also has a server with a lifecycle. The elector has its own metrics, and a check
// in the health endpoints.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { lameduck } from '../../src/index.ts';
import { createElector, type Elector } from '../../src/leader-election.ts';
import { ApiServer } from '../support/api-server.ts';
import { Exposition } from '../support/exposition.ts';

const logger = { info: () => undefined, warn: () => undefined, error: () => undefined };

interface Served {
  readonly api: ApiServer;
  readonly elector: Elector;
  readonly ask: (path: string) => Promise<string>;
  readonly shutdown: () => Promise<unknown>;
}

async function served(t: TestContext, others: readonly string[] = []): Promise<Served> {
  const api = new ApiServer(systemClock);
  const url = await api.listen();
  const server = createServer((_request, response) => response.end());
  const duck = lameduck(server, { logger, metricsPath: '/metrics' });
  const elector = createElector({
    leaseName: 'app',
    leaseNamespace: 'ns',
    identity: 'a',
    lifecycle: duck,
    apiServer: { url },
  });
  for (const leaseNamespace of others)
    createElector({ leaseName: 'app', leaseNamespace, lifecycle: duck, apiServer: { url } });
  server.listen(0, '127.0.0.1');
  await duck.signals.hasBeenReady.signaled;
  const { port } = server.address() as AddressInfo;
  t.after(() => {
    api.close();
  });
  return {
    api,
    elector,
    shutdown: () => duck.shutdown('end of the test'),
    ask: async (path) => (await fetch(`http://127.0.0.1:${String(port)}${path}`)).text(),
  };
}

/**
 * `lead()` calls `run()` of the elector, and resolves when the elector has become the leader. `running` is the promise
 * of `run()`.
 */
async function lead(elector: Elector): Promise<{ readonly running: Promise<void> }> {
  let leads: () => void = () => undefined;
  const leading = new Promise<void>((resolve) => (leads = resolve));
  const running = elector.run(async ({ signal }) => {
    leads();
    await new Promise((resolve) => {
      signal.addEventListener('abort', resolve);
    });
  });
  await leading;
  return { running };
}

function samplesIn(text: string): Record<string, number | undefined> {
  const { families } = new Exposition(text);
  const names = [...families.keys()].filter((name) => name.includes('leader_election_'));
  return Object.fromEntries(
    names.map((name) => {
      const [sample, ...others] = families.get(name)?.samples ?? [];
      assert.deepEqual(others, []);
      if (sample !== undefined) assert.deepEqual(sample.labels, { name: 'app' });
      return [name, sample?.value];
    }),
  );
}

test("L-113, LT-40 a scrape during or after the leadership of an elector contains client-go's leader election metrics and two metrics that only lameduck has", async (t) => {
  const { elector, ask, shutdown } = await served(t);
  const before = samplesIn(await ask('/metrics'));
  assert.deepEqual(before, {
    leader_election_master_status: 0,
    leader_election_slowpath_total: 0,
    lameduck_leader_election_attempt_duration_seconds: undefined,
    lameduck_leader_election_renewal_age_seconds: undefined,
  });
  const { running } = await lead(elector);
  const during = samplesIn(await ask('/metrics'));
  assert.equal(during['leader_election_master_status'], 1);
  assert.ok((during['lameduck_leader_election_attempt_duration_seconds'] ?? -1) >= 0);
  assert.ok((during['lameduck_leader_election_renewal_age_seconds'] ?? -1) >= 0);
  await elector.stop();
  await running;
  const after = samplesIn(await ask('/metrics'));
  assert.equal(after['leader_election_master_status'], 0);
  assert.equal(after['lameduck_leader_election_renewal_age_seconds'], undefined);
  await shutdown();
});

test('L-103, L-123, L-141 an elector adds a check to /livez but not to /readyz, and releases its Lease at the shutdown', async (t) => {
  const { api, elector, ask, shutdown } = await served(t);
  assert.match(await ask('/livez?verbose'), /^\[\+\]leader-election\/app ok$/m);
  assert.doesNotMatch(await ask('/readyz?verbose'), /leader-election/);
  const { running } = await lead(elector);
  await shutdown();
  await running;
  assert.equal(api.store.current('app')?.spec['holderIdentity'], '');
  assert.deepEqual([...new Set(api.calls.map(({ userAgent }) => userAgent))], ['lameduck leader-election']);
});

test('L-170 two electors have separate metrics and checks if their Leases have the same name in different namespaces', async (t) => {
  const { ask, shutdown } = await served(t, ['ns-2']);
  const { families } = new Exposition(await ask('/metrics'));
  const samples = families.get('leader_election_master_status')?.samples ?? [];
  assert.deepEqual(
    samples.map(({ labels }) => labels),
    [{ name: 'app' }, { name: 'ns-2/app' }],
  );
  const checks = await ask('/livez?verbose');
  assert.match(checks, /^\[\+\]leader-election\/app ok$/m);
  assert.match(checks, /^\[\+\]leader-election\/ns-2\/app ok$/m);
  await shutdown();
});

test("L-141 when the shutdown begins, /readyz fails and the leader's work is aborted; the elector holds the Lease until the work has ended", async (t) => {
  const { api, elector, ask, shutdown } = await served(t);
  const leading = Promise.withResolvers<unknown>();
  const aborted = Promise.withResolvers<unknown>();
  const finished = Promise.withResolvers<unknown>();
  const running = elector.run(({ signal }) => {
    signal.addEventListener('abort', aborted.resolve);
    leading.resolve(undefined);
    return finished.promise;
  });
  await leading.promise;
  const ended = shutdown();
  await aborted.promise;
  assert.match(await ask('/readyz'), /^\[-\]shutdown failed/m);
  const holder = (): unknown => api.store.current('app')?.spec['holderIdentity'];
  assert.equal(holder(), 'a');
  finished.resolve(undefined);
  await ended;
  await running;
  assert.equal(holder(), '');
});
