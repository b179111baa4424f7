// Runs one scenario with a real pod and real clients. Each test interrupts the scenario, so that it does not wait for
// all steps.
import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { describe, it, test } from 'node:test';
import { systemClock } from '../../../src/clock.ts';
import { EventLog, type EventKind, type RehearsalEvent } from '../../../src/cli/rehearsal/event-log.ts';
import type { ContainerSpec } from '../../../src/cli/rehearsal/pod.ts';
import { longestRest, ScenarioRun } from '../../../src/cli/rehearsal/scenario-run.ts';
import { scenarios, type Scenario } from '../../../src/cli/rehearsal/scenarios.ts';
import { containerSpec, isolation, nodeProgram, probeSpec } from '../../support/pod-under-test.ts';
import { reservePort } from '../../support/reserved-port.ts';

interface Given {
  readonly container: ContainerSpec;
  readonly port?: number;
  readonly scenario?: Scenario;
}

const deletedLate: Scenario = { title: 'x', steps: [{ at: 30_000, do: { kind: 'delete' } }] };

/** interruptedWhen interrupts a scenario at a given event. It returns all events up to and including this event. */
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
    pod: { containers: [container], terminationGracePeriodSeconds: 30, restartPolicy: 'Always' },
    load: { rate: 20, connections: 2, requests: [{ method: 'GET', path: '/' }], ...clients, seed: 1 },
    scenario,
    port,
    propagation: 0,
    random: () => 0,
    isolation,
    environment: process.env,
    log,
    interrupted: interrupted.signal,
  });
  await run.run();
  return log;
}

test('a rehearsal records how late its simulated kubelet is if its own event loop is blocked', async () => {
  const port = await reservePort();
  let isBlocked = false;
  const log = await interruptedWhen(
    ({ kind }) => {
      if (kind === 'containerListening' && !isBlocked) {
        isBlocked = true;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
      }
      return kind === 'kubeletDelayed';
    },
    { container: serving(port), port },
  );
  const delays = log.of('kubeletDelayed').map(({ detail }) => Number(detail['delayMs']));
  assert.ok(Math.max(...delays) >= 400, String(delays));
});

const isLoadStart = ({ kind }: RehearsalEvent): boolean => kind === 'loadStarted';

const indexOf = ({ events }: EventLog, wanted: EventKind): number => events.findIndex(({ kind }) => kind === wanted);

const listensLater = (port: number): readonly string[] =>
  nodeProgram(`
    import { createServer } from 'node:http';
    setTimeout(() => createServer((_, response) => response.end('ok')).listen(${String(port)}), 1_000);
  `);

const serving = (port: number): ContainerSpec =>
  containerSpec({
    command: nodeProgram(`
      import { createServer } from 'node:http';
      process.on('SIGTERM', () => process.exit());
      createServer((_, response) => response.end('ok')).listen(${String(port)});
    `),
    // While the server exits, its connections from the readiness probe are refused. The failureThreshold of this probe
    // is high, so that the pod does not become unready before the exit.
    probes: [probeSpec({ type: 'readiness', handler: { kind: 'tcp', port }, failureThreshold: 60 })],
  });

// An address to which Debian resolves the name of the machine.
const hostNameAddress = '127.0.1.1';

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));

test('the time limit of a scenario is long enough for its steps, the grace period, the propagation of endpoint changes and the last requests of its clients', () => {
  const container = containerSpec({ command: [] });
  const pod = {
    name: 'x',
    containers: [container],
    terminationGracePeriodSeconds: 30,
    restartPolicy: 'Always',
  } as const;
  const sidecar = { ...container, isSidecar: true };
  assert.equal(longestRest(scenarios.rollout, pod, 2_000), 3_000 + 32_000 + 2_300 + 5_000);
  assert.equal(longestRest(scenarios.rollout, { ...pod, containers: [sidecar, container] }, 0), 42_300);
  assert.equal(longestRest(scenarios['failing-liveness'], pod, 60_000), 23_000 + 32_000 + 5_000 + 5_000);
  const probe = probeSpec({ type: 'liveness', handler: { kind: 'tcp', port: 1 }, terminationGracePeriodSeconds: 50 });
  const probed = { ...pod, containers: [{ ...container, probes: [probe] }] };
  assert.equal(longestRest(scenarios['failing-liveness'], probed, 0), 23_000 + 52_000 + 5_000 + 5_000);
  const hooked = { ...pod, containers: [{ ...container, postStart: { kind: 'sleep', seconds: 1 } as const }] };
  assert.equal(longestRest(scenarios['delete-starting'], hooked, 0), 300 + 60_000 + 32_000 + 300 + 5_000);
});

void describe('a scenario of a rehearsal', { concurrency: 2 }, () => {
  it('if a pod has no readiness probe and the port is unknown, the clients of a scenario send requests only after the server listens', async () => {
    const log = await interruptedWhen(isLoadStart, { container: containerSpec({ command: listensLater(0) }) });
    const [started, listening] = [log.of('loadStarted')[0], log.of('containerListening')[0]];
    assert.equal(started?.detail['port'], listening?.detail['port']);
    assert.ok(indexOf(log, 'readinessChanged') < indexOf(log, 'containerListening'));
    assert.equal(indexOf(log, 'podDeleted'), -1);
  });

  it('if the user gives a port, the clients of a scenario send requests to it as soon as the pod is ready, even if the server does not listen yet', async () => {
    const port = await reservePort();
    const log = await interruptedWhen(isLoadStart, { container: containerSpec({ command: listensLater(port) }), port });
    assert.equal(log.of('loadStarted')[0]?.detail['port'], port);
    assert.deepEqual([indexOf(log, 'podDeleted'), indexOf(log, 'containerListening')], [-1, -1]);
  });

  it(
    'K-009 a scenario reaches a server that listens only on ::1',
    { skip: hasIpv6 ? false : 'there is no IPv6' },
    async () => {
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
    },
  );

  for (const isReadyFirst of [false, true]) {
    const when = isReadyFirst ? ', although the pod is ready before the server listens' : '';
    it(
      `a scenario reaches a server that listens only on the pod's own address${when}`,
      { skip: process.platform === 'linux' ? false : 'only Linux shows the address' },
      async () => {
        const port = await reservePort();
        const command = nodeProgram(`
          import { createServer } from 'node:http';
          const listen = () => createServer((_, response) => response.end('ok')).listen(${String(port)}, '${hostNameAddress}');
          setTimeout(listen, ${isReadyFirst ? '1_000' : '0'});
        `);
        const probes = isReadyFirst ? [] : [probeSpec({ type: 'readiness', handler: { kind: 'tcp', port } })];
        const isAnswered = ({ kind, detail }: RehearsalEvent): boolean =>
          kind === 'requests' && String(detail['served']).includes('newConnection, keptConnection');
        const log = await interruptedWhen(isAnswered, { container: containerSpec({ command, probes }), port });
        const { isLoopback, address } = log.of('containerListening')[0]?.detail ?? {};
        assert.deepEqual([isLoopback, address], [false, hostNameAddress]);
      },
    );
  }

  it('K-060, K-062 the scenario `failing-liveness` restarts a container without deleting its pod', async () => {
    const port = await reservePort();
    const container = serving(port);
    const scenario = {
      ...scenarios['failing-liveness'],
      steps: [{ at: 0, do: { kind: 'failLiveness' } }],
      endsAfter: 0,
    } as const;
    const log = await interruptedWhen(() => false, { container, port, scenario });
    assert.equal(
      log.of('containerKilling')[0]?.detail['text'],
      'Container app failed liveness probe, will be restarted',
    );
    const kinds: readonly EventKind[] = ['stopSignal', 'containerStarted', 'containerExited', 'readinessChanged'];
    assert.deepEqual(
      log.events.filter(({ kind }) => kinds.includes(kind)).map(({ kind, detail }) => [kind, detail['isReady']]),
      [
        ['containerStarted', undefined],
        ['readinessChanged', true],
        ['stopSignal', undefined],
        ['containerExited', undefined],
        ['readinessChanged', false],
        ['containerStarted', undefined],
        ['readinessChanged', true],
        // The rehearsal deletes the pod when the rehearsal ends.
        ['containerExited', undefined],
      ],
    );
    assert.equal(indexOf(log, 'podDeleted'), -1);
  });

  it('if a restarted server listens on a different port than before, the scenario reports this and sends it no requests', async () => {
    const command = nodeProgram(`
      import { createServer } from 'node:http';
      const server = createServer((_, response) => response.end('ok')).listen(0);
      process.on('SIGTERM', () => process.exit());
    `);
    const probes = [probeSpec({ type: 'readiness', handler: { kind: 'tcp', port: 0 } })];
    const container = containerSpec({ command, probes, isDefault: true });
    const scenario = { ...scenarios['crash-loop'], steps: [{ at: 0, do: { kind: 'crash' } }] } as const;
    const isNoted = ({ detail }: RehearsalEvent): boolean => detail['otherPorts'] !== undefined;
    const log = await interruptedWhen(isNoted, { container, scenario });
    const [listening, noted] = [log.of('containerListening'), log.events.find(isNoted)];
    assert.equal(listening.length, 1);
    assert.equal(noted?.detail['port'], listening[0]?.detail['port']);
    assert.match(
      String(noted?.detail['text']),
      /^after its restart, the server listens on port \d+ instead of port \d+$/,
    );
  });

  it('K-104 if the pod has no sidecar, the scenario `sidecars` adds a sidecar, and this sidecar ends after the other containers', async () => {
    const port = await reservePort();
    const scenario = { ...scenarios.sidecars, steps: [{ at: 0, do: { kind: 'delete' } }] } as const;
    const log = await interruptedWhen(() => false, { container: serving(port), port, scenario });
    const kinds: readonly EventKind[] = ['stopSignal', 'containerStarted', 'containerExited'];
    assert.deepEqual(
      log.events.filter(({ kind }) => kinds.includes(kind)).map(({ kind, detail }) => [kind, detail['container']]),
      [
        ['containerStarted', 'idle-sidecar'],
        ['containerStarted', 'app'],
        ['stopSignal', 'app'],
        ['containerExited', 'app'],
        ['stopSignal', 'idle-sidecar'],
        ['containerExited', 'idle-sidecar'],
      ],
    );
  });
});
