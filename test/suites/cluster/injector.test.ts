// Tests the injector on a real cluster. A label on a namespace enables the injection into programs that do not use
// lameduck. All these programs get rolling updates, while clients that never retry send requests. After the label is
// removed, a rollout leaves no trace of lameduck.
//
//   CLUSTER_IMAGE_IMPORT, KUBECTL, HELM  see images.ts, kubernetes.ts and release.ts
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { feed, run } from '../../support/command-line.ts';
import { recordOf } from './ends.ts';
import { importImages } from './images.ts';
import { launchedImage, objectsOf, programs } from './injected-programs.ts';
import { instanceLabel, isServing, Namespace, type Pod } from './kubernetes.ts';
import { Load } from './load.ts';
import { addPrograms } from './program-pods.ts';
import type { Job, Kind } from './programs/exchange.ts';
import { helm } from './release.ts';
import { failed, sum, table } from './table.ts';

const namespace = new Namespace('injector');
const chart = fileURLToPath(new URL('../../../helm/lameduck-injector', import.meta.url));
const strangers = fileURLToPath(new URL('strangers', import.meta.url));
// containerd does not find the image for an image volume if another image had the same tag before. So each run of this
// suite uses a new tag.
const injectorImage = `localhost/lameduck-injector:${namespace.name}`;
const inNode = programs.filter(({ isNode }) => isNode);
/** True if the option `--all` of run.ts has set the variable ALL. This suite then runs longer. */
const isWhole = process.env['ALL'] === '1';
/** How many rollouts of the injected programs the test makes while clients send requests to them. */
const rollouts = isWhole ? 5 : 1;
// The test that rolls out without the injector, and expects lost requests, runs only with `--all`. Without `--all`,
// only rollout.test.ts shows that the clients notice lost requests.
const onlyWhole = isWhole ? false : 'only with --all';

const podsOf = (name: string): Pod[] =>
  [...namespace.pods.values()].filter(({ metadata }) => metadata.labels?.[instanceLabel] === name);

/**
 * Matches the texts with the word lameduck in the manifests of this suite. The test ignores these texts, because the
 * injector did not add them.
 */
const given = /"lameduck\/inject":"enabled"|lameduck\/container|localhost\/lameduck-\w+/g;

async function settled(): Promise<void> {
  for (const { name } of programs) {
    await namespace.until(`two pods of ${name} serve and no other is left`, 180, () => {
      const pods = podsOf(name);
      return pods.length === 2 && pods.every(isServing);
    });
  }
}

/**
 * isApplied resolves when the API server applies the injector's admission policy to new pods. The API server learns of
 * a new policy through a watch, a moment after its creation.
 */
async function isApplied(): Promise<void> {
  const args = [
    'run',
    'one',
    '--image=none:1',
    '--labels=lameduck/inject=enabled',
    '--dry-run=server',
    '--output=json',
  ];
  for (let attempt = 0; !(await namespace.kubectl(...args)).includes('lameduck/injected'); attempt++) {
    assert.ok(attempt < 100, 'the API server does not apply the policy after 100 attempts');
    await setTimeout(100);
  }
}

async function rollOut(): Promise<void> {
  const old = new Set(namespace.pods.keys());
  await namespace.kubectl('rollout', 'restart', ...programs.map(({ name }) => `deployment/${name}`));
  await namespace.until('no old pod is left', 240, () =>
    programs.every(({ name }) => podsOf(name).every(({ metadata }) => !old.has(metadata.uid))),
  );
  await settled();
}

/** Returns each program's pods as JSON texts, as the API server stores them. */
async function kept(): Promise<Record<string, string[]>> {
  const { items } = JSON.parse(await namespace.kubectl('get', 'pods', '--output=json')) as { items: Pod[] };
  const known = items.filter(({ metadata }) => metadata.labels?.[instanceLabel] !== undefined);
  const grouped = Object.groupBy(known, ({ metadata }) => metadata.labels?.[instanceLabel] ?? '');
  return Object.fromEntries(
    Object.entries(grouped).map(([name, pods = []]) => [name, pods.map((pod) => JSON.stringify(pod))]),
  );
}

async function startLoad(): Promise<Load> {
  const jobs = { go: [] as Job[], python: [] as Job[] };
  for (const { name } of inNode) {
    const ip = await namespace.kubectl('get', 'service', name, '--output=jsonpath={.spec.clusterIP}');
    const job = (kind: Kind, clients: number, rest: number): Job => {
      const url = ip.includes(':') ? `http://[${ip}]` : `http://${ip}`;
      return { name: `${name}, ${kind}`, kind, url, clients, rest };
    };
    jobs.go.push(job('kept POST', 3, 30), job('new GET', 2, 100));
    jobs.python.push(job('kept GET', 1, 50));
  }
  return Load.start(namespace, jobs);
}

describe('a namespace with the label of the injector gets lameduck in its Node programs', () => {
  let load: Load;

  before(async () => {
    await importImages(
      ['../../../docker/build-archive.sh', injectorImage, '', '--target', 'injector'],
      ['../../../docker/build-archive.sh', launchedImage, strangers, '--target', 'launched'],
      'strangers/build-archive.sh',
      'clients/build-archive.sh',
    );
    await namespace.create();
    await addPrograms(namespace);
    await namespace.kubectl('label', 'namespace', namespace.name, 'lameduck/inject=enabled');
    const values = JSON.stringify({ image: injectorImage });
    await feed(
      values,
      helm,
      'upgrade',
      '--install',
      namespace.name,
      chart,
      '--namespace',
      namespace.name,
      '--values',
      '-',
    );
    await isApplied();
    for (const program of programs) for (const object of objectsOf(program)) await namespace.add(object);
  });

  after(async () => {
    try {
      await run(helm, 'uninstall', namespace.name, '--namespace', namespace.name, '--ignore-not-found');
    } finally {
      await namespace.delete();
    }
  });

  it('the pods of every program start, with an annotation that names the injected container or says why there is none', async () => {
    await settled();
    const pods = await kept();
    for (const { name, injected } of programs) {
      const expected =
        injected === undefined
          ? /"lameduck\/skipped":"the pod has several containers/
          : `"lameduck/injected":"${injected}"`;
      for (const pod of pods[name] ?? []) assert.match(pod, new RegExp(expected), name);
      assert.equal(pods[name]?.length, 2, name);
    }
  });

  it('M-05 M-07 M-12 a rollout of every injected Node program loses and refuses no request', async (t) => {
    load = await startLoad();
    for (let rollout = 0; rollout < rollouts; rollout++) await rollOut();
    const tallies = await load.end();
    for (const line of table([], tallies)) t.diagnostic(line);
    assert.deepEqual(load.warnings, []);
    assert.deepEqual(load.failures.slice(0, 5), []);
    assert.equal(sum(tallies, failed), 0);
    assert.ok(sum(tallies, ({ requests }) => requests) > 10_000);
  });

  it('every injected Node program ends with a clean final log line', async () => {
    const ended = () =>
      [...namespace.runs.values()].filter(
        (one) =>
          one.container === 'app' && one.exitCode !== undefined && inNode.some(({ name }) => name === one.instance),
      );
    await namespace.until('every log is read to its end', 30, () => ended().every((one) => one.isLogComplete));
    assert.ok(ended().length >= inNode.length * 2 * rollouts, String(ended().length));
    for (const one of ended()) {
      // npm and the shell write their own lines after the final log line.
      const lines = one.lines.filter((line) => line.startsWith('{'));
      const { exitCode, requests } = recordOf({ ...one, lines });
      assert.deepEqual([exitCode, requests.cut], [0, 0], one.pod);
    }
  });

  it("after the injector's label is removed from the namespace, a rollout leaves no trace of lameduck", async () => {
    await namespace.kubectl('label', 'namespace', namespace.name, 'lameduck/inject-');
    await rollOut();
    for (const [name, pods] of Object.entries(await kept())) {
      for (const pod of pods) assert.doesNotMatch(pod.replaceAll(given, ''), /lameduck|NODE_OPTIONS/i, name);
    }
  });

  it('without the injector, a rollout loses requests', { skip: onlyWhole }, async () => {
    const unprotected = await startLoad();
    await rollOut();
    assert.ok(sum(await unprotected.end(), failed) > 0);
  });
});
