// Compares rehearsals with the cluster that KUBECONFIG names, and writes docs/rehearsal-truth.md. This program runs
// every pod of cases.ts, and a rolling update of every server of losses/servers.ts, on the cluster and in a rehearsal.
// Its exit code is 0 if the results agree.
//
//   main.ts [NAME...]   only these cases and servers; writes no page
//   main.ts losses      only the servers; writes their section of the page
//
//   CLUSTER_IMAGE_IMPORT, KUBECTL, HELM  see ../images.ts, ../kubernetes.ts and ../release.ts
//   CLUSTER_PROXY_LAG                    optional; see ../kube-proxy.ts
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { importImages } from '../images.ts';
import { Namespace } from '../kubernetes.ts';
import { addPrograms } from '../program-pods.ts';
import { compare, type Account } from './account.ts';
import { cases } from './cases.ts';
import { inRehearsal } from './in-rehearsal.ts';
import { compareLosses, hasAgreed } from './losses/compare.ts';
import { onCluster } from './on-cluster.ts';
import { page, withLosses, type Comparison } from './page.ts';
import type { Case } from './pods.ts';

// At most `atOnce` pods of the comparison run at the same time. The first `atOnce` pods start at intervals of `apart`
// milliseconds. Otherwise the machine would be so busy that the measured times would be wrong.
const atOnce = 6;
const apart = 1500;

// The maximum number of times that a pod is compared. If cluster and rehearsal differ, the pod is compared again,
// because a busy machine may start or end a process late. docs/rehearsal-truth.md also lists the differences of earlier
// comparisons.
const attempts = 3;

const file = new URL('../../../../docs/rehearsal-truth.md', import.meta.url);
const names = process.argv.slice(2);
const isOnlyLosses = names.join() === 'losses';
const chosen = cases.filter(({ name }) => names.length === 0 || names.includes(name));
const namespace = new Namespace('truth');
const comparisons = new Map<string, Comparison>();

await importImages('../../../docker/build-archive.sh');
const losses = await compareLosses(isOnlyLosses ? [] : names);
if (isOnlyLosses) writeFileSync(file, withLosses(readFileSync(file, 'utf8'), losses));
await namespace.create();
try {
  await addPrograms(namespace);
  const path = '{.items[0].status.nodeInfo.kubeletVersion} with {.items[0].status.nodeInfo.containerRuntimeVersion}';
  const versions = await namespace.kubectl('get', 'nodes', `--output=jsonpath=${path}`);
  for (let attempt = 1; attempt <= attempts && differing().length > 0; attempt++) {
    await compareAll(differing(), attempt);
    if (names.length === 0) {
      const all = cases.flatMap(({ name }) => comparisons.get(name) ?? []);
      writeFileSync(file, page(all, losses, versions));
    }
  }
  console.log(`${String(chosen.length - differing().length)} of ${String(chosen.length)} cases agree (${versions})`);
  console.log(`${String(losses.filter(hasAgreed).length)} of ${String(losses.length)} servers agree`);
} finally {
  await namespace.delete();
}
process.exitCode = differing().length === 0 && losses.every(hasAgreed) ? 0 : 1;

function differing(): Case[] {
  return chosen.filter(({ name }) => comparisons.get(name)?.rows.every(({ agrees }) => agrees) !== true);
}

async function compareAll(some: readonly Case[], attempt: number): Promise<void> {
  const named = some.map((one) => ({ ...one, name: `${one.name}-${String(attempt)}` }));
  // All pods run on the cluster first. After the last pod on the cluster has ended, the same pods run in rehearsals. So
  // the cluster and the rehearsals do not compete for CPU time.
  const cluster = await inTurn(named, (one) => onCluster(namespace, one));
  const rehearsal = await inTurn(named, (one) =>
    inRehearsal(one.isEvicted === true ? atTimeOf(one, cluster.get(one)) : one),
  );
  some.forEach(({ name, title }, index) => {
    const [one] = named.slice(index);
    const [ours, theirs] = [one && cluster.get(one), one && rehearsal.get(one)];
    if (ours === undefined || theirs === undefined) return;
    const rows = compare(ours, theirs);
    for (const { what, onCluster: seen, inRehearsal: predicted, agrees } of rows) {
      if (!agrees) console.log(`attempt ${String(attempt)}  ${name}  ${what}: ${seen} | ${predicted}`);
    }
    const before = comparisons.get(name);
    const earlier = before === undefined ? [] : [...before.earlier, ...before.rows.filter(({ agrees }) => !agrees)];
    comparisons.set(name, { name, title, rows, earlier });
  });
}

// Returns a copy of the test case in which `endsAfter` is the measured time of the eviction on the cluster. Only the
// kubelet chooses this time, so the rehearsal must use the measured time.
function atTimeOf(one: Case, account: Account | undefined): Case {
  const signal = account?.lines.find(({ what }) => what === 'SIGTERM');
  return signal === undefined ? one : { ...one, endsAfter: (signal.at - signal.startedAt) / 1000 };
}

// Runs the given cases, at most `atOnce` at a time. Returns for each case a record of what happened to its pod. If a
// case throws, the function reports its error and runs the other cases.
async function inTurn(some: readonly Case[], run: (one: Case) => Promise<Account>): Promise<Map<Case, Account>> {
  const accounts = new Map<Case, Account>();
  // The cases with the longest duration start first. Otherwise a long case could still run alone when all other cases
  // have ended.
  const waiting = some.toSorted((a, b) => b.endsAfter - a.endsAfter);
  const next = async (index: number): Promise<void> => {
    await sleep(index * apart);
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
      try {
        accounts.set(one, await run(one));
      } catch (error) {
        console.error(`${one.name}: ${String(error)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, (_, index) => next(index)));
  return accounts;
}
