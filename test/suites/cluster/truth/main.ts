// Compares rehearsals with the cluster that KUBECONFIG names, and writes docs/rehearsal-truth.md. It runs every case,
// and a rolling update of every server, on the cluster and in a rehearsal. Its exit code is 0 if the results agree.
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

// The number of cases that run at once, and the milliseconds between the starts of two cases. Both keep the load of the
// machine low. On a busier machine, the measured times would be wrong.
const atOnce = 6;
const apart = 1500;

// A case has at most this many attempts, because a process may start or end late on a busy machine.
// docs/rehearsal-truth.md also lists in what earlier attempts of a case differed.
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
  // The cluster and the rehearsal run one after another, so that neither takes CPU time from the other.
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

// Returns the case with the time at which the kubelet evicted the pod on the cluster. A case cannot set this time
// itself.
function atTimeOf(one: Case, account: Account | undefined): Case {
  const signal = account?.lines.find(({ what }) => what === 'SIGTERM');
  return signal === undefined ? one : { ...one, endsAfter: (signal.at - signal.startedAt) / 1000 };
}

// If a case fails, its failure is reported and the other cases continue.
async function inTurn(some: readonly Case[], run: (one: Case) => Promise<Account>): Promise<Map<Case, Account>> {
  const accounts = new Map<Case, Account>();
  // The longest cases start first. Otherwise one of them would run alone at the end.
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
