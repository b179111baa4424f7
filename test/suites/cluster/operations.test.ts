// Tests the checkpoint and the debug socket, on a real cluster. One container is killed in each phase of its lifecycle,
// one is killed because it uses too much memory, and one fails its liveness probe. `lameduck inspect` runs by `kubectl
// exec` in an image without a shell.
//
//   CLUSTER_IMAGE_IMPORT, KUBECTL, HELM  see images.ts, kubernetes.ts and release.ts
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { signalNames } from '../../../src/lifecycle/graph.ts';
import { blocksIn, readPage } from '../../support/markdown.ts';
import { importImages } from './images.ts';
import { isServing, Namespace, type Run } from './kubernetes.ts';
import { addPrograms, programs } from './program-pods.ts';
import { Release } from './release.ts';

const namespace = new Namespace('operations');
const node = '/nodejs/bin/node';
const phases = ['Started', ...signalNames];
// One pod for each test, because each test kills or restarts its own pod. There is one test for each phase of the
// lifecycle, and there are four other tests.
const replicas = phases.length + 4;

const release = new Release(namespace, 'operations', replicas, {
  ...programs,
  command: [node, 'programs/hanging-server.ts'],
  lameduck: {
    shutdownDelayDuration: '1s',
    allowShortDelay: true,
    livezEventLoopStallLimit: '6s',
    checkpointPath: '/run/lameduck/checkpoint.json',
  },
  probes: {
    liveness: { periodSeconds: 5, timeoutSeconds: 1, failureThreshold: 2, terminationGracePeriodSeconds: 5 },
    startup: { failureThreshold: 30 },
  },
  resources: { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '256Mi' } },
});

interface Line {
  readonly msg: string;
  readonly phase?: string;
  readonly name?: string;
}

const linesOf = ({ lines }: Run): Line[] =>
  lines.flatMap((line) => (line.startsWith('{') ? JSON.parse(line) : []) as Line[]);

describe('on a real cluster, a container reports how its previous run ended, and its debug socket answers `lameduck inspect`', () => {
  const pods: string[] = [];

  const inPod = (pod: string, ...command: string[]) => namespace.kubectl('exec', pod, '--', node, ...command);
  // On some clusters, the API server cannot connect to pods, so the request is sent inside the pod.
  const read = (pod: string, port: number, path: string) =>
    inPod(pod, '--eval', `fetch('http://127.0.0.1:${String(port)}${path}').then((r) => r.text()).then(console.log)`);
  const send = (pod: string, path: string) => read(pod, 8080, path);
  const runsOf = (pod: string) => release.runs().filter((run) => run.pod === pod);
  const hasBeenReady = (run: Run | undefined) =>
    run !== undefined && linesOf(run).some(({ name }) => name === 'HasBeenReady');
  // The probe port may listen later than the server. The pod is therefore not used before the kubelet has received a
  // ready response.
  const isServingAfter = (name: string, restarts: number) =>
    [...namespace.pods.values()].some(
      (pod) =>
        pod.metadata.name === name &&
        isServing(pod) &&
        pod.status.containerStatuses?.every(({ restartCount }) => restartCount === restarts),
    );

  /**
   * `restarted()` waits until the container has restarted `restarts` times and is ready. It resolves with the current
   * run and the previous run of the container.
   */
  async function restarted(pod: string, restarts: number): Promise<{ run: Run; previous: Run }> {
    await namespace.until(
      `${pod} has been restarted`,
      240,
      () => isServingAfter(pod, restarts) && hasBeenReady(runsOf(pod)[restarts]),
    );
    await namespace
      .until('the exit code of the previous run', 10, () => runsOf(pod)[restarts - 1]?.exitCode !== undefined)
      .catch((error: unknown) => {
        const { status } = release.pods().find(({ metadata }) => metadata.name === pod) ?? {};
        throw new Error(JSON.stringify([status?.containerStatuses, runsOf(pod)]), { cause: error });
      });
    const [previous, run] = runsOf(pod).slice(restarts - 1) as [Run, Run];
    return { run, previous };
  }

  /**
   * assertFailedLiveness asserts that a Kubernetes event says that the kubelet killed the pod's container for its
   * liveness probe.
   */
  function assertFailedLiveness(pod: string): void {
    const ofPod = namespace.killsByProbe().filter(({ involvedObject }) => involvedObject.name === pod);
    assert.match(ofPod.map(({ message }) => message).join('\n'), / failed liveness probe/);
  }

  /**
   * assertSays asserts how the container's previous run ended, according to the log, the metric and the debug socket of
   * the present run.
   */
  async function assertSays(pod: string, run: Run, message: string, outcome: string, phase: string): Promise<void> {
    const [line] = linesOf(run).filter(({ msg }) => msg.startsWith('previous run'));
    assert.deepEqual([line?.msg, line?.phase], [message, phase]);
    const metrics = await read(pod, 8081, '/metrics');
    const info = `lameduck_previous_run_info{outcome="${outcome}",phase="${phase}"} 1`;
    assert.ok(metrics.includes(info), `expected ${info} in ${metrics}`);
    const page = await inPod(pod, '/app/dist/cli/main.js', 'inspect');
    assert.match(page, new RegExp(`^previous run +${outcome === 'clean' ? 'clean' : `${outcome} ${phase}`}`, 'm'));
  }

  before(async () => {
    await importImages('../../../docker/build-archive.sh');
    await namespace.create();
    await addPrograms(namespace);
    await release.apply();
    await namespace.until('every pod serves', 120, () => release.hasSettled(replicas));
    pods.push(...release.pods().map(({ metadata }) => metadata.name));
  });

  after(() => namespace.delete());

  describe(
    'K-150 after a container was killed, its next run logs the phase of the lifecycle in which it was killed',
    { concurrency: true },
    () => {
      for (const [index, phase] of phases.entries()) {
        it(`after a kill in the phase ${phase}, the next run of the container logs this phase`, async () => {
          const pod = pods[index] ?? '';
          await send(pod, `/plan?phase=${phase}`);
          const { run, previous } = await restarted(pod, 2);
          assert.equal(previous.exitCode, 137);
          assert.ok(linesOf(previous).some(({ msg }) => msg === 'previous run ended cleanly'));
          const isNeverReady = ['Started', 'MuxAndDiscoveryComplete'].includes(phase);
          if (isNeverReady) await assertSays(pod, run, 'previous run never became ready', 'never_ready', phase);
          else await assertSays(pod, run, 'previous run was killed', 'killed', phase);
        });
      }

      it('after the kernel kills a container that used too much memory, its next run logs that the previous run was killed', async () => {
        const pod = pods[phases.length] ?? '';
        // Ignore an error of kubectl. The kernel may kill the container before kubectl receives the response of the
        // container.
        await send(pod, '/fill').catch(() => undefined);
        const { run, previous } = await restarted(pod, 1);
        assert.deepEqual([previous.exitCode, previous.exitReason], [137, 'OOMKilled']);
        await assertSays(pod, run, 'previous run was killed', 'killed', 'HasBeenReady');
      });

      it('if the liveness probe fails because the event loop is blocked, the next run of the container logs that the previous run was killed', async () => {
        const pod = pods[phases.length + 1] ?? '';
        await send(pod, '/block');
        const { run, previous } = await restarted(pod, 1);
        assert.equal(previous.exitCode, 137);
        assertFailedLiveness(pod);
        await assertSays(pod, run, 'previous run was killed', 'killed', 'HasBeenReady');
      });

      it('if a failing livez check restarts a container after its drain, the next run of the container logs that the previous run ended cleanly', async () => {
        const pod = pods[phases.length + 2] ?? '';
        await send(pod, '/unhealthy');
        const { run, previous } = await restarted(pod, 1);
        assert.equal(previous.exitCode, 0);
        assertFailedLiveness(pod);
        await assertSays(pod, run, 'previous run ended cleanly', 'clean', 'Exited');
      });
    },
  );

  it('in an image without a shell, kubectl exec runs `lameduck inspect`, whose options remove the pod from the endpoints and end the process', async () => {
    const pod = pods.at(-1) ?? '';
    const isEndpoint = () => namespace.isEndpoint('operations', pod);
    const inspect = (...options: string[]) => inPod(pod, '/app/dist/cli/main.js', 'inspect', ...options);
    await assert.rejects(namespace.kubectl('exec', pod, '--', 'sh', '-c', 'true'));
    // The test runs the `lameduck inspect` command of docs/inspect.md in a pod, with the path of `lameduck` that the
    // page states for an image.
    const [, command = ''] =
      /^kubectl exec \S+ -- (.* inspect)$/m.exec(
        blocksIn(readPage('docs/inspect.md'))
          .map(({ text }) => text)
          .join('\n'),
      ) ?? [];
    const documented = command.replace('/app/node_modules/lameduck/dist', '/app/dist').split(' ');
    assert.match(
      await namespace.kubectl('exec', pod, '--', ...documented),
      /^process +1, lameduck .*\nstate +running$/m,
    );
    assert.ok(isEndpoint());
    assert.match(await inspect('--unready'), /^unready requested/);
    await namespace.until('the pod has left the endpoints', 15, () => !isEndpoint());
    assert.match(await inspect('--ready'), /^ready requested/);
    await namespace.until('the pod is an endpoint again', 15, isEndpoint);
    assert.match(await inspect('--shutdown'), /^shutdown requested/);
    const { run, previous } = await restarted(pod, 1);
    assert.equal(previous.exitCode, 0);
    await assertSays(pod, run, 'previous run ended cleanly', 'clean', 'Exited');
  });
});
