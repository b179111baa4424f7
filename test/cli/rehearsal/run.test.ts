// One scenario with a real pod and real clients. A test ends it by an interruption, so that nothing waits for its steps.
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { networkInterfaces } from 'node:os';
import { describe, it } from 'node:test';
import { systemClock } from '../../../src/clock.ts';
import { EventLog, type EventKind, type RehearsalEvent } from '../../../src/cli/rehearsal/event-log.ts';
import type { ContainerSpec } from '../../../src/cli/rehearsal/pod.ts';
import { ScenarioRun } from '../../../src/cli/rehearsal/run.ts';
import type { Scenario } from '../../../src/cli/rehearsal/scenarios.ts';
import { containerSpec, isolation, nodeProgram, probeSpec } from '../../support/pod-under-test.ts';

interface Given {
  readonly container: ContainerSpec;
  readonly port?: number;
  readonly scenario?: Scenario;
}

const deletedLate: Scenario = { title: 'x', steps: [{ at: 30_000, do: { kind: 'delete' } }] };

/** interruptedWhen runs a scenario until an event of its choice, and returns its events. */
async function interruptedWhen(
  isEnd: (event: RehearsalEvent) => boolean,
  { container, port, scenario = deletedLate }: Given,
): Promise<EventLog> {
  const log = new EventLog(() => systemClock.now());
  const interrupted = new AbortController();
  log.onEvent((event) => {
    if (isEnd(event)) interrupted.abort();
  });
  const none = undefined;
  const clients = { retry: false, longPoll: none, stream: none, upload: none, webSocket: none, http2: none };
  const run = new ScenarioRun({
    pod: { name: 'app', containers: [container], terminationGracePeriodSeconds: 30, restartPolicy: 'Always' },
    load: { rate: 20, connections: 2, requests: [{ method: 'GET', path: '/' }], ...clients, seed: 1 },
    ...{ scenario, port, propagation: 0, random: () => 0, isolation, environment: process.env, log },
    interrupted: interrupted.signal,
  });
  await run.run();
  return log;
}

const isLoadStart = ({ kind }: RehearsalEvent): boolean => kind === 'loadStarted';

const indexOf = ({ events }: EventLog, wanted: EventKind): number => events.findIndex(({ kind }) => kind === wanted);

async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

const listensLater = (port: number): readonly string[] =>
  nodeProgram(`
    import { createServer } from 'node:http';
    setTimeout(() => createServer((_, response) => response.end('ok')).listen(${String(port)}), 1_000);
  `);

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));

void describe('a scenario', { concurrency: 2 }, () => {
  it('starts the load of a pod without a readiness probe when the server listens', async () => {
    const log = await interruptedWhen(isLoadStart, { container: containerSpec({ command: listensLater(0) }) });
    const [started, listening] = [log.of('loadStarted')[0], log.of('containerListening')[0]];
    assert.equal(started?.detail['port'], listening?.detail['port']);
    assert.ok(indexOf(log, 'readinessChanged') < indexOf(log, 'containerListening'));
    assert.equal(indexOf(log, 'podDeleted'), -1);
  });

  it('starts the load at a known port as soon as the pod is ready, even if the server does not listen', async () => {
    const port = await freePort();
    const log = await interruptedWhen(isLoadStart, { container: containerSpec({ command: listensLater(port) }), port });
    assert.equal(log.of('loadStarted')[0]?.detail['port'], port);
    assert.deepEqual([indexOf(log, 'podDeleted'), indexOf(log, 'containerListening')], [-1, -1]);
  });

  it('K-009 reaches a server that listens on ::1 alone', { skip: hasIpv6 ? false : 'there is no IPv6' }, async () => {
    const command = nodeProgram(`
      import { createServer } from 'node:http';
      createServer((_, response) => response.end('ok')).listen(0, '::1');
    `);
    const probes = [probeSpec({ type: 'readiness', handler: { kind: 'tcp', port: 0 } })];
    const container = containerSpec({ command, probes, isDefault: true });
    const isAnswered = ({ kind, detail }: RehearsalEvent): boolean =>
      kind === 'requests' && Number(detail['answered']) > 0;
    const log = await interruptedWhen(isAnswered, { container });
    assert.ok(log.events.some(isAnswered));
    assert.equal(log.of('containerListening')[0]?.detail['isLoopback'], true);
  });
});
