// Tests that leadership moves during a rollout. Each rolling update of the reference service moves the leadership from
// pod to pod, while clients send requests. The audit log of the API server and the log lines of the leaders show when
// the leadership moved.
//
//   CLUSTER_IMAGE_IMPORT, KUBECTL, HELM  see images.ts, kubernetes.ts and release.ts
//   CLUSTER_AUDIT_LOG                    see leases/contest.ts
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { events, settle } from './events.ts';
import { importImages } from './images.ts';
import { Namespace } from './kubernetes.ts';
import { handOversOf, jobFaults, type JobDone } from './leases/audit.ts';
import { noAuditLog, readHistory } from './leases/contest.ts';
import { withHandOvers } from './leases/hand-over-table.ts';
import { Load } from './load.ts';
import { addPrograms } from './program-pods.ts';
import { Release } from './release.ts';
import { failed, sum, table } from './table.ts';

/**
 * True if the option `--all` of run.ts has set the variable ALL. The test then runs longer, and also writes the table
 * of leadership hand-overs into docs/leader-election.md.
 */
const isWhole = process.env['ALL'] === '1';
const rollouts = isWhole ? 20 : 3;
const page = new URL('../../../docs/leader-election.md', import.meta.url);
/**
 * The longest time in milliseconds from the release of the Lease by the previous leader to the first log line of the
 * next leader.
 */
const longestHandOver = 2_000;

const job = (
  stack: string,
  kind: 'kept GET' | 'kept POST' | 'new GET' | 'event stream',
  url: string,
  rest: number,
) => ({
  name: `${stack}, ${kind}`,
  kind,
  url,
  clients: 3,
  rest,
});

describe('leadership on a real cluster', { skip: noAuditLog }, () => {
  const namespace = new Namespace('hand-over');
  const release = new Release(namespace, 'leader', 3, { leaderElection: { enabled: true } });
  let load: Load;

  before(async () => {
    await importImages('../../../docker/build-archive.sh', 'clients/build-archive.sh');
    await namespace.create();
    await addPrograms(namespace);
    await release.apply();
    const url = `http://${await release.address()}`;
    load = await Load.start(namespace, {
      node: [job('Node', 'kept POST', url, 50), job('Node', 'new GET', url, 50), job('Node', 'event stream', url, 0)],
      go: [job('Go', 'kept GET', url, 20), job('Go', 'new GET', url, 50)],
    });
    await settle({ namespace, releases: [release], load });
    await leaderHasWritten();
  });

  after(() => namespace.delete());

  /** The lines that all leaders have logged about their work, including lines of deleted pods. */
  function jobs(): JobDone[] {
    const lines = release.runs().flatMap((run) => run.lines);
    return lines.filter((line) => line.includes('"msg":"job done"')).map((line) => JSON.parse(line) as JobDone);
  }

  /** Resolves when a pod that exists now has logged a line that only a leader writes. */
  async function leaderHasWritten(): Promise<void> {
    const names = release.pods().map(({ metadata }) => metadata.name);
    const runs = release.runs().filter(({ pod }) => names.includes(pod));
    await namespace.until('the leader has written a line', 60, () =>
      runs.some(({ lines }) => lines.some((line) => line.includes('"msg":"job done"'))),
    );
  }

  it('L-141 in each rolling update, the work of the next leader logs its first line less than two seconds after the previous leader has released the Lease', async (t) => {
    const all: number[] = [];
    let terms = (await readHistory(namespace, 'leader')).terms.length;
    for (let rollout = 1; rollout <= rollouts; rollout++) {
      await events['rolling update']({ namespace, releases: [release], load });
      await leaderHasWritten();
      const history = await readHistory(namespace, 'leader');
      const moves = handOversOf(history.terms, jobs()).slice(terms - 1);
      const told = moves.map(({ untilAcquired, untilJobDone }) => `${String(untilAcquired)}/${String(untilJobDone)}`);
      t.diagnostic(`rollout ${String(rollout)}: release to acquisition/first line in ms: ${told.join(', ')}`);
      assert.equal(moves.length, history.terms.length - terms, 'each term must end with a release of the Lease');
      assert.ok(moves.length > 0, 'the leadership must have moved to another pod');
      for (const { untilJobDone } of moves)
        assert.ok(untilJobDone < longestHandOver, `the hand-over took ${String(untilJobDone)} ms`);
      all.push(...moves.map(({ untilJobDone }) => untilJobDone));
      terms = history.terms.length;
    }
    t.diagnostic(`${String(all.length)} hand-overs in ms: ${all.join(', ')}`);
    if (isWhole) writeFileSync(page, withHandOvers(readFileSync(page, 'utf8'), rollouts, all));
  });

  it('L-131, LT-51 two pods never lead at the same time, and fencing tokens never decrease', async () => {
    const { terms, faults } = await readHistory(namespace, 'leader');
    assert.deepEqual(faults, []);
    assert.deepEqual(jobFaults(jobs(), terms), []);
  });

  it('HC-33 during rolling updates in which the leader changes, no client loses a request or is refused', async (t) => {
    const tallies = await load.end();
    for (const line of table([], tallies)) t.diagnostic(line);
    assert.deepEqual(load.warnings, []);
    assert.deepEqual(load.failures, []);
    assert.equal(sum(tallies, failed), 0);
    assert.ok(sum(tallies, ({ requests }) => requests) > 1_000 * rollouts);
  });
});
