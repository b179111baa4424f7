// One leader and two followers in real time. LEASE_SECONDS says for how long; without it the test is skipped.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock, wallTime } from '../../src/clock.ts';
import { connect } from '../../src/leader-election/api-client.ts';
import { Credentials } from '../../src/leader-election/api-server.ts';
import { ElectionLog } from '../../src/leader-election/election-log.ts';
import { LeaseElector } from '../../src/leader-election/elector.ts';
import type { Term } from '../../src/leader-election/term.ts';
import { ApiServer } from '../support/api-server.ts';
import { until } from '../support/until.ts';
import { election } from './support/contest.ts';

const seconds = Number(process.env['LEASE_SECONDS'] ?? 0);

const logger = { info: () => undefined, warn: () => undefined, error: () => undefined };

function contender(url: string, identity: string): LeaseElector {
  const contended = election(identity, { leaseDuration: 15_000, renewDeadline: 10_000, retryPeriod: 1_000 });
  const server = { url };
  const credentials = new Credentials(server, systemClock);
  return new LeaseElector({
    ...{ election: contended, log: new ElectionLog(logger, contended, undefined), clock: systemClock, wall: wallTime },
    random: Math.random,
    connect: () => connect({ server, credentials, name: 'app', namespace: 'ns', userAgent: 'test' }),
    record: () => undefined,
    onLoss: () => true,
    exit: () => {
      throw new Error('work outlived its term');
    },
  });
}

function untilAborted({ signal }: Term): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      resolve();
    });
  });
}

const skip = seconds > 0 ? false : 'LEASE_SECONDS=300 runs it';

test(
  'LT-57 handles, sockets and timers are constant in real time, and none is left after the stop',
  { skip },
  async (t) => {
    const server = new ApiServer(systemClock);
    server.isWatchable = true;
    const url = await server.listen();
    t.after(() => {
      server.close();
    });
    const before = process.getActiveResourcesInfo().length;
    const electors = ['a', 'b', 'c'].map((identity) => contender(url, identity));
    const running = electors.map((elector) => elector.run(untilAborted));
    await until(() => server.watches.size === 2);

    // One sample for each renewal, when it has been stored.
    const samples: number[] = [];
    const { onWrite } = server.store;
    const sampled = new Promise<void>((resolve) => {
      server.store.onWrite = (write) => {
        onWrite(write);
        samples.push(process.getActiveResourcesInfo().length);
        if (samples.length === seconds) resolve();
      };
    });
    await sampled;
    const third = Math.ceil(seconds / 3);
    const [early, late] = [samples.slice(0, third), samples.slice(-third)].map((some) => Math.max(...some));
    assert.ok((late ?? Infinity) <= (early ?? 0), `resources at each renewal: ${samples.join(' ')}`);
    const sockets = new Set(server.calls.slice(-third).map(({ socket }) => socket));
    assert.equal(sockets.size, 1, 'the leader renews on one connection, and followers that watch send nothing');
    assert.deepEqual(
      electors.map((elector) => Number(elector.remainingMs() > 0)).sort((one, other) => one - other),
      [0, 0, 1],
    );

    await Promise.all([...electors.map((elector) => elector.stop()), ...running]);
    server.close();
    await until(() => process.getActiveResourcesInfo().length <= before);
  },
);
