// Compares `lameduck restarts` with a real cluster. Each test applies an old and a new manifest. The new manifest must
// have the effect on the pods that the command predicts.
//
//   CLUSTER_IMAGE_IMPORT, KUBECTL  see images.ts and kubernetes.ts
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { readObjects } from '../../../src/cli/manifest/objects.ts';
import { effectsOf, type EffectKind } from '../../../src/cli/restarts/effects.ts';
import { pairsNamespace } from '../../support/restart-pair.ts';
import { restartPairs } from '../../support/restart-pairs.ts';
import { importImages, referenceImage, strangersImage } from './images.ts';
import { isServing, Namespace, type Pod } from './kubernetes.ts';

interface Container {
  name: string;
  image: string;
  command?: string[];
}

interface PodSpec {
  containers: Container[];
  initContainers?: Container[];
}

interface Manifest {
  kind: string;
  metadata: { name: string };
  spec?: Partial<PodSpec> & {
    replicas?: number;
    parallelism?: number;
    completions?: number;
    suspend?: boolean;
    template?: { spec: PodSpec };
  };
}

interface Versions {
  readonly older: Manifest;
  readonly newer: Manifest;
}

// The program that each container runs. It exits immediately at SIGTERM, so that the test does not wait for a grace
// period. Only one container of a pod can listen on the port, so the program ignores errors of listen().
const idle = `require('node:http').createServer((_, response) => response.end()).listen(8080).on('error', () => undefined);
setInterval(() => undefined, 1000);
process.on('SIGTERM', () => process.exit());`;

/**
 * Maps each image name of the test manifests to an image that the cluster has. Both cluster images run the same
 * command. So a change of the image affects only the field `image`.
 */
const images = new Map([
  ['shop:1', referenceImage],
  ['shop:1.1', strangersImage],
]);

/**
 * runnable replaces the images and the namespace of a manifest by images and a namespace that exist on the cluster.
 */
function runnable(text: string, { name }: Namespace): Manifest {
  const { objects } = readObjects(text.replaceAll(pairsNamespace, name), 'pair.yaml');
  const manifest = structuredClone(objects[0]?.fields) as unknown as Manifest;
  const spec = (manifest.spec?.template?.spec ?? manifest.spec ?? {}) as Partial<PodSpec>;
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    container.image = images.get(container.image) ?? container.image;
    container.command = ['/nodejs/bin/node', '--eval', container.name === 'prepare' ? '' : idle];
  }
  return manifest;
}

/** `predicted()` returns the effect that `lameduck restarts` predicts if the new manifest replaces the old one. */
function predicted({ older, newer }: Versions): EffectKind {
  const [first, ...others] = effectsOf(objectsOf(older, 'old.json'), objectsOf(newer, 'new.json'));
  assert.deepEqual(others, []);
  assert.ok(first);
  return first.effect;
}

function objectsOf(manifest: Manifest, file: string) {
  return readObjects(JSON.stringify(manifest), file).objects;
}

const namesOf = { Deployment: 'deployment', StatefulSet: 'statefulset', DaemonSet: 'daemonset' } as const;

/**
 * `seen()` applies the new manifest to the cluster, and returns its observed effect on the pods. The cluster already
 * has the old manifest.
 */
async function seen(namespace: Namespace, versions: Versions, expected: EffectKind): Promise<EffectKind> {
  const { newer } = versions;
  const old = podsOf(namespace);
  try {
    await namespace.apply(newer);
  } catch (error) {
    // If `kubectl apply` fails, the API server must have rejected the new manifest. Any other error fails the test.
    assert.match(String(error), /is invalid|Forbidden|immutable/);
    return 'rejected';
  }
  const { kind } = newer;
  if (kind === 'Pod') return seenOfPod(namespace, newer, expected);
  if (kind in namesOf) {
    const name = `${namesOf[kind as keyof typeof namesOf]}/${newer.metadata.name}`;
    const generation = await namespace.kubectl('get', name, '--output=jsonpath={.metadata.generation}');
    const isObserved = `--for=jsonpath={.status.observedGeneration}=${generation}`;
    await namespace.kubectl('wait', name, isObserved, '--timeout=60s');
  }
  if (kind === 'Deployment') {
    const sets = await namespace.kubectl('get', 'replicasets', '--output=name');
    if (sets.trim().split('\n').length > 1) return 'rolls';
  }
  const count = replicasOf(newer);
  await namespace.until('the number of pods is as stated', 60, () => podsOf(namespace).length === count);
  // The StatefulSet controller may update `observedGeneration` before it replaces a pod. So wait until a pod is
  // replaced.
  const isReplaced = () =>
    podsOf(namespace).some(({ metadata }) => !old.some((one) => one.metadata.uid === metadata.uid));
  if (expected === 'rolls') await namespace.until('a pod is replaced', 60, isReplaced);
  return isReplaced() && count <= old.length ? 'rolls' : unchanged(namespace, old);
}

/**
 * Returns what the cluster did after a Pod manifest was changed. If the change should restart no container, the test
 * has no event to wait for. So the test then makes a second change, which restarts one container, and counts all
 * restarts.
 */
async function seenOfPod(namespace: Namespace, newer: Manifest, expected: EffectKind): Promise<EffectKind> {
  const restarts = () => podsOf(namespace).flatMap(restartsOf);
  if (expected === 'restarts-containers') {
    await namespace.until('a container has been restarted', 60, () => restarts().some((count) => count > 0));
    return 'restarts-containers';
  }
  const containers = newer.spec?.containers?.map((one) => ({ ...one, image: strangersImage })) ?? [];
  await namespace.apply({ ...newer, spec: { ...newer.spec, containers } });
  await namespace.until('the app has been restarted', 60, () => restarts().some((count) => count > 0));
  return restarts().reduce((sum, count) => sum + count, 0) === 1 ? 'nothing' : 'restarts-containers';
}

function unchanged(namespace: Namespace, old: readonly Pod[]): EffectKind {
  const present = podsOf(namespace);
  const [fewer, more] = [old, present].toSorted((a, b) => a.length - b.length) as [readonly Pod[], readonly Pod[]];
  for (const { metadata } of fewer) assert.ok(more.some((pod) => pod.metadata.uid === metadata.uid));
  return present.flatMap(restartsOf).some((count) => count > 0) ? 'restarts-containers' : 'nothing';
}

function podsOf(namespace: Namespace): Pod[] {
  return [...namespace.pods.values()];
}

function restartsOf({ status: { initContainerStatuses = [], containerStatuses = [] } }: Pod): number[] {
  return [...initContainerStatuses, ...containerStatuses].map(({ restartCount }) => restartCount);
}

function replicasOf({ kind, spec }: Manifest): number {
  if (kind === 'ConfigMap' || spec?.suspend === true) return 0;
  // A Job without the field `completions` has one completion.
  return spec?.replicas ?? Math.min(spec?.parallelism ?? 1, spec?.completions ?? 1);
}

describe('`lameduck restarts` predicts which pods a real cluster restarts', { concurrency: 3 }, () => {
  before(async () => {
    await importImages('../../../docker/build-archive.sh', 'strangers/build-archive.sh');
  });

  for (const { title, before: old, after: changed, effect } of restartPairs) {
    it(`K-155, K-156, K-157 on a real cluster, a changed manifest has the effect that lameduck restarts predicts, ${title}: ${effect}`, async (t) => {
      const namespace = new Namespace('restarts');
      const versions = { older: runnable(old, namespace), newer: runnable(changed, namespace) };
      assert.equal(predicted(versions), effect);
      t.after(() => namespace.delete());
      await namespace.create();
      const { older } = versions;
      if (older.kind !== 'ConfigMap') await namespace.kubectl('create', 'configmap', 'shop', '--from-literal=a=1');
      await namespace.apply(older);
      const isSettled = () => podsOf(namespace).length === replicasOf(older) && podsOf(namespace).every(isServing);
      await namespace.until('the old version serves', 120, isSettled);
      assert.equal(await seen(namespace, versions, effect), effect);
    });
  }
});
