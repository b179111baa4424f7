// Compares `lameduck restarts` with a real cluster. Each pair of manifests is applied, and the effect on the pods must
// be the effect that the command predicts.
//
//   CLUSTER_IMAGE_IMPORT, KUBECTL  see images.ts and kubernetes.ts
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { readObjects } from '../../../src/cli/manifest/objects.ts';
import { effectsOf, type EffectKind } from '../../../src/cli/restarts/effects.ts';
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
  spec?: Partial<PodSpec> & { replicas?: number; template?: { spec: PodSpec } };
}

interface Versions {
  readonly older: Manifest;
  readonly newer: Manifest;
}

// SIGTERM ends this program at once, so that the test waits for no grace period. If a pod has several containers, only
// one gets the port.
const idle = `require('node:http').createServer((_, response) => response.end()).listen(8080).on('error', () => undefined);
setInterval(() => undefined, 1000);
process.on('SIGTERM', () => process.exit());`;

/** The cluster has both images, and their containers do the same. */
const images = new Map([
  ['shop:1', referenceImage],
  ['shop:1.1', strangersImage],
]);

/** runnable returns the manifest with images that the cluster has. */
function runnable(text: string): Manifest {
  const manifest = structuredClone(readObjects(text, 'pair.yaml').objects[0]?.fields) as unknown as Manifest;
  const spec = (manifest.spec?.template?.spec ?? manifest.spec ?? {}) as Partial<PodSpec>;
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    container.image = images.get(container.image) ?? container.image;
    container.command = ['/nodejs/bin/node', '--eval', container.name === 'prepare' ? '' : idle];
  }
  return manifest;
}

/** predicted returns the effect that the command predicts for this pair of manifests. */
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

/** seen applies the new manifest and returns its effect on the pods. */
async function seen(namespace: Namespace, versions: Versions, expected: EffectKind): Promise<EffectKind> {
  const { newer } = versions;
  const old = podsOf(namespace);
  try {
    await namespace.apply(newer);
  } catch (error) {
    // The only expected error is a manifest that the API server rejects.
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
    return sets.trim().split('\n').length > 1 ? 'rolls' : unchanged(namespace, old);
  }
  // The controller deletes a pod before it reports that it has observed the change.
  const { items } = JSON.parse(await namespace.kubectl('get', 'pods', '--output=json')) as { items: Pod[] };
  const left = items.filter((pod) => pod.metadata.deletionTimestamp === undefined).map(({ metadata }) => metadata.uid);
  return old.every(({ metadata }) => left.includes(metadata.uid)) ? unchanged(namespace, old) : 'rolls';
}

/**
 * A pod that does not restart shows nothing for which the test could wait. So a second change restarts one container of
 * the pod.
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
  for (const { metadata } of old) assert.ok(present.some((pod) => pod.metadata.uid === metadata.uid));
  return present.flatMap(restartsOf).some((count) => count > 0) ? 'restarts-containers' : 'nothing';
}

function podsOf(namespace: Namespace): Pod[] {
  return [...namespace.pods.values()];
}

function restartsOf({ status: { initContainerStatuses = [], containerStatuses = [] } }: Pod): number[] {
  return [...initContainerStatuses, ...containerStatuses].map(({ restartCount }) => restartCount);
}

function replicasOf({ kind, spec }: Manifest): number {
  if (kind === 'ConfigMap') return 0;
  return spec?.replicas ?? 1;
}

describe('the effect of a manifest on a real cluster', { concurrency: 3 }, () => {
  before(async () => {
    await importImages('../../../docker/build-archive.sh', 'strangers/build-archive.sh');
  });

  for (const { title, before: old, after: changed, effect } of restartPairs) {
    it(`K-155, K-156, K-157 ${title}: ${effect}`, async (t) => {
      const versions = { older: runnable(old), newer: runnable(changed) };
      assert.equal(predicted(versions), effect);
      const namespace = new Namespace('restarts');
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
