// Tests what the simulated kubelet does while a postStart hook runs.
import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import type { EventKind } from '../../../src/cli/rehearsal/event-log.ts';
import type { Hook } from '../../../src/cli/rehearsal/pod.ts';
import { listen } from '../../support/listening.ts';
import { containerSpec, nodeProgram, PodUnderTest, probeSpec } from '../../support/pod-under-test.ts';

const waits = 'setInterval(() => undefined, 1_000);';
const endsOnSigterm = nodeProgram(`process.on('SIGTERM', () => process.exit()); console.log('up'); ${waits}`);

const passes = { kind: 'exec', command: ['true'] } as const;
const fails = { kind: 'exec', command: ['false'] } as const;

const eventsOf = (pod: PodUnderTest, ...kinds: readonly EventKind[]): string[] =>
  pod.log.events
    .filter(({ kind }) => kinds.includes(kind))
    .map(({ kind, detail }) => [kind, detail['container']].filter(Boolean).join(' '));

// A postStart hook over HTTP that runs until the test calls `release()`.
class HeldHook {
  readonly hook: Hook;
  readonly #waiting: ServerResponse[] = [];
  #onRequest: () => void = () => undefined;

  private constructor(t: TestContext, port: number, server: ReturnType<typeof createServer>) {
    this.hook = { kind: 'http', port, path: '/', scheme: 'HTTP', headers: [] };
    server.on('request', (_, response: ServerResponse) => {
      this.#waiting.push(response);
      this.#onRequest();
    });
    t.after(() => {
      this.release();
    });
  }

  static async create(t: TestContext): Promise<HeldHook> {
    const server = createServer();
    return new HeldHook(t, await listen(t, server), server);
  }

  // Resolves when the postStart hook runs.
  async started(): Promise<void> {
    if (this.#waiting.length > 0) return;
    await new Promise<void>((resolve) => {
      this.#onRequest = resolve;
    });
  }

  release(): void {
    for (const response of this.#waiting.splice(0)) response.end();
  }
}

void describe('the simulated kubelet waits for the end of a postStart hook', { concurrency: true }, () => {
  it('K-096 a container is neither probed nor ready until its postStart hook has ended', async (t) => {
    const container = containerSpec({
      command: endsOnSigterm,
      postStart: { kind: 'exec', command: ['sleep', '2'] },
      probes: [probeSpec({ type: 'readiness', handler: passes }), probeSpec({ type: 'liveness', handler: passes })],
    });
    const pod = PodUnderTest.start(t, { containers: [container] });
    await pod.event('readinessChanged');
    assert.deepEqual(eventsOf(pod, 'postStartStarted', 'postStartEnded', 'readinessChanged'), [
      'postStartStarted app',
      'postStartEnded app',
      'readinessChanged',
    ]);
    const [ended, probe] = [pod.log.of('postStartEnded')[0], pod.log.of('probe')[0]];
    assert.equal(ended?.detail['failure'], undefined);
    assert.ok(
      (probe?.at ?? 0) > (ended?.at ?? 0),
      'the kubelet must send no probe before the postStart hook has ended',
    );
  });

  it('K-096 a container whose postStart hook fails is killed and restarted as after a crash', async (t) => {
    const container = containerSpec({ command: endsOnSigterm, postStart: fails });
    const pod = PodUnderTest.start(t, { containers: [container] }, 10);
    const waiting = await pod.event('containerBackOff');
    const before = pod.log.events.slice(0, pod.log.events.indexOf(waiting));
    assert.equal(before.filter(({ kind }) => kind === 'containerStarted').length, 2);
    assert.equal(pod.log.of('containerKilling')[0]?.detail['text'], 'FailedPostStartHook');
  });

  it('K-096 if a container exits while its postStart hook runs, the kubelet restarts the container after the hook has ended', async (t) => {
    const held = await HeldHook.create(t);
    const container = containerSpec({ command: nodeProgram('process.exit(3)'), postStart: held.hook });
    const pod = PodUnderTest.start(t, { containers: [container] });
    await Promise.all([held.started(), pod.event('containerExited')]);
    held.release();
    await pod.event('containerStarted', ({ detail }) => detail['restarts'] === 1);
    assert.deepEqual(eventsOf(pod, 'containerStarted', 'containerExited', 'postStartEnded').slice(0, 4), [
      'containerStarted app',
      'containerExited app',
      'postStartEnded app',
      'containerStarted app',
    ]);
  });

  it('K-096 while a postStart hook runs, the kubelet starts no other container of the pod and probes none', async (t) => {
    const probes = [probeSpec({ type: 'liveness', handler: passes })];
    const pod = PodUnderTest.start(t, {
      containers: [
        containerSpec({ name: 'first', command: endsOnSigterm, probes }),
        // The kubelet must not probe the container `first` during this postStart hook, which takes two seconds. Without
        // the hook, the kubelet would probe `first` twice in two seconds.
        containerSpec({ name: 'second', command: endsOnSigterm, postStart: { kind: 'sleep', seconds: 2 } }),
        containerSpec({ name: 'third', command: endsOnSigterm }),
      ],
    });
    await pod.event('probe');
    assert.deepEqual(eventsOf(pod, 'containerStarted', 'postStartEnded', 'probe').slice(0, 5), [
      'containerStarted first',
      'containerStarted second',
      'postStartEnded second',
      'containerStarted third',
      'probe first',
    ]);
  });

  it('K-163 if a probe fails while the postStart hook of another container runs, the simulated kubelet kills the probed container only after this hook has ended', async (t) => {
    const held = await HeldHook.create(t);
    // The first container restarts. When its postStart hook runs for the second time, the liveness probe of the second
    // container begins to fail.
    let isHeldAgain = false;
    const probed = createServer((_, response) => response.writeHead(isHeldAgain ? 500 : 200).end());
    const handler = { kind: 'http', port: await listen(t, probed), path: '/', scheme: 'HTTP', headers: [] } as const;
    const pod = PodUnderTest.start(t, {
      containers: [
        containerSpec({ name: 'first', command: nodeProgram('process.exit(3)'), postStart: held.hook }),
        containerSpec({ name: 'second', command: endsOnSigterm, probes: [probeSpec({ type: 'liveness', handler })] }),
      ],
    });
    await held.started();
    held.release();
    // The kubelet restarts the first container, and its postStart hook runs again. In the meantime, the kubelet probes
    // the second container.
    await held.started();
    isHeldAgain = true;
    await pod.event('probe', ({ detail }) => detail['published'] === 'failure');
    held.release();
    await pod.event('containerKilling');
    assert.deepEqual(eventsOf(pod, 'postStartEnded', 'containerKilling').slice(0, 3), [
      'postStartEnded first',
      'postStartEnded first',
      'containerKilling second',
    ]);
  });

  it('K-079, K-167 if a pod is deleted while its postStart hook runs, the kubelet publishes that the pod is ready, and the grace period begins only when the hook has ended', async (t) => {
    const held = await HeldHook.create(t);
    const pod = PodUnderTest.start(t, {
      containers: [containerSpec({ command: endsOnSigterm, postStart: held.hook })],
      terminationGracePeriodSeconds: 20,
    });
    await Promise.all([held.started(), pod.output('up')]);
    const deleted = pod.kubelet.delete();
    held.release();
    await deleted;
    assert.deepEqual(eventsOf(pod, 'podDeleted', 'postStartEnded', 'readinessChanged', 'stopSignal', 'podStopped'), [
      'podDeleted',
      'postStartEnded app',
      'readinessChanged',
      'stopSignal app',
      'podStopped',
      'readinessChanged',
    ]);
    assert.equal(pod.log.of('stopSignal')[0]?.detail['killAfterSeconds'], 20);
  });

  it('K-167 if a pod is deleted while its first postStart hook runs, the kubelet still starts the other containers, and then ends them', async (t) => {
    const held = await HeldHook.create(t);
    const pod = PodUnderTest.start(t, {
      containers: [
        containerSpec({ name: 'first', command: endsOnSigterm, postStart: held.hook }),
        containerSpec({ name: 'second', command: endsOnSigterm }),
      ],
      terminationGracePeriodSeconds: 2,
    });
    await Promise.all([held.started(), pod.output('up')]);
    const deleted = pod.kubelet.delete();
    held.release();
    await deleted;
    assert.deepEqual(eventsOf(pod, 'podDeleted', 'containerStarted', 'postStartEnded', 'containerKilling'), [
      'containerStarted first',
      'podDeleted',
      'postStartEnded first',
      'containerStarted second',
      'containerKilling first',
      'containerKilling second',
    ]);
  });

  it('K-096, K-167 if a postStart hook fails after its pod was deleted, the kubelet kills the container with the reason FailedPostStartHook', async (t) => {
    const container = containerSpec({ command: endsOnSigterm, postStart: { kind: 'exec', command: ['false'] } });
    const pod = PodUnderTest.start(t, { containers: [container] });
    await pod.event('postStartStarted');
    await pod.kubelet.delete();
    assert.deepEqual(
      pod.log.of('containerKilling').map(({ detail }) => detail['text']),
      ['FailedPostStartHook'],
    );
  });
});
