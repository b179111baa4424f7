// Runs one scenario with a real pod and real clients, and tests which causes of lost requests the rehearsal finds.
import assert from 'node:assert/strict';
import { randomInt, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { systemClock } from '../../../src/clock.ts';
import type { Isolation } from '../../../src/cli/rehearsal/container.ts';
import { EventLog } from '../../../src/cli/rehearsal/event-log.ts';
import { noOptionalClients, type LoadOptions } from '../../../src/cli/rehearsal/load.ts';
import { allProcesses } from '../../../src/cli/rehearsal/processes.ts';
import { scenarioResult, type ScenarioResult } from '../../../src/cli/rehearsal/result.ts';
import { ScenarioRun } from '../../../src/cli/rehearsal/scenario-run.ts';
import type { Scenario } from '../../../src/cli/rehearsal/scenarios.ts';
import { containerSpec, isolation, nodeProgram, probeSpec } from '../../support/pod-under-test.ts';

interface Given {
  readonly command: readonly string[];
  readonly steps: Scenario['steps'];
  readonly endsAfter?: number;
  readonly clients?: Partial<LoadOptions>;
  readonly isolated?: Isolation;
}

/** resultOf runs a scenario to its end, on a container whose readiness probe connects to the port of its server. */
async function resultOf({ command, steps, endsAfter, clients, isolated = isolation }: Given): Promise<ScenarioResult> {
  const log = new EventLog(() => systemClock.now());
  const probes = [probeSpec({ type: 'readiness', handler: { kind: 'tcp', port: 0 } })];
  const run = new ScenarioRun({
    pod: {
      containers: [containerSpec({ command, probes, isDefault: true })],
      terminationGracePeriodSeconds: 2,
      restartPolicy: 'Always',
    },
    load: {
      rate: 100,
      connections: 20,
      requests: [{ method: 'GET', path: '/' }],
      ...noOptionalClients,
      seed: 1,
      ...clients,
    },
    scenario: { title: 'x', steps, ...(endsAfter === undefined ? {} : { endsAfter }) },
    port: undefined,
    propagation: 0,
    random: () => 0,
    isolation: isolated,
    environment: process.env,
    log,
    interrupted: new AbortController().signal,
  });
  await run.run();
  return scenarioResult({ name: 'x', propagationMs: 0 }, run.tallies, log.events);
}

const namesOf = ({ causes }: ScenarioResult): string[] => causes.map(({ name }) => name);

/** isRunning tells whether the command line of a running process contains `argument`. */
function isRunning(argument: string): boolean {
  return allProcesses().some((pid) => {
    try {
      return readFileSync(`/proc/${String(pid)}/cmdline`, 'utf8').includes(argument);
    } catch {
      return false;
    }
  });
}

const serving = `
  import { createServer } from 'node:http';
  const server = createServer((_, response) => response.end('ok'));
`;

/** `child()` is the source of a server that ignores SIGTERM and prints `up` when it listens. */
const child = `${serving} process.on('SIGTERM', () => undefined); server.listen(0, () => console.log('up'));`;

/**
 * `daemon()` is the command of a program that starts a server in a new session. When this server has listened for
 * `afterMs` milliseconds, the program exits with code 0.
 */
const daemon = (mark: string, afterMs: number): readonly string[] =>
  nodeProgram(`
    import { spawn } from 'node:child_process';
    const args = ['--input-type=module', '--eval', ${JSON.stringify(child)}, '${mark}'];
    const started = spawn(process.execPath, args, { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
    started.stdout.once('data', () => setTimeout(() => process.exit(0), ${String(afterMs)}));
  `);

void describe('the causes of lost requests that a rehearsal of one scenario reports', { concurrency: 2 }, () => {
  for (const isolated of isolation.length > 0 ? [isolation, []] : [[]]) {
    const where = isolated.length > 0 ? 'in a PID namespace' : 'without a PID namespace';
    for (const afterMs of [0, 1_500]) {
      it(`if a main process exits with code 0 ${String(afterMs)} ms after its child has begun to listen, the rehearsal reports that it ended itself, and no process remains, ${where}`, async () => {
        const mark = randomUUID();
        const result = await resultOf({ command: daemon(mark, afterMs), steps: [], endsAfter: 1_500, isolated });
        assert.deepEqual([result.verdict, namesOf(result)], ['lost', ['endedItself']]);
        assert.ok(!isRunning(mark));
      });
    }

    it(`if a script starts its server with & and ends, the rehearsal reports at once that the main process ended itself, and no process of the script remains, ${where}`, async () => {
      const mark = `1000.${String(randomInt(1e9))}`;
      const command = ['sh', '-c', `sleep ${mark} &`];
      const result = await resultOf({ command, steps: [], isolated });
      assert.deepEqual([result.verdict, namesOf(result)], ['lost', ['endedItself']]);
      assert.ok((result.events.at(-1)?.at ?? 0) < 30_000, 'the scenario must not wait 60 s for a pod that is ready');
      assert.ok(!isRunning(mark));
    });
  }

  it('if a server serves neither HTTP/2 nor WebSockets, the rehearsal reports that these clients were never served, and reports no fault of the shutdown', async () => {
    const command = nodeProgram(`
      ${serving}
      server.on('upgrade', (_, socket) => socket.on('error', () => undefined).end('HTTP/1.1 426 Upgrade Required\\r\\nContent-Length: 0\\r\\n\\r\\n'));
      server.listen(0);
      process.on('SIGTERM', () => undefined);
    `);
    const clients = { webSocket: '/', http2: '/', rate: 20, connections: 0 };
    const result = await resultOf({ command, steps: [], endsAfter: 2_500, clients });
    assert.deepEqual([result.verdict, namesOf(result)], ['lost', ['clientsNeverServed', 'clientsNeverServed']]);
    assert.deepEqual(
      result.causes.map(({ text }) => text.split(':')[0]),
      ['not a single WebSocket succeeded', 'not a single HTTP/2 request succeeded'],
    );
  });

  it('if the main process is killed, the rehearsal reports the SIGKILL as the only cause of the lost requests', async () => {
    const command = nodeProgram(`${serving} server.listen(0); process.on('SIGTERM', () => undefined);`);
    const result = await resultOf({ command, steps: [{ at: 1_500, do: { kind: 'crash' } }], endsAfter: 500 });
    assert.deepEqual([result.verdict, namesOf(result)], ['lost', ['mainProcessKilled']]);
  });
});
