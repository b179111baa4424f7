// Tests four pods on a real cluster. The first pod blocks its event loop for ten seconds, the second pod forever. The
// third pod is busy but not blocked, and the fourth pod is idle. The chart configures the probes of the pods.
//
//   CLUSTER_IMAGE_IMPORT, KUBECTL, HELM  see images.ts, rollout.test.ts and release.ts
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Flood } from './programs/flood.ts';
import { importImages } from './images.ts';
import { Namespace } from './kubernetes.ts';
import { addPrograms, programs } from './program-pods.ts';
import { Release } from './release.ts';

const namespace = new Namespace('stalls');
const node = '/nodejs/bin/node';

/**
 * The value of livezEventLoopStallLimit in seconds. It is shorter than the default of 30 s, so that the test is short.
 * It is longer than 10 s, so that the kubelet does not restart the pod that blocks its event loop for 10 s.
 */
const livezLimit = 15;
const livenessGrace = 5;
const release = new Release(namespace, 'stalls', 4, {
  ...programs,
  command: [node, 'programs/stalling-server.ts'],
  lameduck: { livezEventLoopStallLimit: `${String(livezLimit)}s` },
  probes: { liveness: { periodSeconds: 5, timeoutSeconds: 1, terminationGracePeriodSeconds: livenessGrace } },
  resources: { limits: { memory: '512Mi' } },
});

/**
 * How many seconds the test sends requests to the busy pod. Within this time, the kubelet restarts the pod whose event
 * loop is blocked forever.
 */
const floodSeconds = 45;
const floodConnections = 2000;

describe('on a real cluster, a pod with a blocked event loop becomes unready, and is restarted only if the block does not end', () => {
  let pods: string[] = [];
  let blockedAt = 0;
  let flood: Promise<Flood>;

  const inPod = (pod: string, ...command: string[]) => namespace.kubectl('exec', pod, '--', node, ...command);
  const block = (pod: string, query: string) =>
    inPod(pod, '--eval', `fetch('http://127.0.0.1:8080/block${query}').then((answer) => answer.text())`);
  const runsOf = (pod: string) => release.runs().filter((run) => run.pod === pod);
  const restartsOf = (pod: string) => runsOf(pod).length - 1;
  const changesOf = (pod: string) =>
    namespace.endpointChanges.filter((change) => change.pod === pod && change.at > blockedAt);
  const isKilledByProbe = (pod: string) =>
    namespace.killsByProbe().some(({ involvedObject }) => involvedObject.name === pod);
  /** The values of `stalledMs` in the pod's log lines whose message starts with `message`. */
  const stalls = (pod: string, message: string) =>
    runsOf(pod)
      .flatMap(({ lines }) => lines.map((line) => JSON.parse(line) as { msg: string; stalledMs?: number }))
      .flatMap(({ msg, stalledMs }) => (msg.startsWith(message) && stalledMs !== undefined ? [stalledMs] : []));

  before(async () => {
    await importImages('../../../docker/build-archive.sh');
    await namespace.create();
    await addPrograms(namespace);
    await release.apply();
    await namespace.until('four pods serve', 60, () => release.hasSettled(4));
    pods = release.pods().map(({ metadata }) => metadata.name);
    await namespace.until('all four pods are endpoints', 10, () =>
      pods.every((pod) => namespace.isEndpoint('stalls', pod)),
    );
    const [blocked = '', dead = '', busy = ''] = pods;
    blockedAt = performance.now();
    flood = inPod(
      busy,
      'programs/flood.ts',
      ...['http://127.0.0.1:8080/busy', String(floodConnections), String(floodSeconds)],
    ).then((output) => JSON.parse(output) as Flood);
    flood.catch(() => undefined); // Ignore the error here, because the test of the busy pod reports it.
    await Promise.all([block(blocked, '?ms=10000'), block(dead, '')]);
  });

  after(() => namespace.delete());

  it('P-090 a pod that is blocked for ten seconds is removed from the endpoints and added back, without a restart', async () => {
    const [blocked = ''] = pods;
    await namespace.until('the pod has left the endpoints', 15, () => !namespace.isEndpoint('stalls', blocked));
    await namespace.until('the pod is an endpoint again', 15, () => namespace.isEndpoint('stalls', blocked));
    const [left = 0, back = 0] = changesOf(blocked).map(({ at }) => (at - blockedAt) / 1000);
    // /readyz fails once the event loop has been blocked for 5 s. After two failed probes, the pod is removed from the
    // endpoints. When the event loop runs again, the first probe succeeds, and the pod is added to the endpoints again.
    assert.ok(left > 5 && left < 10, `the pod left the endpoints after ${String(left)} s`);
    assert.ok(back > 10 && back < 15, `the pod was added back after ${String(back)} s`);
    await namespace.until(
      'the log reports the end of the block',
      10,
      () => stalls(blocked, 'event loop no longer blocked').length > 0,
    );
    const [length = 0] = stalls(blocked, 'event loop no longer blocked');
    assert.ok(Math.abs(length - 10_000) < 1000, `the log reports a block of ${String(length)} ms`);
  });

  it('P-118 a pod that is blocked forever is removed from the endpoints, and its liveness probe restarts it', async () => {
    const [, dead = ''] = pods;
    await namespace.until('the container is restarted', 90, () => restartsOf(dead) === 1);
    const [first] = runsOf(dead);
    await namespace.until('the exit code of the killed run is known', 10, () => first?.exitCode !== undefined);
    assert.equal(first?.exitCode, 137); // The blocked process cannot handle SIGTERM, so it is killed.
    assert.ok(isKilledByProbe(dead));
    const [left] = changesOf(dead);
    assert.ok(
      left?.isReady === false && (left.at - blockedAt) / 1000 < livezLimit,
      'the pod must leave the endpoints before the restart',
    );
    assert.equal(stalls(dead, 'event loop blocked').length, 1);
    await namespace.until('the pod is an endpoint again', 30, () => namespace.isEndpoint('stalls', dead));
  });

  it('K-197 a pod that is busy with two thousand requests in its queue stays ready and is not restarted', async (t) => {
    const [, , busy = ''] = pods;
    const seen = await flood;
    t.diagnostic(JSON.stringify(seen));
    assert.deepEqual(seen.failures, {});
    assert.ok(seen.answered > 5000);
    assert.ok(seen.slowestMilliseconds > 2000, 'a probe on the main port would have waited too long');
    const metrics = (await namespace.ask(busy, 8081, '/metrics')) ?? '';
    const active = Number(/^lameduck_event_loop_active_seconds_total (\S+)$/m.exec(metrics)?.[1]);
    assert.ok(active > 0.9 * floodSeconds, `the event loop was busy for ${String(active)} s`);
    assert.deepEqual(changesOf(busy), []);
    assert.deepEqual(stalls(busy, 'event loop'), []);
  });

  it('K-197 the kubelet restarts only one of the four pods of this test: the pod whose event loop is blocked forever', () => {
    const [, dead, ...others] = pods;
    const calm = others.at(-1) ?? '';
    assert.deepEqual(changesOf(calm), []);
    for (const pod of pods) {
      assert.equal(restartsOf(pod), pod === dead ? 1 : 0, pod);
      assert.equal(isKilledByProbe(pod), pod === dead, pod);
    }
  });
});
