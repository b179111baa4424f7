// Runs one scenario with a real pod and real clients, and tests which causes of lost requests the rehearsal finds.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemClock } from '../../../src/clock.ts';
import { EventLog } from '../../../src/cli/rehearsal/event-log.ts';
import type { LoadOptions } from '../../../src/cli/rehearsal/load.ts';
import { scenarioResult, type ScenarioResult } from '../../../src/cli/rehearsal/result.ts';
import { ScenarioRun } from '../../../src/cli/rehearsal/scenario-run.ts';
import type { Scenario } from '../../../src/cli/rehearsal/scenarios.ts';
import { containerSpec, isolation, nodeProgram, probeSpec } from '../../support/pod-under-test.ts';

interface Given {
  readonly command: readonly string[];
  readonly steps: Scenario['steps'];
  readonly endsAfter?: number;
  readonly clients?: Partial<LoadOptions>;
}

const noClients = {
  retry: false,
  longPoll: undefined,
  stream: undefined,
  upload: undefined,
  webSocket: undefined,
  http2: undefined,
};

/** resultOf runs a scenario to its end, on a container whose readiness probe connects to the port of its server. */
async function resultOf({ command, steps, endsAfter, clients }: Given): Promise<ScenarioResult> {
  const log = new EventLog(() => systemClock.now());
  const probes = [probeSpec({ type: 'readiness', handler: { kind: 'tcp', port: 0 } })];
  const run = new ScenarioRun({
    pod: {
      containers: [containerSpec({ command, probes, isDefault: true })],
      terminationGracePeriodSeconds: 2,
      restartPolicy: 'Always',
    },
    load: { rate: 100, connections: 20, requests: [{ method: 'GET', path: '/' }], ...noClients, seed: 1, ...clients },
    scenario: { title: 'x', steps, ...(endsAfter === undefined ? {} : { endsAfter }) },
    port: undefined,
    propagation: 0,
    random: () => 0,
    isolation,
    environment: process.env,
    log,
    interrupted: new AbortController().signal,
  });
  await run.run();
  return scenarioResult({ name: 'x', propagationMs: 0 }, run.tallies, log.events);
}

const namesOf = ({ causes }: ScenarioResult): string[] => causes.map(({ name }) => name);

const serving = `
  import { createServer } from 'node:http';
  const server = createServer((_, response) => response.end('ok'));
`;

void describe('the causes that a scenario finds', { concurrency: 2 }, () => {
  it('if a server of HTTP/1.1 serves neither HTTP/2 nor WebSockets, the rehearsal reports these kinds of clients, and no fault of the shutdown', async () => {
    const command = nodeProgram(`
      ${serving}
      server.on('upgrade', (_, socket) => socket.end('HTTP/1.1 426 Upgrade Required\\r\\nContent-Length: 0\\r\\n\\r\\n'));
      server.listen(0);
      process.on('SIGTERM', () => undefined);
    `);
    const clients = { webSocket: '/', http2: '/', rate: 20, connections: 0 };
    const result = await resultOf({ command, steps: [], endsAfter: 2_500, clients });
    assert.deepEqual([result.verdict, namesOf(result)], ['lost', ['clientsNeverServed', 'clientsNeverServed']]);
    assert.deepEqual(
      result.causes.map(({ text }) => text.split(':')[0]),
      ['the server served no WebSocket', 'the server served no HTTP/2 request'],
    );
  });
});
