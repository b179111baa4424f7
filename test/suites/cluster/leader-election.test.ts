// Tests leader election on a real cluster. Node.js programs with lameduck and Go programs of Kubernetes contend for one
// Lease. The test terminates, kills or suspends the leaders. The audit log of the API server shows whether two programs
// ever led at the same time.
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

/**
 * The minimum number of changes of the holder of the Lease in this test. The option `--all` of run.ts sets the variable
 * ALL, and so raises this number.
 */
const leastChanges = process.env['ALL'] === '1' ? 50 : 8;
const ways = ['SIGTERM', 'SIGKILL', 'SIGSTOP'] as const;
const sides = ['Node', 'Go'] as const;
type Side = (typeof sides)[number];

const sideOf = ({ program }: Contender): Side => (program === 'worker' ? 'Node' : 'Go');
const now = () => new Date().toISOString().replace('Z', '000Z');

/**
 * Returns the element for which the function `count` returns the smallest number. Among several such elements, returns
 * the first.
 */
function leastOf<One>(all: readonly [One, ...One[]], count: (one: One) => number): One {
  return all.reduce((least, one) => (count(one) < count(least) ? one : least));
}

/**
 * Specs of Leases as a kubelet and the Java client fabric8 write them. The kubelet omits some fields, and fabric8
 * writes times in another format.
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

describe(
  'on a real cluster, a Lease never has two leaders at the same time',
  { skip: noAuditLog || (await noGoPrograms()) },
  () => {
    const namespace = new Namespace('leader-election');
    /** How often the test sent each process signal to a leader, counted separately for leaders in Node.js and in Go. */
    const ended = new Map<string, number>(sides.flatMap((side) => ways.map((way) => [`${side}, ${way}`, 0])));
    /**
     * The writes that suspended workers sent after they were resumed. By then, these workers were no longer the leader.
     */
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
     * Starts the processes of which one will become the next leader. Stops all other processes except the present
     * leader. If `next` is the Node.js program, kube-scheduler and kube-controller-manager also contend for the Lease.
     * Otherwise only `next` contends.
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
     * Sends the process signal `way` to the leader, and waits until another process has become the leader. If the
     * signal is SIGSTOP, the function then resumes the suspended process.
     */
    async function endTerm(leader: Contender, way: (typeof ways)[number]): Promise<void> {
      if (way === 'SIGSTOP' && sideOf(leader) === 'Node') {
        // A worker first logs that it leads, and then starts its work. If the test suspended the worker before this
        // work has started, the work would never start. So the test waits for the start.
        await contest.until('the work of the leader has begun', 60, () => leader.isWorking);
      }
      const lateBefore = leader.lateWrites.length;
      leader.kill(way);
      await contest.until(`another contender leads after ${way}`, 60, () => contest.leader !== leader);
      if (way === 'SIGSTOP') {
        leader.kill('SIGCONT');
        // After SIGCONT, the previous leader notices that it has lost the Lease. A Go program then exits. A Node.js
        // worker contends for the Lease again.
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

    it('LT-55 a Node.js program and a Go program never lead at the same time, whether the leader is terminated, killed or suspended, and leaseTransitions counts each new holder of the Lease', async (t) => {
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

    it('LT-55 every worker logs leader work only while it holds the Lease, even if it was suspended and resumed', () => {
      assert.deepEqual(jobFaults(contest.jobs, history.terms), []);
    });

    it('LT-55 after a suspended worker has lost the Lease and resumed, a store that checks fencing tokens rejects the writes of this worker', () => {
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

    it('L-040 with the FlowSchema of docs/leader-election.md, the API server gives the requests of a worker the priority level `leader-election`', async () => {
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
        // The API server names the priority level in the headers of every response, even of a 404. So the test can
        // request a Lease that does not exist.
        const headers = () => namespace.complaintsOf('get', 'lease', 'app', user, '--v=8').catch(String);
        // The API server applies a new FlowSchema after a short time, and does not report when.
        for (let attempt = 1; !(await headers()).includes(uid); attempt++) {
          assert.ok(attempt < 50, `no response named the priority level ${uid}`);
        }
      } finally {
        await namespace.kubectl('delete', 'flowschema', schema.metadata.name);
      }
    });

    it('LT-56 a worker takes over a Lease that a kubelet or the library fabric8 has written, but only after this Lease has expired', async () => {
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
  },
);
