// Measures the cost of leader election: requests to the API server per hour of a fake clock, and CPU time in real time.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/clock.ts';
import { Contest } from '../../test/leader-election/support/contest.ts';
import { ApiServer } from '../../test/support/api-server.ts';
import { seededRandom } from '../../src/cli/rehearsal/random.ts';

/** Requests holds how many requests of each kind an elector sends to the API server per hour. */
export interface Requests {
  readonly reads: number;
  readonly writes: number;
  readonly watches: number;
}

/**
 * CpuTime holds the CPU time of four processes, in milliseconds per minute. The process `idle` has no elector. The
 * other three each have an elector: the leader, a follower that watches the Lease, and a follower that polls the Lease.
 */
export interface CpuTime {
  readonly idle: number;
  readonly leader: number;
  readonly watching: number;
  readonly polling: number;
  /** The load average of the machine at the end of the measurement. */
  readonly loadAverage: number;
}

export interface Leases {
  readonly leader: Requests;
  readonly watching: Requests;
  readonly polling: Requests;
  readonly cpu: CpuTime;
  readonly effort: LeasesEffort;
}

export interface LeasesEffort {
  /** For how many minutes of a fake clock the benchmark runs electors and counts their requests to the API server. */
  readonly minutes: number;
  /** How long the benchmark measures CPU time, in seconds of real time. */
  readonly seconds: number;
}

const retryPeriod = 2_000;

/**
 * measureLeases measures the CPU time of three replicas, and counts their requests to the API server. The replicas are
 * a leader, a follower with the permission to watch the Lease, and a follower without this permission.
 */
export async function measureLeases(effort: LeasesEffort): Promise<Leases> {
  const [withWatch, without] = [await hourOf(effort.minutes, true), await hourOf(effort.minutes, false)];
  return {
    leader: without.leader,
    watching: withWatch.follower,
    polling: without.follower,
    cpu: await cpuTimes(effort.seconds),
    effort,
  };
}

async function hourOf(minutes: number, isWatchable: boolean): Promise<{ leader: Requests; follower: Requests }> {
  const ends: (() => void)[] = [];
  const contest = await Contest.begin({ after: (end) => ends.push(end) });
  const { server } = contest;
  server.isWatchable = isWatchable;
  const contenders = ['leader', 'follower'].map((token, index) =>
    contest.contender(token, { address: { token }, random: seededRandom(index + 1) }),
  );
  const running: Promise<void>[] = [];
  for (const one of contenders) {
    running.push(one.run());
    await contest.advance(60_000);
  }
  const [calls, watches] = [server.calls.length, contest.watchesBegun];
  for (let passed = 0; passed < minutes; passed++) {
    // An API server ends each watch after the `timeoutSeconds` of the watch.
    if (passed % 5 === 0) for (const watch of server.watches) watch.end();
    await contest.advance(60_000);
  }
  const inHour = (count: number): number => Math.round((count * 60) / minutes);
  const of = (token: string): Requests => {
    const methods = server.calls.slice(calls).flatMap((call) => (call.token === token ? [call.method] : []));
    const reads = methods.filter((method) => method === 'GET').length;
    const begun = token === 'leader' ? 0 : contest.watchesBegun - watches;
    return { reads: inHour(reads), writes: inHour(methods.length - reads), watches: isWatchable ? inHour(begun) : 0 };
  };
  const counted = { leader: of('leader'), follower: of('follower') };
  const stops = contenders.map(({ elector }) => elector.stop());
  await contest.advance(5_000);
  await Promise.all([...stops, ...running]);
  for (const end of ends) end();
  return counted;
}

// The idle process, the leader and the two followers run at the same time. A slow period of the machine then slows all
// four processes equally.
async function cpuTimes(seconds: number): Promise<CpuTime> {
  const servers = [new ApiServer(systemClock), new ApiServer(systemClock)];
  const [watchable, other] = servers as [ApiServer, ApiServer];
  watchable.isWatchable = true;
  const urls = await Promise.all(servers.map((server) => server.listen()));
  const [watchableUrl = '', otherUrl = ''] = urls;
  const renew = (): void => {
    for (const { store } of servers) {
      const time = new Date().toISOString().replace('Z', '000Z');
      const times = { acquireTime: time, renewTime: time };
      store.put('app', { holderIdentity: 'other', leaseDurationSeconds: 15, leaseTransitions: 1, ...times });
    }
  };
  renew();
  const renewals = setInterval(renew, retryPeriod);
  try {
    const [idle = NaN, leader = NaN, watching = NaN, polling = NaN] = await Promise.all([
      contender('', '', seconds),
      contender(otherUrl, 'led', seconds),
      contender(watchableUrl, 'app', seconds),
      contender(otherUrl, 'app', seconds),
    ]);
    if (watchable.calls.length > 5) throw new Error('the follower that watches the Lease has also polled it');
    if (other.store.current('led')?.spec['holderIdentity'] === undefined) throw new Error('no elector has led');
    return { idle, leader, watching, polling, loadAverage: loadavg()[0] as number };
  } finally {
    clearInterval(renewals);
    for (const server of servers) server.close();
  }
}

async function contender(url: string, leaseName: string, seconds: number): Promise<number> {
  const script = fileURLToPath(new URL('./contender.ts', import.meta.url));
  const child = fork(script, [url, leaseName, String(seconds)], {
    env: {},
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const [milliseconds] = (await once(child, 'message')) as [number];
  await once(child, 'close');
  return (milliseconds * 60) / seconds;
}
