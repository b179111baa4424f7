// Runs every case on the cluster that KUBECONFIG names and in a rehearsal, compares both, and writes docs/rehearsal-truth.md.
// Its exit code is 0 if both agree.
//
//   main.ts [NAME...]   only these cases; writes no page
//
//   CLUSTER_IMAGE_IMPORT, KUBECTL  see ../images.ts and ../kubernetes.ts
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { importImages } from '../images.ts';
import { Namespace } from '../kubernetes.ts';
import { addPrograms } from '../program-pods.ts';
import { compare, type Account } from './account.ts';
import { cases } from './cases.ts';
import { inRehearsal } from './in-rehearsal.ts';
import { onCluster } from './on-cluster.ts';
import { page, type Comparison } from './page.ts';
import type { Case } from './pods.ts';

// Few enough, and started far enough apart, that the machine keeps time.
const atOnce = 6;
const apart = 1500;

const names = process.argv.slice(2);
const chosen = cases.filter(({ name }) => names.length === 0 || names.includes(name));
const namespace = new Namespace('truth');

await importImages('../../docker/build-archive.sh');
await namespace.create();
const comparisons: Comparison[] = [];
let versions: string;
try {
  await addPrograms(namespace);
  const path = '{.items[0].status.nodeInfo.kubeletVersion} with {.items[0].status.nodeInfo.containerRuntimeVersion}';
  versions = await namespace.kubectl('get', 'nodes', `--output=jsonpath=${path}`);
  // One after the other, so that neither takes the CPU of the other.
  const cluster = await inTurn((one) => onCluster(namespace, one));
  const rehearsal = await inTurn((one) => inRehearsal(one.isEvicted === true ? atTimeOf(one, cluster.get(one)) : one));
  for (const one of chosen) {
    const [ours, theirs] = [cluster.get(one), rehearsal.get(one)];
    if (ours === undefined || theirs === undefined) continue;
    comparisons.push({ name: one.name, title: one.title, rows: compare(ours, theirs) });
  }
} finally {
  await namespace.delete();
}

for (const { name, rows } of comparisons) {
  for (const { what, onCluster: ours, inRehearsal: theirs, agrees } of rows) {
    if (!agrees || names.length > 0) {
      console.log(`${agrees ? 'agrees ' : 'DIFFERS'}  ${name}  ${what}: ${ours} | ${theirs}`);
    }
  }
}
const differing = comparisons.filter(({ rows }) => rows.some(({ agrees }) => !agrees));
console.log(`${String(comparisons.length - differing.length)} of ${String(chosen.length)} cases agree (${versions})`);
if (names.length === 0) {
  writeFileSync(new URL('../../../docs/rehearsal-truth.md', import.meta.url), page(comparisons, versions));
}
process.exitCode = comparisons.length === chosen.length && differing.length === 0 ? 0 : 1;

// The kubelet has evicted the pod at a time of its own.
function atTimeOf(one: Case, account: Account | undefined): Case {
  const signal = account?.lines.find(({ what }) => what === 'SIGTERM');
  return signal === undefined ? one : { ...one, endsAfter: (signal.at - signal.startedAt) / 1000 };
}

// A case that fails is told, and the others go on.
async function inTurn(run: (one: Case) => Promise<Account>): Promise<Map<Case, Account>> {
  const accounts = new Map<Case, Account>();
  // The longest first, so that none is left alone at the end.
  const waiting = chosen.toSorted((a, b) => b.endsAfter - a.endsAfter);
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
