// Runs a rolling update of each server in servers.ts on the cluster and in a rehearsal, and compares the numbers of
// lost requests.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { faults } from '../../../../../src/cli/rehearsal/start-causes.ts';
import { importImages } from '../../images.ts';
import { lagKubeProxies } from '../../kube-proxy.ts';
import { inRehearsal, type Rehearsed } from './in-rehearsal.ts';
import { onCluster, type Loss } from './on-cluster.ts';
import { servers, type Server } from './servers.ts';

/**
 * The seconds that a node takes to learn of a changed endpoint. The rehearsal always uses this time. On a cluster, the
 * command in CLUSTER_PROXY_LAG delays each kube-proxy by this time.
 */
export const propagationSeconds = 2;
const longestRun = 1_800;

/** ComparedLoss has the results of one server's rolling update, once on the cluster and once in the rehearsal. */
export interface ComparedLoss {
  readonly server: Server;
  readonly cluster: Loss;
  readonly rehearsal: Rehearsed;
}

/**
 * failuresToServe lists those causes in the report of a rehearsal which mean that the server did not serve its clients
 * until the pod was deleted. The shutdown of such a server cannot be compared.
 */
export const failuresToServe: readonly string[] = [...faults, 'neverServed', 'clientsNeverServed'];

/**
 * hasAgreed returns whether the rolling update had the expected result on the cluster and in the rehearsal. Without
 * lameduck, the server must lose or refuse requests in both. With lameduck, the server must lose or refuse no request
 * in either.
 */
export function hasAgreed({ server, cluster, rehearsal }: ComparedLoss): boolean {
  const losses = [cluster, rehearsal].map(({ lost, refused }) => lost + refused);
  if (server.hasLameduck !== true) {
    return losses.every((count) => count > 0) && !rehearsal.causes.some(({ name }) => failuresToServe.includes(name));
  }
  const isTried = cluster.requests > 0 && rehearsal.requests > 0;
  return isTried && losses.every((count) => count === 0) && rehearsal.verdict === 'clean';
}

/**
 * compareLosses compares the servers with the given names, or all servers if `names` is empty. The servers run one
 * after another, because each server needs the whole machine.
 */
export async function compareLosses(names: readonly string[]): Promise<ComparedLoss[]> {
  const chosen = servers.filter(({ name }) => names.length === 0 || names.includes(name));
  if (chosen.length === 0) return [];
  const folder = mkdtempSync(join(tmpdir(), 'servers-'));
  const compared: ComparedLoss[] = [];
  try {
    const build = fileURLToPath(new URL('servers/build.sh', import.meta.url));
    const { status } = spawnSync('bash', [build, folder], { stdio: 'inherit' });
    if (status !== 0) throw new Error(`${build} ended with ${String(status)}`);
    const archive = 'truth/losses/servers/build-archive.sh';
    await importImages('clients/build-archive.sh', [archive, folder, 'node'], [archive, folder, 'python']);
    await lagKubeProxies(propagationSeconds, longestRun);
    for (const server of chosen) {
      const cluster = await onCluster(server);
      const rehearsal = await inRehearsal(server, folder, `${String(propagationSeconds)}s`);
      compared.push({ server, cluster, rehearsal });
      console.log(server.name, JSON.stringify({ cluster, rehearsal }));
    }
    return compared;
  } finally {
    await lagKubeProxies(0, 0);
    rmSync(folder, { recursive: true });
  }
}
