// Every server, rolled on the cluster and rehearsed.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../../../support/command-line.ts';
import { importImages } from '../../images.ts';
import { inRehearsal, type Rehearsed } from './in-rehearsal.ts';
import { onCluster, type Loss } from './on-cluster.ts';
import { servers, type Server } from './servers.ts';

const { CLUSTER_PROXY_LAG: proxyLag } = process.env;
/** How long each node takes to learn of a change, in the rehearsal and where the proxies of the cluster can be slowed. */
export const propagationSeconds = 2;
const longestRun = 1_800;

/** ComparedLoss is one server with both results. */
export interface ComparedLoss {
  readonly server: Server;
  readonly cluster: Loss;
  readonly rehearsal: Rehearsed;
}

/** hasAgreed says whether both found a loss, or both found none. */
export function hasAgreed({ cluster, rehearsal }: ComparedLoss): boolean {
  return cluster.lost + cluster.refused > 0 === (rehearsal.verdict === 'lost');
}

/** compareLosses takes the servers of these names, or all. One goes after the other, because each needs the whole machine. */
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
    if (proxyLag) await run(proxyLag, String(propagationSeconds), String(longestRun));
    for (const server of chosen) {
      const cluster = await onCluster(server);
      const rehearsal = await inRehearsal(server, folder, `${String(propagationSeconds)}s`);
      compared.push({ server, cluster, rehearsal });
      console.log(server.name, JSON.stringify({ cluster, rehearsal }));
    }
    return compared;
  } finally {
    if (proxyLag) await run(proxyLag, '0', '0');
    rmSync(folder, { recursive: true });
  }
}
