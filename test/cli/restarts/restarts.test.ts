import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { readObjects } from '../../../src/cli/manifest/objects.ts';
import { effectsOf, type Effect } from '../../../src/cli/restarts/effects.ts';
import { readUpgrade, upgradeEffects } from '../../../src/cli/restarts/kubelet-upgrade.ts';
import { quantity } from '../../../src/cli/restarts/quantity.ts';
import { lameduck } from '../../support/lameduck-command.ts';
import { deployment } from '../../support/restart-pair.ts';
import { restartPairs } from '../../support/restart-pairs.ts';

function effects(before: string, after: string): Effect[] {
  return effectsOf(readObjects(before, 'old.yaml').objects, readObjects(after, 'new.yaml').objects);
}

for (const { title, before, after, effect, causes } of restartPairs) {
  test(`lameduck restarts predicts how the application of a changed manifest affects the pods, ${title}: ${effect}`, () => {
    const [first, ...others] = effects(before, after);
    assert.deepEqual(others, []);
    assert.deepEqual([first?.effect, first?.causes.map(({ path }) => path)], [effect, causes]);
  });

  test(`the command lameduck restarts predicts no effect if both files contain the same manifest: ${title}`, () => {
    assert.ok(effects(after, after).every((one) => one.effect === 'nothing'));
  });
}

const found = (title: string, effect: string): void => {
  assert.ok(
    restartPairs.some((one) => one.title === title && one.effect === effect),
    title,
  );
};

test('K-155 of all changes that the API server accepts for a running pod, only a new image restarts a container', () => {
  found('another image of a pod', 'restarts-containers');
  found('a variable of a pod', 'rejected');
  found('a label of a pod', 'nothing');
  found('other data of a ConfigMap', 'nothing');
});

test('K-156, K-157 a workload replaces its pods if and only if its pod template differs after defaulting', () => {
  found('the hash that the controller sets', 'nothing');
  found('defaults of the container', 'nothing');
  found('more replicas', 'nothing');
  found('a label of the pods', 'rolls');
});

test('K-158, K-159, K-160 `lameduck restarts` prints a hint for changes that often restart pods unintentionally', () => {
  const hintOf = (annotation: string): string | undefined => {
    const [from, to] = ['a', 'b'].map((value) =>
      deployment
        .replace('    spec:\n', `    spec: &spec\n`)
        .replace(
          '      labels: { app: shop }\n    spec',
          `      labels: { app: shop }\n      annotations: { ${annotation}: ${value} }\n    spec`,
        ),
    );
    return effects(from ?? '', to ?? '')[0]?.causes[0]?.hint;
  };
  assert.match(hintOf('kubectl.kubernetes.io/restartedAt') ?? '', /rollout restart/);
  assert.match(hintOf('checksum/config') ?? '', /random values/);
  assert.equal(hintOf('example.com/other'), undefined);
  const [chart] = restartPairs.filter(({ title }) => title === 'a label of the pods');
  assert.match(effects(chart?.before ?? '', chart?.after ?? '')[0]?.causes[0]?.hint ?? '', /Remove the label from/);
});

test('K-161 `lameduck restarts` names the pods that keep the old values of a ConfigMap after a change', () => {
  const configMap = (value: string): string =>
    `kind: ConfigMap\nmetadata: { name: shop }\ndata: { a: "${value}" }\n---\n`;
  const [mounted] = effects(configMap('1') + deployment, configMap('2') + deployment);
  assert.match(mounted?.message ?? '', /Files mounted in Deployment shop change within about two minutes/);
  const reading = deployment.replace('env:', 'envFrom: [{ configMapRef: { name: shop } }]\n          env:');
  const [variable] = effects(configMap('1') + reading, configMap('2') + reading);
  assert.match(
    variable?.message ?? '',
    /Containers of Deployment shop keep their old environment variables until the containers restart/,
  );
});

test('`lameduck restarts` does not print the data of a Secret, and treats stringData as data', () => {
  const secret = (fields: string): string => `kind: Secret\nmetadata: { name: shop }\n${fields}\n`;
  assert.deepEqual(effects(secret('stringData: { a: one }'), secret('data: { a: b25l }')), []);
  const [changed] = effects(secret('stringData: { a: one }'), secret('stringData: { a: two }'));
  assert.deepEqual(
    changed?.causes.map(({ path, before, after }) => [path, before, after]),
    [['data.a', undefined, undefined]],
  );
});

const effectKindOf = (before: string, after: string): string | undefined => effects(before, after)[0]?.effect;
const stated = (from: string, to: string, manifest = deployment): string => {
  assert.ok(manifest.includes(from), from);
  return manifest.replace(from, to);
};

test('`lameduck restarts` predicts nothing for an object whose kind is named as a kind of Kubernetes but belongs to another API group', () => {
  const kruise = stated('apps/v1\nkind: Deployment', 'apps.kruise.io/v1beta1\nkind: StatefulSet');
  assert.deepEqual(effects(kruise, stated('shop:1', 'shop:2', kruise)), []);
  const stateful = stated('kind: Deployment', 'kind: StatefulSet');
  assert.deepEqual(
    effects(stateful, `${kruise}---\n${stateful}`).map(({ effect }) => effect),
    ['nothing'],
  );
  const old = stated('apps/v1', 'extensions/v1beta1');
  assert.equal(effectKindOf(old, stated('shop:1', 'shop:2')), 'rolls');
});

test('`lameduck restarts` sees the change of a pod label from e1 to e2, which are strings', () => {
  const track = (name: string): string =>
    stated('      labels: { app: shop }\n    spec', `      labels: { app: shop, track: ${name} }\n    spec`);
  const [effect] = effects(track('e1'), track('e2'));
  assert.deepEqual(
    [effect?.effect, effect?.causes.map(({ before, after }) => [before, after])],
    ['rolls', [['e1', 'e2']]],
  );
});

test('`lameduck restarts` compares two versions of an object even if only one of them states the namespace', () => {
  const inDefault = stated('  name: shop\n', '  name: shop\n  namespace: default\n');
  const [other, image] = [stated('default', 'other', inDefault), stated('shop:1', 'shop:2', inDefault)];
  assert.deepEqual([effectKindOf(deployment, inDefault), effectKindOf(deployment, image)], ['nothing', 'rolls']);
  assert.deepEqual(
    effects(inDefault, other).map(({ effect }) => effect),
    ['created', 'missing'],
  );
  assert.deepEqual(
    effects(`${other}---\n${inDefault}`, image).map(({ effect }) => effect),
    ['rolls', 'missing'],
  );
});

test('`lameduck restarts` reports that an apply ends pods without replacing them', () => {
  const messageOf = (before: string, after: string): string | undefined => effects(before, after)[0]?.message;
  const none = stated('replicas: 2', 'replicas: 0');
  assert.equal(
    messageOf(deployment, none),
    'Nothing restarts. The number of pods falls from 2 to 0, so pods end without a replacement.',
  );
  assert.equal(
    messageOf(deployment, stated('shop:1', 'shop:2', none)),
    'Nothing restarts. The number of pods falls from 2 to 0, so pods end without a replacement.',
  );
  assert.equal(
    messageOf(none, stated('shop:1', 'shop:2', none)),
    'Nothing restarts: with 0 replicas, there are no pods.',
  );
  assert.equal(effectKindOf(deployment, stated('shop:1', 'shop:2', stated('replicas: 2', 'replicas: 1'))), 'rolls');
  const job = (spec: string): string => `kind: Job\nmetadata: { name: once }\nspec: { ${spec} }\n`;
  assert.equal(
    messageOf(job('suspend: false'), job('suspend: true')),
    'The change suspends the Job, and a suspended Job deletes its running pods.',
  );
});

test('a StatefulSet replaces its pods if the ordinal of its first pod changes', () => {
  const stateful = stated('kind: Deployment', 'kind: StatefulSet');
  const [zero, five] = [0, 5].map((start) =>
    stated('replicas: 2', `replicas: 2\n  ordinals: { start: ${String(start)} }`, stateful),
  );
  assert.deepEqual([effectKindOf(stateful, zero ?? ''), effectKindOf(stateful, five ?? '')], ['nothing', 'rolls']);
  assert.deepEqual(
    effects(stateful, five ?? '')[0]?.causes.map(({ path, before, after }) => [path, before, after]),
    [['spec.ordinals.start', 0, 5]],
  );
});

test('in a Pod, a missing resource request is set to the resource limit; in a pod template, it is not', () => {
  const pod = (resources: string): string =>
    `kind: Pod\nmetadata: { name: a }\nspec: { containers: [{ name: a, image: a, resources: { ${resources} } }] }\n`;
  const limit = 'limits: { cpu: 1 }';
  assert.equal(effectKindOf(pod(limit), pod(`${limit}, requests: { cpu: 1000m }`)), 'nothing');
  assert.equal(effectKindOf(pod(limit), pod(`${limit}, requests: { cpu: 500m }`)), 'rejected');
  const shop = (resources: string): string => stated('requests: { cpu: 500m, memory: 1Gi }', resources);
  assert.equal(effectKindOf(shop(limit), shop(`${limit}\n            requests: { cpu: 1 }`)), 'rolls');
});

test('`lameduck restarts` knows which fields of a Job an update may change', () => {
  const job = (spec: string): string => `kind: Job\nmetadata: { name: once }\nspec: { ${spec} }\n`;
  for (const [before, after, effect] of [
    ['completions: 2', 'completions: 3', 'rejected'],
    ['', 'completions: 1', 'nothing'],
    ['parallelism: 2', 'parallelism: 2, completions: 1', 'rejected'],
    [
      'completionMode: Indexed, completions: 2, parallelism: 2',
      'completionMode: Indexed, completions: 3, parallelism: 3',
      'nothing',
    ],
    ['backoffLimitPerIndex: 1', 'backoffLimitPerIndex: 2', 'rejected'],
    ['podReplacementPolicy: Failed', 'podReplacementPolicy: TerminatingOrFailed', 'nothing'],
    ['backoffLimit: 1, parallelism: 1', 'backoffLimit: 2, parallelism: 3', 'nothing'],
  ] as const) {
    assert.equal(effectKindOf(job(before), job(after)), effect, after);
  }
});

test('K-151, K-153, K-154 an upgrade of the kubelet across 1.31 restarts every container once', () => {
  const { objects } = readObjects(`${deployment}---\nkind: Service\n`, 'a.yaml');
  const effectOf = (given: string): string[] => {
    const upgrade = readUpgrade(given);
    assert.ok(upgrade, given);
    return upgradeEffects(objects, upgrade).map(({ effect }) => effect);
  };
  assert.deepEqual(effectOf('1.30..1.31'), ['restarts-containers']);
  assert.deepEqual(effectOf('v1.30.4..v1.32.1'), ['restarts-containers']);
  assert.deepEqual(effectOf('1.31..1.30'), ['restarts-containers']);
  assert.deepEqual(effectOf('1.31..1.36'), ['nothing']);
  assert.deepEqual(effectOf('1.30.1..1.30.4'), ['nothing']);
  assert.deepEqual(effectOf('1.28..1.29'), ['may-restart-containers']);
  assert.deepEqual(effectOf('1.14..1.15'), ['restarts-containers']);
  for (const wrong of ['1.30', '1.30-1.31', '2.0..2.1', '']) assert.equal(readUpgrade(wrong), undefined);
});

test('`lameduck restarts` treats two forms of the same resource quantity, such as 500m and 0.5, as equal', () => {
  for (const [one, other] of [
    ['500m', 0.5],
    ['1Gi', '1024Mi'],
    ['1Gi', 1_073_741_824],
    ['1e3', '1k'],
    ['0.1', '100m'],
    ['1.50', '1500m'],
    ['0', '0Mi'],
  ]) {
    assert.equal(quantity(one), quantity(other), String(one));
  }
  assert.notEqual(quantity('1G'), quantity('1Gi'));
  for (const other of ['much', '', '.', true, null, '1e999999999']) assert.equal(quantity(other), other);
});

function files(t: TestContext, before: string, after: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'restarts-'));
  t.after(() => {
    rmSync(folder, { recursive: true });
  });
  const names = ['old.yaml', 'new.yaml'].map((name) => join(folder, name));
  for (const [index, text] of [before, after].entries()) writeFileSync(names[index] ?? '', text);
  return names;
}

test('`lameduck restarts` prints the effect on the pods, each changed field and its old and new value, and its exit code shows whether pods restart', async (t) => {
  const [older = '', newer = ''] = files(t, deployment, deployment.replace('value: "2"', 'value: "3"'));
  const { code, output } = await lameduck(t, ['restarts', older, newer]);
  assert.equal(code, 1);
  assert.equal(
    output.replaceAll(newer, 'new.yaml'),
    [
      'Deployment shop: rolls',
      '  The Deployment replaces all pods, step by step.',
      '  new.yaml:19  spec.template.spec.containers[0].env[1].value: "2" → "3"',
      '',
      'objects whose containers restart or whose change is rejected: 1 of 1',
      '',
    ].join('\n'),
  );
  assert.equal((await lameduck(t, ['restarts', older, older])).code, 0);
  assert.equal((await lameduck(t, ['restarts', older, '--kubelet-version', '1.30..1.31'])).code, 1);
  assert.equal((await lameduck(t, ['restarts', older, '--kubelet-version=1.33..1.34'])).code, 0);
});

test('the JSON of `lameduck restarts` follows its schema, and names objects that exist in only one of the manifests', async (t) => {
  const [older = '', newer = ''] = files(t, deployment, deployment.replace('name: shop', 'name: store'));
  const { code, output } = await lameduck(t, ['restarts', '--format=json', older, newer]);
  const { schema, objects } = JSON.parse(output) as { schema: string; objects: Effect[] };
  assert.deepEqual([code, schema], [0, 'lameduck/restarts/v1']);
  assert.deepEqual(
    objects.map(({ name, effect }) => [name, effect]),
    [
      ['store', 'created'],
      ['shop', 'missing'],
    ],
  );
});

test('`lameduck restarts` names an invalid document, compares the other documents, and exits with 1', async (t) => {
  const [older = '', newer = ''] = files(t, deployment, `a: [\n---\n${deployment}`);
  const { code, output } = await lameduck(t, ['restarts', older, newer]);
  assert.equal(code, 1);
  assert.match(output, /Deployment shop: nothing[^]*new\.yaml:\d+: the document is not YAML/);
});

test('`lameduck restarts` lists each manifest object of a kind that the command does not know', async (t) => {
  const rollout = (image: string): string => `kind: Rollout\nmetadata: { name: shop }\nspec: { image: ${image} }\n`;
  const [older = '', newer = ''] = files(t, rollout('a'), rollout('b'));
  const { code, output } = await lameduck(t, ['restarts', older, newer]);
  assert.equal(code, 0);
  assert.match(
    output,
    /new\.yaml:1: Rollout shop is skipped, because the command "lameduck restarts" does not know objects of the kind Rollout\n$/,
  );
  const json = JSON.parse((await lameduck(t, ['restarts', '--format=json', older, newer])).output) as {
    skipped: readonly { line: number }[];
  };
  assert.deepEqual(
    json.skipped.map(({ line }) => line),
    [1],
  );
});

for (const [args, problem] of [
  [['-', '-'], /standard input can be read only once, but - is given twice/],
  [['a.yaml'], /expected two files: the old manifest and the new manifest/],
  [['a.yaml', 'b.yaml', '--kubelet-version=1.30..1.31'], /--kubelet-version requires exactly one file/],
  [['a.yaml', '--kubelet-version=1.31'], /--kubelet-version must be two versions such as 1\.30\.\.1\.31, got "1\.31"/],
  [['a.yaml', 'b.yaml'], /unable to read a\.yaml: ENOENT.*; unable to read b\.yaml: ENOENT/],
  [['a.yaml', 'b.yaml', '--format=xml'], /--format must be text or json, got "xml"/],
] as const) {
  test(`the command lameduck restarts ${args.join(' ')} is invalid usage: it exits with 2, and prints the reason and a hint`, async (t) => {
    const { code, output } = await lameduck(t, ['restarts', ...args]);
    assert.equal(code, 2);
    assert.match(output, problem);
    assert.match(output, /\nlameduck restarts --help shows examples\n$/);
  });
}
