// Rehearses one of the pods that the comparison also runs on a real cluster. Returns a record of what happened to the
// pod, from the logs of its containers and the events of the rehearsal.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findIsolation } from '../../../../src/cli/rehearsal/container.ts';
import { EventLog, type RehearsalEvent } from '../../../../src/cli/rehearsal/event-log.ts';
import { readManifest } from '../../../../src/cli/rehearsal/manifest.ts';
import { ScenarioRun } from '../../../../src/cli/rehearsal/scenario-run.ts';
import type { Scenario } from '../../../../src/cli/rehearsal/scenarios.ts';
import { noOptionalClients } from '../../../../src/cli/rehearsal/load.ts';
import type { Line } from '../programs/told-server.ts';
import type { Account } from './account.ts';
import type { Case } from './pods.ts';
import { reportOfProbe } from './reports.ts';

const place = {
  node: process.execPath,
  program: fileURLToPath(new URL('../programs/told-server.ts', import.meta.url)),
};

// Measures how long Node takes to start. The times `endsAfter` of the compared pods count from the first log line of
// the pod. The times of a rehearsal count from the start of the process. So the rehearsal adds the start time of Node
// to `endsAfter`.
const before = Date.now();
spawnSync(place.node, [place.program, 'check', '/']);
const startOfNode = Date.now() - before;

// This rehearsal sends no requests, because only probes and the end of containers are compared with the cluster. With
// requests, the rehearsal would also report lost requests.
const noLoad = {
  rate: 0,
  connections: 0,
  requests: [{ method: 'GET', path: '/' }],
  seed: 1,
  ...noOptionalClients,
};

/**
 * inRehearsal runs one of the compared pods in the same way as `lameduck rehearse --manifest`. It deletes or evicts the
 * pod `endsAfter` seconds after the start of the pod's program.
 */
export async function inRehearsal(one: Case): Promise<Account> {
  const { name, title, spec, endsAfter, isEvicted = false } = one;
  const reading = readManifest(manifest(name, spec(place)), name, commandsOf(one), []);
  if ('problem' in reading) throw new Error(reading.problem);
  const folder = mkdtempSync(join(tmpdir(), 'rehearsal-'));
  const file = join(folder, 'log');
  const scenario: Scenario = {
    title,
    isWhileStarting: true,
    steps: [
      {
        at: startOfNode + endsAfter * 1000,
        do: isEvicted
          ? { kind: 'evict', kill: { cause: 'hardEviction' } }
          : { kind: 'delete', ...('gracePeriodSeconds' in one && { gracePeriodSeconds: one.gracePeriodSeconds }) },
      },
    ],
  };
  const from = Date.now();
  const log = new EventLog(() => Date.now());
  try {
    await new ScenarioRun({
      scenario,
      pod: reading.pod,
      port: undefined,
      load: noLoad,
      propagation: 0,
      random: Math.random,
      log,
      isolation: findIsolation(),
      interrupted: new AbortController().signal,
      environment: { ...process.env, LOG: file, KUBERNETES_SERVICE_HOST: '10.96.0.1', HOSTNAME: name },
    }).run();
    const text = readFileSync(file, 'utf8');
    const lines = text.split('\n').filter((line) => /^\{.*\}$/.test(line));
    return accountOf(
      lines.map((line) => JSON.parse(line) as Line),
      log,
      from,
      isEvicted,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function manifest(name: string, spec: object): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec });
}

function commandsOf({ spec }: Case): Map<string, readonly string[]> {
  const { initContainers = [], containers } = spec(place);
  return new Map([...initContainers, ...containers].map(({ name, command }) => [name, command]));
}

function accountOf(lines: readonly Line[], log: EventLog, from: number, isEvicted: boolean): Account {
  const deletion = log.of('podDeleted')[0];
  return {
    lines,
    exits: log.of('containerExited').map(({ detail }) => ({
      container: String(detail['container']),
      code: Number(detail['code']),
      reason: String(detail['reason']),
    })),
    reports: new Set(log.events.flatMap(reportOf)),
    readiness: log
      .of('readinessChanged')
      .map(({ at, detail }) => ({ at: from + at, isReady: detail['isReady'] === true })),
    deletedAt: isEvicted || deletion === undefined ? undefined : from + deletion.at,
  };
}

function reportOf({ kind, detail }: RehearsalEvent): string[] {
  const { text, failure, type, result, output, isWarning } = detail;
  switch (kind) {
    case 'containerKilling':
      return [`Killing: ${String(text)}`];
    case 'containerBackOff':
      return ['BackOff'];
    case 'preStopEnded':
      return failure === undefined ? [] : ['FailedPreStopHook'];
    case 'probe':
      if (isWarning === true) return ['ProbeWarning'];
      if (result === 'success') return [];
      return reportOfProbe(String(type), result === 'error' ? 'errored' : 'failed', String(output));
    default:
      return [];
  }
}
