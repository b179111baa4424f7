// Runs a rolling update of a server on the cluster. During the update, clients that never retry send requests to the
// server's Service.
import { instanceLabel, isServing, Namespace, type Run } from '../../kubernetes.ts';
import { Load } from '../../load.ts';
import { addPrograms } from '../../program-pods.ts';
import { failed, sum } from '../../table.ts';
import type { Server } from './servers.ts';

/**
 * Loss holds the results of a server's rolling update: the numbers of all, lost and refused requests, and the exit code
 * of a replaced container.
 */
export interface Loss {
  readonly requests: number;
  readonly lost: number;
  readonly refused: number;
  readonly exitCode: number | undefined;
}

const replicas = 2;
// A rolling update may take this many seconds. A server that ignores SIGTERM runs until its grace period ends.
const longestRollout = 180;

/** onCluster runs a rolling update of the server in a namespace of its own. */
export async function onCluster({ name, manifest }: Server): Promise<Loss> {
  const namespace = new Namespace(`loses-${name}`);
  await namespace.create();
  try {
    await addPrograms(namespace);
    await namespace.apply(await manifest());
    const pods = () => [...namespace.pods.values()].filter(({ metadata }) => metadata.labels?.[instanceLabel] === name);
    const isSettled = () => pods().length === replicas && pods().every(isServing);
    await namespace.until(`${name} serves`, longestRollout, isSettled);
    const ip = await namespace.kubectl('get', 'service', name, '--output=jsonpath={.spec.clusterIP}');
    const url = `http://${ip.includes(':') ? `[${ip}]` : ip}`;
    const load = await Load.start(namespace, {
      node: [
        { name: 'kept', kind: 'kept GET', url, clients: 10, rest: 20 },
        { name: 'new', kind: 'new GET', url, clients: 6, rest: 30 },
      ],
    });
    const old = pods().map(({ metadata }) => metadata.name);
    await namespace.until('both pods answer', 60, () => old.every((pod) => load.reaches(pod) || load.keptTo(pod) > 0));
    await namespace.kubectl('rollout', 'restart', `deployment/${name}`);
    await namespace.until(`${name} is rolled`, longestRollout, () => {
      return isSettled() && pods().every(({ metadata }) => !old.includes(metadata.name));
    });
    const tallies = await load.end();
    if (load.warnings.length > 0) throw new Error(`the clients of ${name} said: ${load.warnings.join('; ')}`);
    const requests = sum(tallies, (tally) => tally.requests);
    const refused = sum(tallies, (tally) => tally.refused);
    return { requests, refused, lost: sum(tallies, failed) - refused, exitCode: exitCodeOf(namespace, old) };
  } finally {
    await namespace.delete();
  }
}

function exitCodeOf({ runs }: Namespace, pods: readonly string[]): number | undefined {
  const ended = [...runs.values()].filter(({ pod, exitCode }: Run) => pods.includes(pod) && exitCode !== undefined);
  return ended[0]?.exitCode;
}
