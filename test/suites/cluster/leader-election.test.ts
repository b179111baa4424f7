// Tests leader election on a real cluster, together with real Go programs. Contenders are ended in every way, and the
// audit log of the API server shows whether two of them ever led at once.
//
//   CLUSTER_RUN, CLUSTER_AUDIT_LOG  see leases/contest.ts
//   KUBECTL                         see kubernetes.ts
import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { parse } from 'yaml';
import { parseLease } from '../../../src/leader-election/decision/lease.ts';
import { blocksIn, readPage } from '../../support/markdown.ts';
import { Namespace } from './kubernetes.ts';
import { jobFaults, rejectedWrites, type History, type JobDone } from './leases/audit.ts';
import {
  Contest,
  goPrograms,
  noAuditLog,
  noGoPrograms,
  readHistory,
  type Contender,
  type Program,
} from './leases/contest.ts';

/** The minimum number of times that the holder must change. `--all` of run.ts sets ALL. */
const leastChanges = process.env['ALL'] === '1' ? 50 : 8;
const ways = ['SIGTERM', 'SIGKILL', 'SIGSTOP'] as const;
const sides = ['Node', 'Go'] as const;
type Side = (typeof sides)[number];

const sideOf = ({ program }: Contender): Side => (program === 'worker' ? 'Node' : 'Go');
const now = () => new Date().toISOString().replace('Z', '000Z');

/** Returns the first element with the smallest count. */
function leastOf<One>(all: readonly [One, ...One[]], count: (one: One) => number): One {
  return all.reduce((least, one) => (count(one) < count(least) ? one : least));
}

/**
 * Lease records in the form in which other programs write them: without some fields, or with times in another notation.
 */
const foreign = {
  kubelet: () => ({ holderIdentity: 'node', leaseDurationSeconds: 4, renewTime: now() }),
  fabric8: () => ({
    holderIdentity: 'java',
    leaseDurationSeconds: 4,
    leaseTransitions: 0,
    acquireTime: now().replace('Z', '+00:00'),
    renewTime: now().replace('Z', '+00:00'),
  }),
};
const foreignNames = Object.keys(foreign) as (keyof typeof foreign)[];

describe('a Lease on a real cluster has one leader', { skip: noAuditLog || (await noGoPrograms()) }, () => {
  const namespace = new Namespace('leader-election');
  /** How many Node leaders and how many Go leaders were ended, for each way to end a leader. */
  const ended = new Map<string, number>(sides.flatMap((side) => ways.map((way) => [`${side}, ${way}`, 0])));
  /** resumedWrites has the lines that each suspended worker wrote after it resumed. */
  const resumedWrites: JobDone[] = [];
  let contest: Contest;
  let history: History;

  before(async () => {
    await namespace.create();
    contest = await Contest.create(namespace, 'app', ...foreignNames);
  });

  after(async () => {
    try {
      await contest.end();
    } finally {
      await namespace.delete();
    }
  });

  /**
   * Starts the program that must lead next. If this program is a worker on Node, both Go programs start too, and
   * contend with it for the Lease.
   */
  async function standBy(next: Program): Promise<void> {
    const candidates: Program[] = next === 'worker' ? ['worker', ...goPrograms] : [next];
    const followers = contest.running.filter((one) => one !== contest.leader);
    const superfluous = followers.filter(({ program }) => !candidates.includes(program));
    await Promise.all(superfluous.map((one) => one[Symbol.asyncDispose]()));
    for (const program of candidates) {
      if (!followers.some((one) => one.program === program)) contest.start(program, 'app');
    }
    await contest.until('every candidate contends', 60, () => contest.running.every((one) => one.isContending));
  }

  /**
   * Ends the term of the leader. If the leader was suspended, it is resumed after another contender has become the
   * leader.
   */
  async function endTerm(leader: Contender, way: (typeof ways)[number]): Promise<void> {
    if (way === 'SIGSTOP' && sideOf(leader) === 'Node') {
      // If a worker is suspended after it has logged that it leads, but before its work starts, its work never starts.
      await contest.until('the work of the leader has begun', 60, () => leader.isWorking);
    }
    const lateBefore = leader.lateWrites.length;
    leader.kill(way);
    await contest.until(`another contender leads after ${way}`, 60, () => contest.leader !== leader);
    if (way === 'SIGSTOP') {
      leader.kill('SIGCONT');
      // After the loss of the Lease, a Go program exits, but a worker on Node contends for the Lease again.
      await contest.until(
        'the previous leader has noticed its loss of the Lease',
        60,
        () => leader.lateWrites.length > lateBefore || leader.hasEnded,
      );
      resumedWrites.push(...leader.lateWrites.slice(lateBefore));
    } else {
      await leader.exit;
    }
    ended.set(`${sideOf(leader)}, ${way}`, timesEnded(sideOf(leader), way) + 1);
  }

  const timesLed = (name: Program) => contest.leaders.filter(({ program }) => program === name).length;
  const timesEnded = (side: Side, way: string) => ended.get(`${side}, ${way}`) ?? 0;

  const isCovered = () => contest.leaders.length > leastChanges && [...ended.values()].every((count) => count > 0);

  function tell(t: TestContext): void {
    for (const [what, count] of ended) t.diagnostic(`ended: ${what}: ${String(count)} times`);
    const byAgent = Map.groupBy(history.terms, ({ agent }) => agent.replace(/ .*/, ''));
    for (const [agent, terms] of byAgent) t.diagnostic(`${agent} led ${String(terms.length)} times`);
  }

  it('LT-55 Node and Go never lead at the same time, however a leader ends, and leaseTransitions counts each change of the holder', async (t) => {
    contest.start('worker', 'app');
    await contest.until('a worker leads', 60, () => contest.leader !== undefined);
    while (!isCovered()) {
      const leader = contest.leader as Contender;
      const side = sideOf(leader);
      await standBy(side === 'Go' ? 'worker' : leastOf(goPrograms, timesLed));
      const way = leastOf(ways, (one) => timesEnded(side, one));
      if (contest.leader === leader) await endTerm(leader, way);
    }
    await Promise.all(contest.running.map((contender) => contender[Symbol.asyncDispose]()));
    history = await readHistory(namespace, 'app');
    tell(t);
    assert.deepEqual(history.faults, []);
    assert.ok(
      history.terms.length >= contest.leaders.length,
      'the audit log must have each term that a contender announced',
    );
    for (const program of ['lameduck', ...goPrograms]) {
      assert.ok(
        history.terms.some(({ agent }) => agent.startsWith(program)),
        `${program} must have led`,
      );
    }
  });

  it('LT-55 no worker writes a line outside its term, even after it was suspended and resumed', () => {
    assert.deepEqual(jobFaults(contest.jobs, history.terms), []);
  });

  it('LT-55 a store that checks fencing tokens rejects what a suspended worker writes after it resumes', () => {
    assert.ok(resumedWrites.length > 0);
    assert.deepEqual(rejectedWrites([...contest.jobs, ...resumedWrites], history.terms), resumedWrites);
  });

  it('LT-56 the API server and client-go accept each Lease record that lameduck writes, and Go programs take the Lease over from lameduck', () => {
    const { terms, faults } = history;
    assert.deepEqual(faults, []);
    const isOfNode = (index: number) => terms[index]?.agent.startsWith('lameduck');
    const takeovers = terms.filter((_, index) => index > 0 && isOfNode(index - 1) && !isOfNode(index));
    const returns = terms.filter((_, index) => index > 0 && !isOfNode(index - 1) && isOfNode(index));
    assert.ok(takeovers.length >= 3 && returns.length >= 2, `${String(takeovers.length)}, ${String(returns.length)}`);
  });

  it('LT-56 lameduck parses the Leases of the kubelets', async () => {
    const text = await namespace.kubectl('get', 'leases', '--namespace=kube-node-lease', '--output=json');
    const { items } = JSON.parse(text) as { items: unknown[] };
    assert.ok(items.length > 0);
    for (const item of items) {
      const lease = parseLease(item);
      assert.ok(lease !== undefined && lease.holder !== '' && lease.acquireTime === undefined);
      assert.deepEqual([lease.duration, lease.transitions], [40_000, 0]);
    }
  });

  it('L-040 with the FlowSchema of the documentation, requests of a worker have the priority level of leader election', async () => {
    const [example = ''] = blocksIn(readPage('docs/leader-election.md'))
      .map(({ text }) => text)
      .filter((text) => text.includes('kind: FlowSchema'));
    const own = example.replaceAll('shop-worker', 'worker').replaceAll(/(?<=: |\[)shop\b/g, namespace.name);
    const schema = parse(own) as { metadata: { name: string } };
    await namespace.add(schema);
    try {
      const level = ['prioritylevelconfiguration', 'leader-election', '--output=jsonpath={.metadata.uid}'];
      const uid = await namespace.kubectl('get', ...level);
      const user = `--as=system:serviceaccount:${namespace.name}:worker`;
      // The headers of every response of the API server name the priority level. So the test also works if the Lease
      // does not exist.
      const headers = () => namespace.complaintsOf('get', 'lease', 'app', user, '--v=8').catch(String);
      // The API server applies a new FlowSchema after a moment, and does not say when.
      for (let attempt = 1; !(await headers()).includes(uid); attempt++) {
        assert.ok(attempt < 50, `no response named the priority level ${uid}`);
      }
    } finally {
      await namespace.kubectl('delete', 'flowschema', schema.metadata.name);
    }
  });

  it('LT-56 a Lease record in the form of a kubelet or of fabric8 is taken over only after it has expired', async () => {
    for (const name of foreignNames) {
      const spec = foreign[name]();
      await namespace.add({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name }, spec });
    }
    const workers = foreignNames.map((name) => contest.start('worker', name));
    await contest.until('the workers lead', 60, () => workers.every(({ terms }) => terms === 1));
    await Promise.all(workers.map((worker) => worker[Symbol.asyncDispose]()));
    for (const name of foreignNames) {
      const { terms, faults } = await readHistory(namespace, name);
      assert.deepEqual(faults, []);
      const holders = terms.map(({ agent, transitions }) => `${agent.replace(/[ /].*/, '')} ${String(transitions)}`);
      assert.deepEqual(holders, ['kubectl 0', 'lameduck 1']);
    }
  });
});
