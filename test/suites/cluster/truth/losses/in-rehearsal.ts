// Rehearses a server with the command line of lameduck, as a user does.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Cause } from '../../../../../src/cli/rehearsal/causes.ts';
import type { Result, Verdict } from '../../../../../src/cli/rehearsal/result.ts';
import type { Loss } from './on-cluster.ts';
import type { Server } from './servers.ts';

const command = fileURLToPath(new URL('../../../../../src/cli/main.ts', import.meta.url));

/** Rehearsed is what a rehearsal reports. */
export interface Rehearsed extends Loss {
  readonly verdict: Verdict;
  /** The causes of lost requests that the rehearsal names, most important first. */
  readonly causes: readonly Cause[];
}

/**
 * inRehearsal rehearses a rolling update of the Deployment of `server`. `propagation` is the value of the option
 * `--propagation`: how late a simulated node may learn of a changed endpoint.
 */
export async function inRehearsal(server: Server, servers: string, propagation: string): Promise<Rehearsed> {
  const folder = mkdtempSync(join(tmpdir(), 'losses-'));
  const [manifest, json] = [join(folder, 'manifest.yaml'), join(folder, 'result.json')];
  try {
    writeFileSync(manifest, await server.manifest());
    const options = ['--manifest', manifest, '--json', json, '--propagation', propagation];
    const child = spawn(process.execPath, [command, 'rehearse', ...options, '--', ...server.command(servers)], {
      stdio: ['ignore', 'ignore', 'pipe'],
      cwd: servers,
    });
    const [complaint] = await Promise.all([text(child.stderr), once(child, 'close')]);
    // With the exit code 3, the rehearsal has no verdict.
    if (![0, 1, 3].includes(child.exitCode ?? -1)) {
      throw new Error(`the rehearsal of ${server.name} ended with ${String(child.exitCode)}: ${complaint}`);
    }
    const { verdict, requests, lost, refused, scenarios } = JSON.parse(readFileSync(json, 'utf8')) as Result;
    const [scenario] = scenarios;
    const load = scenario?.events.find(({ kind }) => kind === 'loadStarted');
    // If the rehearsal sent no requests, the field `causes` says why.
    if (load !== undefined) {
      assert.equal(
        load.detail['port'],
        server.port,
        `the rehearsal must send its requests to the port of ${server.name}`,
      );
    }
    return { verdict, requests, lost, refused, causes: scenario?.causes ?? [], exitCode: scenario?.exit?.code };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
