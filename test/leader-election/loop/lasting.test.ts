// Runs one leader and two followers in real time, for the number of seconds in LEASE_SECONDS. Without LEASE_SECONDS the
// test is skipped.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock, wallTime } from '../../../src/clock.ts';
import { connect } from '../../../src/leader-election/api-client/api-client.ts';
import { Credentials } from '../../../src/leader-election/api-client/credentials.ts';
import { ElectionLog } from '../../../src/leader-election/loop/election-log.ts';
import { LeaseElector } from '../../../src/leader-election/loop/elector.ts';
import type { Term } from '../../../src/leader-election/loop/term.ts';
import { ApiServer } from '../../support/api-server.ts';
import { until } from '../../support/until.ts';
import { electionOf } from '../support/election.ts';
import { countingResources, type Resources } from '../support/resources.ts';

const seconds = Number(process.env['LEASE_SECONDS'] ?? 0);

const logger = { info: () => undefined, warn: () => undefined, error: () => undefined };

function contender(url: string, identity: string): LeaseElector {
  const contended = electionOf(identity, { retryPeriod: 1_000 });
  const server = { url };
  const credentials = new Credentials(server, systemClock);
  return new LeaseElector({
    election: contended,
    label: contended.name,
    log: new ElectionLog(logger, contended, undefined),
    clock: systemClock,
    wall: wallTime,
    random: Math.random,
    connect: () =>
      connect({
        server,
        credentials,
        name: 'app',
        namespace: 'ns',
        clock: systemClock,
        userAgent: 'test',
        connectTimeout: 3_333,
      }),
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
  'LT-57 while electors run in real time, the number of handles, sockets, timers and event listeners does not grow, and after stop() none is left',
  { skip },
  async (t) => {
    const server = new ApiServer(systemClock);
    server.isWatchable = true;
    const url = await server.listen();
    t.after(() => {
      server.close();
    });
    const count = countingResources(t);
    const before = count();
    const electors = ['a', 'b', 'c'].map((identity) => contender(url, identity));
    const running = electors.map((elector) => elector.run(untilAborted));
    await until(() => server.watches.size === 2);

    // Each entry has the number of handles, sockets, timers and event listeners of this process at one renewal of the
    // Lease.
    const samples: Resources[] = [];
    const { onWrite } = server.store;
    const sampled = new Promise<void>((resolve) => {
      server.store.onWrite = (write) => {
        onWrite(write);
        samples.push(count());
        if (samples.length === seconds) resolve();
      };
    });
    await sampled;
    const third = Math.ceil(seconds / 3);
    for (const kind of ['active', 'listeners'] as const) {
      const counts = samples.map((sample) => sample[kind]);
      const [early, late] = [counts.slice(0, third), counts.slice(-third)].map((some) => Math.max(...some));
      assert.ok((late ?? Infinity) <= (early ?? 0), `the number of ${kind} at each renewal: ${counts.join(' ')}`);
    }
    const sockets = new Set(server.calls.slice(-third).map(({ socket }) => socket));
    assert.equal(
      sockets.size,
      1,
      'the leader must renew on one connection, and followers with a watch must send nothing',
    );
    assert.deepEqual(
      electors.map((elector) => Number(elector.remainingMs() > 0)).sort((one, other) => one - other),
      [0, 0, 1],
    );

    await Promise.all([...electors.map((elector) => elector.stop()), ...running]);
    server.close();
    await until(() => count().active <= before.active && count().listeners <= before.listeners);
  },
);
