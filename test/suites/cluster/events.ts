// Functions that change Helm releases while clients send requests, for example with a rolling update. The promise of
// each function resolves when all pods of the releases serve requests again.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { instanceLabel, type Namespace, type Pod } from './kubernetes.ts';
import type { KubeProxy } from './kube-proxy.ts';
import type { Load } from './load.ts';
import type { Release } from './release.ts';
import type { Column } from './table.ts';

const settleLimit = 120;
const nameOf = (pod: Pod) => pod.metadata.name;

/**
 * Scene describes what an event of the cluster test, such as a node drain, acts on. It has the Helm releases that the
 * event changes, and the clients that send requests to these releases.
 */
export interface Scene {
  readonly namespace: Namespace;
  readonly releases: readonly Release[];
  readonly load: Load;
}

/**
 * `settle()` resolves when every Helm release has only pods that serve requests, in the expected number, and clients
 * have reached each of these pods.
 */
export async function settle({ namespace, releases, load }: Scene, more = 0): Promise<void> {
  for (const release of releases) {
    const count = release.replicas + more;
    const what = `${String(count)} pods of ${release.name} serve, each gets requests from the clients, and no other is left`;
    await namespace.until(what, settleLimit, () => {
      const pods = release.pods();
      return release.hasSettled(count) && pods.every((pod) => !release.isSpread || load.reaches(nameOf(pod)));
    });
  }
}

async function rollOut(scene: Scene): Promise<void> {
  const old = scene.releases.flatMap((release) => release.pods().map(nameOf));
  const podAnnotations = { revision: randomBytes(4).toString('hex') };
  await Promise.all(scene.releases.map((release) => release.apply({ podAnnotations })));
  await settle(scene);
  assert.ok(scene.releases.every((release) => release.pods().every((pod) => !old.includes(nameOf(pod)))));
}

async function rollBack(scene: Scene): Promise<void> {
  await Promise.all(scene.releases.map((release) => release.rollBack()));
  await settle(scene);
}

/**
 * Returns the pod that has the most open connections of clients, of all pods of the Helm release. The deletion of this
 * pod can lose the most requests.
 */
function mostKept(release: Release, load: Load): string {
  const [pod] = release.pods().sort((one, other) => load.keptTo(nameOf(other)) - load.keptTo(nameOf(one)));
  assert.ok(pod && load.keptTo(nameOf(pod)) > 0, `${release.name} must have a pod with kept-alive connections`);
  return nameOf(pod);
}

async function deletePod(scene: Scene): Promise<void> {
  const { namespace, releases, load } = scene;
  await namespace.kubectl('delete', 'pod', ...releases.map((release) => mostKept(release, load)));
  await settle(scene);
}

/**
 * Drains the node that runs the most pods of the first Helm release in `releases`. The disruption budget limits how
 * many pods are evicted at a time.
 */
async function drainNode(scene: Scene): Promise<void> {
  const { namespace, releases } = scene;
  const byNode = Map.groupBy(releases[0]?.pods() ?? [], ({ spec }) => spec.nodeName ?? '');
  const [node = '', pods = []] = [...byNode].sort(([, one], [, other]) => other.length - one.length)[0] ?? [];
  assert.ok(pods.length > 1);
  // `kubectl drain` must evict only pods of this test.
  const ours = `--pod-selector=${instanceLabel} in (${releases.map(({ name }) => name).join(', ')})`;
  try {
    const complaints = await namespace.complaintsOf('drain', node, ours, '--delete-emptydir-data', '--timeout=180s');
    assert.match(
      complaints,
      /would violate the pod's disruption budget/,
      'the disruption budget must have delayed an eviction',
    );
    await settle(scene);
    assert.ok(releases.every((release) => release.pods().every(({ spec }) => spec.nodeName !== node)));
  } finally {
    await namespace.kubectl('uncordon', node);
  }
}

async function scaleUp(scene: Scene): Promise<void> {
  await Promise.all(scene.releases.map((release) => release.scale(release.replicas + 1)));
  await settle(scene, 1);
}

/**
 * Waits for the first log line of a new pod, and then deletes this pod. Before Node has started, PID 1 would ignore the
 * signal (K-100). Another pod replaces the deleted pod.
 */
async function killStarting(scene: Scene): Promise<void> {
  const { namespace, releases } = scene;
  const kill = async (release: Release) => {
    const known = new Set(release.runs());
    const started = () => release.runs().find((run) => !known.has(run) && run.lines.length > 0);
    await release.scale(release.replicas + 2);
    await namespace.until('a new container has logged a line', 60, () => started() !== undefined);
    const pod = started()?.pod ?? '';
    assert.ok(!namespace.isEndpoint(release.name, pod), 'the pod must still be starting');
    await namespace.kubectl('delete', 'pod', pod);
  };
  await Promise.all(releases.map(kill));
  await settle(scene, 2);
}

async function scaleDown(scene: Scene): Promise<void> {
  await Promise.all(scene.releases.map((release) => release.scale(release.replicas)));
  await settle(scene);
}

/**
 * Sends SIGTERM inside a pod without deleting the pod. Kubernetes learns of this only by the readiness probe (P-122).
 */
async function signalInside(scene: Scene): Promise<void> {
  const { namespace, releases, load } = scene;
  const signal = async (release: Release) => {
    const pod = mostKept(release, load);
    const before = release.runs().filter((run) => run.pod === pod);
    await namespace.kubectl('exec', pod, '--', '/nodejs/bin/node', '--eval', 'process.kill(1)');
    await namespace.until('the container has ended', settleLimit, () =>
      before.every(({ exitCode }) => exitCode !== undefined),
    );
  };
  await Promise.all(releases.map(signal));
  await settle(scene);
}

/**
 * The events of the cluster test, such as a node drain, in the order in which the test runs them. Each key is the name
 * of the event in the results table. An event that adds pods comes before the event that removes these pods.
 */
export const events = {
  'rolling update': rollOut,
  rollback: rollBack,
  'pod deletion': deletePod,
  'node drain': drainNode,
  'SIGTERM inside': signalInside,
  'scale up': scaleUp,
  'killed starting': killStarting,
  'scale down': scaleDown,
} satisfies Record<string, (scene: Scene) => Promise<void>>;

export type EventName = keyof typeof events;
export const eventNames = Object.keys(events) as EventName[];

/**
 * Runs one event of the cluster test, such as a node drain. It adds a column for the event to the table of results,
 * even if the event fails.
 */
export async function play(event: EventName, kubeProxy: KubeProxy, scene: Scene, columns: Column[]): Promise<void> {
  const { load } = scene;
  const before = structuredClone(load.tallies);
  try {
    await events[event](scene);
  } finally {
    columns.push({ event: `${event}, ${kubeProxy}`, before, after: structuredClone(load.tallies) });
  }
}
