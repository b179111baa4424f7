import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import type { EventKind } from '../../../src/cli/rehearsal/event-log.ts';
import { listen } from '../../support/listening.ts';
import { containerSpec, nodeProgram, PodUnderTest, probeSpec, whyNoNamespace } from '../../support/pod-under-test.ts';

const waits = 'setInterval(() => undefined, 1_000);';
const endsOnSigterm = nodeProgram(`process.on('SIGTERM', () => process.exit()); console.log('up'); ${waits}`);
const ignoresSigterm = nodeProgram(`process.on('SIGTERM', () => undefined); console.log('up'); ${waits}`);

const passes = { kind: 'exec', command: ['true'] } as const;
const fails = { kind: 'exec', command: ['false'] } as const;

const kindsOf = (pod: PodUnderTest, kinds: readonly EventKind[]): string[] =>
  pod.log.events.filter(({ kind }) => kinds.includes(kind)).map(({ kind }) => kind);

/** Starts a pod that ignores SIGTERM, and deletes it. Resolves when the simulated kubelet has ended the pod by SIGKILL. */
async function killedPod(t: TestContext): Promise<PodUnderTest> {
  const pod = PodUnderTest.start(t, {
    containers: [containerSpec({ command: ignoresSigterm })],
    terminationGracePeriodSeconds: 1,
  });
  await pod.output('up');
  await pod.kubelet.delete();
  return pod;
}

void describe('the simulated kubelet ends and restarts containers', { concurrency: true }, () => {
  it('K-082, K-090 the simulated kubelet runs preStop, then sends the stop signal, and reports the exit', async (t) => {
    const container = containerSpec({ command: endsOnSigterm, preStop: { kind: 'sleep', seconds: 1 } });
    const pod = PodUnderTest.start(t, { containers: [container] });
    await pod.output('up');
    await pod.kubelet.delete();
    assert.deepEqual(
      kindsOf(pod, ['podDeleted', 'preStopStarted', 'preStopEnded', 'stopSignal', 'containerExited', 'podStopped']),
      ['podDeleted', 'preStopStarted', 'preStopEnded', 'stopSignal', 'containerExited', 'podStopped'],
    );
    const [signal] = pod.log.of('stopSignal');
    assert.equal(
      signal?.detail['killAfterSeconds'],
      4,
      'the time of the preStop hook must count against the grace period',
    );
  });

  it('K-083, K-084 the simulated kubelet sends SIGKILL at the end of the grace period, at least two seconds after the stop signal', async (t) => {
    const pod = await killedPod(t);
    const [signal, kill] = [pod.log.of('stopSignal')[0], pod.log.of('killSignal')[0]];
    const tookMs = (kill?.at ?? 0) - (signal?.at ?? 0);
    assert.ok(tookMs >= 1_999, `the kubelet took ${String(tookMs)} ms`);
    assert.equal(pod.log.of('containerExited')[0]?.detail['code'], 137);
  });

  it(
    'if the main process adds its handler for the stop signal only after this signal has arrived, the rehearsal reports with the SIGKILL that the handler was added too late',
    { skip: whyNoNamespace },
    async (t) => {
      const source = 'trap "trap : TERM" USR1; echo up; while :; do sleep 0.1; done';
      const pod = PodUnderTest.start(t, {
        containers: [containerSpec({ command: ['sh', '-c', source] })],
        terminationGracePeriodSeconds: 1,
      });
      await pod.output('up');
      const ended = pod.kubelet.delete();
      await pod.event('stopSignal');
      pod.kubelet.main?.signal('SIGUSR1');
      await ended;
      const detail = pod.log.of('killSignal')[0]?.detail;
      assert.deepEqual([detail?.['isStopSignalHandled'], detail?.['isHandlerLate']], [true, true]);
    },
  );

  it('if the main process adds its handler for the stop signal before this signal arrives, the rehearsal does not report that the handler was added too late', async (t) => {
    const pod = await killedPod(t);
    assert.equal(pod.log.of('killSignal')[0]?.detail['isHandlerLate'], undefined);
  });

  it("K-104, K-105 the simulated kubelet ends a sidecar after the regular containers, but starts the sidecar's preStop hook at once", async (t) => {
    const slow = nodeProgram(
      `process.on('SIGTERM', () => setTimeout(() => process.exit(), 500)); console.log('up'); ${waits}`,
    );
    const sidecar = { name: 'proxy', command: endsOnSigterm, isSidecar: true, preStop: passes };
    const pod = PodUnderTest.start(t, { containers: [containerSpec(sidecar), containerSpec({ command: slow })] });
    await pod.output('up');
    await pod.kubelet.delete();
    const order = pod.log.events
      .filter(({ kind }) => kind === 'preStopStarted' || kind === 'stopSignal' || kind === 'containerExited')
      .map(({ kind, detail }) => `${kind} ${String(detail['container'])}`);
    assert.deepEqual(order, [
      'preStopStarted proxy',
      'stopSignal app',
      'containerExited app',
      'stopSignal proxy',
      'containerExited proxy',
    ]);
  });

  it('K-062, K-148 if a container fails its liveness probe, the kubelet restarts it without a back-off, and its pod stays ready until the old instance has ended', async (t) => {
    const command = nodeProgram(
      `process.on('SIGTERM', () => setTimeout(() => process.exit(), 500)); console.log('up'); ${waits}`,
    );
    // Use a TCP probe for readiness, because the kernel kills the command of an exec probe together with its container.
    // The killed exec probe would count as failed. It could make the pod unready before the kubelet has noticed the
    // exit of the container.
    const connects = { kind: 'tcp', port: await listen(t, createServer()) } as const;
    const probes = [
      probeSpec({ type: 'liveness', handler: fails }),
      probeSpec({ type: 'readiness', handler: connects }),
    ];
    const pod = PodUnderTest.start(t, { containers: [containerSpec({ command, probes })] });
    await pod.event('containerKilling');
    await pod.event('containerStarted', ({ detail }) => detail['restarts'] === 1);
    const exitAt = pod.log.of('containerExited')[0]?.at ?? 0;
    const unready = pod.log.of('readinessChanged').find(({ detail }) => detail['isReady'] === false);
    assert.ok(unready === undefined || unready.at >= exitAt);
    assert.equal(pod.log.of('containerBackOff').length, 0);
  });

  it('K-148 the first kill of a container by a failed liveness probe starts no back-off, so the kubelet restarts the container without a wait after the first two kills', async (t) => {
    const probes = [probeSpec({ type: 'liveness', handler: fails })];
    const pod = PodUnderTest.start(t, { containers: [containerSpec({ command: endsOnSigterm, probes })] });
    await pod.event('containerStarted', ({ detail }) => detail['restarts'] === 2);
    assert.equal(pod.log.of('containerBackOff').length, 0);
    await pod.event('containerBackOff');
  });

  it('a pod whose containers are never restarted ends if its only container fails its liveness probe', async (t) => {
    const probes = [probeSpec({ type: 'liveness', handler: fails, terminationGracePeriodSeconds: 60 })];
    const containers = [containerSpec({ command: endsOnSigterm, probes })];
    const pod = PodUnderTest.start(t, { containers, restartPolicy: 'Never' });
    const { detail } = await pod.event('containerKilling');
    assert.deepEqual([detail['text'], detail['gracePeriodSeconds']], ['Stopping container app', 5]);
  });

  it('K-104 the simulated kubelet starts a container only when the sidecars that the pod lists before it have started', async (t) => {
    const startup = probeSpec({ type: 'startup', handler: passes, initialDelaySeconds: 2 });
    const sidecar = { name: 'proxy', command: endsOnSigterm, isSidecar: true, probes: [startup] };
    const pod = PodUnderTest.start(t, {
      containers: [containerSpec(sidecar), containerSpec({ command: endsOnSigterm })],
    });
    await pod.event('containerStarted', ({ detail }) => detail['container'] === 'app');
    assert.deepEqual(kindsOf(pod, ['containerStarted', 'containerStartedCondition']), [
      'containerStarted',
      'containerStartedCondition',
      'containerStarted',
    ]);
  });

  it('K-046 the simulated kubelet sends an extra readiness probe when the state of an unready container changes, but not at each periodic check of the pod', async (t) => {
    const probes = [probeSpec({ type: 'readiness', handler: fails, periodSeconds: 60 })];
    const pod = PodUnderTest.start(t, { containers: [containerSpec({ command: endsOnSigterm, probes })] });
    await pod.event('probe');
    // The test uses a second pod, which starts later, as a clock. Its liveness probe runs every five seconds. When the
    // probe has run again, five seconds have passed for the first pod too.
    const liveness = probeSpec({ type: 'liveness', handler: passes, periodSeconds: 5 });
    const other = PodUnderTest.start(t, {
      containers: [containerSpec({ command: endsOnSigterm, probes: [liveness] })],
    });
    await other.event('probe');
    assert.equal(
      pod.log.of('probe').length,
      2,
      'the kubelet must probe once at the start and once after the first result',
    );
  });

  it('K-054, K-055 the simulated kubelet runs no other probe before the startup probe has succeeded', async (t) => {
    const probes = [
      probeSpec({
        type: 'startup',
        handler: { kind: 'exec', command: ['test', '-e', '/tmp'] },
        initialDelaySeconds: 1,
      }),
      probeSpec({ type: 'readiness', handler: passes }),
    ];
    const pod = PodUnderTest.start(t, { containers: [containerSpec({ command: endsOnSigterm, probes })] });
    await pod.event('readinessChanged', ({ detail }) => detail['isReady'] === true);
    assert.deepEqual(
      [pod.log.of('probe')[0]?.detail['type'], kindsOf(pod, ['containerStartedCondition']).length],
      ['startup', 1],
    );
  });

  it('K-142, K-169, K-224 a crashed container restarts at once the first time, and then with a back-off', async (t) => {
    const pod = PodUnderTest.start(t, { containers: [containerSpec({ command: nodeProgram('process.exit(3)') })] }, 10);
    const waiting = await pod.event('containerBackOff');
    assert.ok(Math.abs(Number(waiting.detail['delayMs']) - 10_000) <= 10_000);
    const restarted = await pod.event('containerStarted', ({ detail }) => detail['restarts'] === 2);
    const finished = pod.log.of('containerExited')[1]?.at ?? 0;
    assert.ok(
      restarted.at - finished >= 999,
      `the container restarted after ${String(restarted.at - finished)} ms, with a back-off of a tenth of 10 s`,
    );
  });

  it('K-149 a container is not restarted with the policy Never, nor after exit code 0 with OnFailure', async (t) => {
    for (const [restartPolicy, code] of [
      ['Never', 1],
      ['OnFailure', 0],
    ] as const) {
      const command = nodeProgram(`process.exit(${String(code)})`);
      const pod = PodUnderTest.start(t, { containers: [containerSpec({ command })], restartPolicy });
      await pod.event('containerExited');
      // This second pod is the clock of the test. The kubelet checks its containers once per second. So when the
      // kubelet has restarted the second pod, it has had the time to restart the first pod too.
      const other = PodUnderTest.start(t, { containers: [containerSpec({ command })] });
      await other.event('containerStarted', ({ detail }) => detail['restarts'] === 1);
      assert.equal(pod.log.of('containerStarted').length, 1, restartPolicy);
    }
  });

  it('K-175, K-176 the endpoint of an evicted pod stays ready until every container has stopped', async (t) => {
    const pod = PodUnderTest.start(t, { containers: [containerSpec({ command: ignoresSigterm })] });
    await pod.output('up');
    await pod.event('readinessChanged');
    await pod.kubelet.evict({ cause: 'hardEviction' });
    const stopped = pod.log.of('podStopped')[0]?.at ?? 0;
    const unready = pod.log.of('readinessChanged').find(({ detail }) => detail['isReady'] === false);
    assert.ok((unready?.at ?? 0) >= stopped);
    assert.equal(pod.log.of('stopSignal')[0]?.detail['killAfterSeconds'], 2);
  });

  it('K-076, K-077 the simulated kubelet makes a deleted pod unready at once, and continues its probes', async (t) => {
    const probes = [probeSpec({ type: 'readiness', handler: passes })];
    const pod = PodUnderTest.start(t, {
      containers: [containerSpec({ command: ignoresSigterm, probes })],
      terminationGracePeriodSeconds: 60,
    });
    await pod.output('up');
    await pod.event('readinessChanged');
    void pod.kubelet.delete();
    assert.deepEqual(
      pod.states.find(({ isDeleted }) => isDeleted),
      { isReady: true, isDeleted: true, exists: true },
    );
    const signal = await pod.event('stopSignal');
    await pod.event('probe', ({ at }) => at > signal.at);
  });

  it('K-087 a container that has already exited gets neither a preStop hook nor a signal', async (t) => {
    const pod = PodUnderTest.start(t, {
      containers: [containerSpec({ command: nodeProgram('process.exit()'), preStop: { kind: 'sleep', seconds: 1 } })],
      restartPolicy: 'Never',
    });
    await pod.event('containerExited');
    await pod.kubelet.delete();
    assert.deepEqual(kindsOf(pod, ['preStopStarted', 'stopSignal']), []);
  });

  it('K-091 a preStop hook is abandoned at the end of the grace period, and the container then gets SIGTERM', async (t) => {
    const preStop = { kind: 'exec', command: ['sleep', '60'] } as const;
    const pod = PodUnderTest.start(t, {
      containers: [containerSpec({ command: endsOnSigterm, preStop })],
      terminationGracePeriodSeconds: 1,
    });
    await pod.output('up');
    await pod.kubelet.delete();
    assert.match(
      String(pod.log.of('preStopEnded')[0]?.detail['failure']),
      /still running at the end of the grace period/,
    );
    assert.equal(pod.log.of('containerExited')[0]?.detail['code'], 0);
  });

  it('K-059, K-169 if a container has no readiness probe, the pod is ready less than two seconds after the start of the scenario, before any probe has run', async (t) => {
    // The pod must be ready before its first liveness probe, which runs two seconds after the start of the container.
    const probes = [probeSpec({ type: 'liveness', handler: passes, periodSeconds: 2 })];
    const pod = PodUnderTest.start(t, { containers: [containerSpec({ command: endsOnSigterm, probes })] });
    await pod.event('readinessChanged', ({ detail }) => detail['isReady'] === true);
    assert.equal(pod.log.of('probe').length, 0);
  });

  it('K-080 the liveness probe of a sidecar continues while the regular container drains', async (t) => {
    const probes = [probeSpec({ type: 'liveness', handler: passes })];
    const sidecar = containerSpec({ name: 'proxy', command: endsOnSigterm, isSidecar: true, probes });
    const app = containerSpec({ command: ignoresSigterm, probes });
    const pod = PodUnderTest.start(t, { containers: [sidecar, app], terminationGracePeriodSeconds: 60 });
    await pod.output('up');
    void pod.kubelet.delete();
    const signal = await pod.event('stopSignal');
    // The sidecar `proxy` and the regular container have probes with the same period. So a probe of the regular
    // container would run between the two probes of the sidecar for which the test waits.
    const first = await pod.event('probe', ({ at }) => at > signal.at);
    await pod.event('probe', ({ at }) => at > first.at);
    const probed = pod.log.of('probe').filter(({ at }) => at > signal.at);
    assert.deepEqual([...new Set(probed.map(({ detail }) => detail['container']))], ['proxy']);
  });

  it('K-167, K-168 if a pod is deleted while the kubelet ends a container whose probe failed, the kubelet first restarts this container, and then ends the new instance', async (t) => {
    const slow = nodeProgram(
      `process.on('SIGTERM', () => setTimeout(() => process.exit(), 1_000)); console.log('up'); ${waits}`,
    );
    const probes = [probeSpec({ type: 'liveness', handler: fails, initialDelaySeconds: 1 })];
    const pod = PodUnderTest.start(t, {
      containers: [containerSpec({ command: slow, probes })],
      terminationGracePeriodSeconds: 2,
    });
    await pod.event('stopSignal');
    await pod.kubelet.delete();
    assert.deepEqual(kindsOf(pod, ['stopSignal', 'containerStarted', 'containerExited']), [
      'containerStarted',
      'stopSignal',
      'containerExited',
      'containerStarted',
      'stopSignal',
      'containerExited',
    ]);
  });

  it('K-092 any HTTP response to a preStop hook counts as a success', async (t) => {
    const port = await listen(
      t,
      createServer((_, response) => response.writeHead(500).end()),
    );
    const preStop = { kind: 'http', port, path: '/', scheme: 'HTTP', headers: [] } as const;
    const pod = PodUnderTest.start(t, { containers: [containerSpec({ command: endsOnSigterm, preStop })] });
    await pod.output('up');
    await pod.kubelet.delete();
    assert.equal(pod.log.of('preStopEnded')[0]?.detail['failure'], undefined);
  });
});
