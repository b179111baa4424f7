import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { createElector } from '../src/leader-election.ts';

const alone = 'LAMEDUCK_LEADER_ELECTION_ALONE';
const logger = { info: () => undefined, warn: () => undefined, error: () => undefined };

afterEach(() => {
  process.env[alone] = '';
});

test('alone, an elector leads without a cluster, with tokens of digits that increase', async () => {
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

test('a second elector on a Lease is refused until the first one has stopped', async () => {
  process.env[alone] = '1';
  const create = (): ReturnType<typeof createElector> => createElector({ leaseName: 'one', logger });
  const first = create();
  assert.throws(create, { code: 'LAMEDUCK_ERR_LEASE_TAKEN' });
  assert.equal(await first.stop(), false);
  await create().stop();
});

test('L-120 outside a cluster there is no elector', () => {
  assert.throws(() => createElector({ leaseName: 'app', leaseNamespace: 'ns', logger }), {
    code: 'LAMEDUCK_ERR_NOT_IN_CLUSTER',
  });
});
