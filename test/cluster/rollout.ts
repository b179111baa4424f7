// The real rollout: on the cluster that KUBECONFIG names, the reference service is rolled, deleted and drained while a
// dozen clients that never retry ask it, and none may lose a request or be refused. Then the same with a naive server,
// which shows that the clients would have seen it.
//
//   CLUSTER_IMAGE_IMPORT  a command that imports the image archive which is appended (kind load image-archive)
//   CLUSTER_PROXY_LAG     optional: a command that makes every kube-proxy act only every S seconds for the next N, with
//                         S and N appended; 0 0 ends it
//   KUBECTL               optional: how to call kubectl where its name is not enough (minikube kubectl --)
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { ShutdownRecord } from '../../src/observer.ts';
import type { Kind, Tally } from './client.ts';
import { isServing, Namespace, type Pod, run } from './kubernetes.ts';
import { Load } from './load.ts';

const { KUBECTL: kubectl = 'kubectl', CLUSTER_IMAGE_IMPORT: imageImport, CLUSTER_PROXY_LAG: proxyLag } = process.env;

/** As late as the kube-proxy of a large cluster; the delay of 5 s in reference-service.yaml is there to outlast it. */
const proxyLagSeconds = 3;
const clientsOfAKind = 3;

const namespace = new Namespace(kubectl, `rollout-${randomBytes(3).toString('hex')}`);
const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const nameOf = (pod: Pod) => pod.metadata.name;
const servicePods = () =>
  [...namespace.pods.values()].filter(({ metadata }) => metadata.labels?.['app'] === 'reference-service');
const waitForRollout = () => namespace.kubectl('rollout', 'status', 'deployment/reference-service', '--timeout=120s');

/** After it nothing is left of the disturbance before it, and the load has not missed its end. */
function settle(load: Load): Promise<void> {
  return namespace.until('three pods serve, each asked by the clients, and no other is left', 90, () => {
    const pods = servicePods();
    return pods.length === 3 && pods.every((pod) => isServing(pod) && load.second.pods[nameOf(pod)]?.requests);
  });
}

async function rollOut(load: Load): Promise<void> {
  const old = servicePods().map(nameOf);
  await namespace.kubectl('rollout', 'restart', 'deployment/reference-service');
  await waitForRollout();
  await settle(load);
  assert.ok(servicePods().every((pod) => !old.includes(nameOf(pod))));
}

function sum(kinds: Record<Kind, Tally>, what: keyof Tally): number {
  return Object.values(kinds).reduce((total, tally) => total + tally[what], 0);
}

function report(t: TestContext, kinds: Record<Kind, Tally>): void {
  for (const [kind, tally] of Object.entries(kinds)) t.diagnostic(`${kind}: ${JSON.stringify(tally)}`);
}

/** Since the last time it was called, so that each disturbance answers for itself. */
function assertNothingFailed(load: Load): void {
  const failures = load.failures.splice(0);
  const first = failures.slice(0, 5).map((failure) => JSON.stringify(failure));
  assert.equal(failures.length, 0, `${String(failures.length)} requests failed, first:\n${first.join('\n')}`);
}

async function importImage(): Promise<void> {
  assert.ok(imageImport, 'CLUSTER_IMAGE_IMPORT must name the command that imports an image archive into the cluster');
  const folder = await mkdtemp(join(tmpdir(), 'rollout-'));
  try {
    const archive = join(folder, 'image.tar');
    await run('bash', fileOf('../../docker/build-archive.sh'), archive);
    await run(imageImport, archive);
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe('the real rollout', () => {
  const complaints: string[] = [];

  before(async () => {
    await importImage();
    await namespace.create();
    namespace.on('line', (pod, line) => {
      if (/"level":[4-6]0.*LAMEDUCK_/.test(line)) complaints.push(`${pod}: ${line}`);
    });
    const programs = ['client.ts', 'naive-server.ts'].map((name) => `--from-file=${fileOf(name)}`);
    programs.push('--from-literal=package.json={"type":"module"}');
    await namespace.kubectl('create', 'configmap', 'programs', ...programs);
    await namespace.kubectl('apply', '--filename', fileOf('reference-service.yaml'));
    await waitForRollout();
  });

  after(async () => {
    try {
      if (proxyLag) await run(proxyLag, '0', '0');
    } finally {
      await namespace.delete();
    }
  });

  describe('of the reference service', () => {
    let load: Load;

    before(async () => {
      load = await Load.start(namespace);
      if (proxyLag) await run(proxyLag, String(proxyLagSeconds), '600');
      await settle(load);
    });

    it('loses and refuses nothing in two rollouts', async () => {
      await rollOut(load);
      await rollOut(load);
      assertNothingFailed(load);
    });

    it('loses and refuses nothing when the pod with the most kept connections is deleted', async () => {
      const keptBy = (pod: Pod) => load.second.pods[nameOf(pod)]?.kept ?? 0;
      const [pod] = servicePods().sort((one, other) => keptBy(other) - keptBy(one));
      assert.ok(pod && keptBy(pod) > 0);
      await namespace.kubectl('delete', 'pod', nameOf(pod));
      await settle(load);
      assertNothingFailed(load);
    });

    it('loses and refuses nothing when a node is drained', async (t) => {
      const { nodeName: spared } = [...namespace.pods.values()].find((pod) => nameOf(pod) === 'client')?.spec ?? {};
      const nodes = await namespace.kubectl('get', 'nodes', '--output=name');
      if (nodes.trim().split('\n').length === 1) {
        t.skip('a cluster of one node has nowhere to drain it to');
        return;
      }
      const node = servicePods().find(({ spec }) => spec.nodeName !== spared)?.spec.nodeName;
      assert.ok(node, 'a pod runs on another node than the clients');
      try {
        // What else runs on the node is not ours to evict.
        await namespace.kubectl('drain', node, '--pod-selector=app=reference-service', '--timeout=120s');
        await settle(load);
        assert.ok(servicePods().every(({ spec }) => spec.nodeName !== node));
      } finally {
        await namespace.kubectl('uncordon', node);
      }
      assertNothingFailed(load);
    });

    it('has answered thousands of requests and ended no kept connection unannounced', async (t) => {
      const kinds = await load.end();
      report(t, kinds);
      assert.deepEqual(load.warnings, []);
      assert.ok(sum(kinds, 'requests') > 4000);
      assert.equal(sum(kinds, 'answered'), sum(kinds, 'requests'));
      for (const kind of ['kept GET', 'kept POST'] as const) {
        const { connections, toldToClose } = kinds[kind];
        assert.ok(connections > clientsOfAKind && connections - toldToClose <= clientsOfAKind, kind);
      }
    });

    it('ends every container with exit code 0 and the final line as the last of its log', async () => {
      const services = [...namespace.histories].filter(([, { app }]) => app === 'reference-service');
      for (const [, { name, restartCount }] of services) assert.equal(restartCount, 0, name);
      const ended = services.filter(([uid]) => !namespace.pods.has(uid)).map(([, history]) => history);
      assert.ok(ended.length >= 7, 'two rollouts of three pods and a deletion end at least seven containers');
      await namespace.until('every log is read to its end', 30, () => ended.every((pod) => pod.isLogComplete));
      for (const { name, exitCode, lastLine } of ended) {
        assert.equal(exitCode, 0, name);
        assert.match(lastLine, /^\{.*\}$/, name);
        const { schema, unfinished, hookFailures } = JSON.parse(lastLine) as Partial<ShutdownRecord>;
        const clean = { schema: 'lameduck/shutdown/v1', unfinished: [], hookFailures: [] };
        assert.deepEqual({ schema, unfinished, hookFailures }, clean, name);
      }
    });

    it('P-121 takes no service link for a setting: no pod complains about a variable', () => {
      assert.deepEqual(complaints, []);
    });
  });

  describe('of a naive server', () => {
    it('loses or refuses some requests, and the clients see it', async (t) => {
      await namespace.kubectl(
        'patch',
        'deployment',
        'reference-service',
        '--patch-file',
        fileOf('naive-server.patch.yaml'),
      );
      await waitForRollout();
      const load = await Load.start(namespace);
      await settle(load);
      await rollOut(load);
      const kinds = await load.end();
      report(t, kinds);
      assert.ok(sum(kinds, 'lost') + sum(kinds, 'refused') > 0);
    });
  });
});
