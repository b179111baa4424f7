// Tests which values the injector chart rejects, and how the values change the policy and its binding.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, test } from 'node:test';
import { parseDocument, type Scalar, type YAMLMap } from 'yaml';
import { settingsTable } from '../../../src/settings/table.ts';
import { complaint, helms, objects, run, template, type Values } from './chart.ts';
import { injectorChart, rendered } from './injector.ts';

const release = 'injector';
const digest = `sha256:${'0'.repeat(64)}`;

async function errors(values: Values, args: readonly string[] = []): Promise<string[]> {
  const [first, ...others] = await Promise.all(
    helms.map((helm) => complaint(values, { chart: injectorChart, release, helm, args })),
  );
  const lines = (text = ''): string[] =>
    text.split('\n').flatMap((line) => (line.startsWith('  - ') ? [line.slice(4)] : []));
  assert.match(first ?? '', /lameduck-injector: (a value is|\d+ values are) invalid:/);
  for (const other of others) assert.deepEqual(lines(other), lines(first));
  return lines(first);
}

describe(
  'the injector chart rejects an invalid value with its path, the rule and the remedy',
  { concurrency: 2 },
  () => {
    const image = (given: string): [Values, RegExp] => [
      { image: given },
      new RegExp(
        `^image \\(${given.replaceAll(/[.@:]/g, '\\$&')}\\): must be a complete image reference .*; write it as registry\\.example/lameduck:1\\.2\\.3$`,
      ),
    ];
    const cases: Readonly<Record<string, [Values, RegExp]>> = {
      'an image without a tag': image('registry.example:5000/lameduck'),
      'an image tag that is moved': image('registry.example/lameduck:latest'),
      'an invalid image reference': image('Registry Example'),
      'an empty image': [{ image: '' }, /^image \(\): must be a complete image reference/],
      'a delay without a unit': [
        { shutdownDelayDuration: '10' },
        /^shutdownDelayDuration \(10\): must be a duration with its unit; did you mean 10s\?$/,
      ],
      'a delay that is a number': [
        { shutdownDelayDuration: 10 },
        /^shutdownDelayDuration \(10\): .*; did you mean 10s\?$/,
      ],
      'a delay that is not a duration': [
        { shutdownDelayDuration: 'long' },
        /^shutdownDelayDuration \(long\): must be a duration such as 10s or 1m30s; correct it, or leave it out for 10s$/,
      ],
      'a grace period with a unit': [
        { minTerminationGracePeriodSeconds: '30s' },
        /^minTerminationGracePeriodSeconds \(30s\): must be a whole number of seconds from 1 to 2000000, without a unit; correct it, or leave it out for 30$/,
      ],
      'a grace period beyond what the package accepts': [
        { minTerminationGracePeriodSeconds: 2_000_001 },
        /^minTerminationGracePeriodSeconds \(2000001\): must be a whole number/,
      ],
      'a grace period that is a list': [
        { minTerminationGracePeriodSeconds: [30] },
        /^minTerminationGracePeriodSeconds \(\[30\]\): /,
      ],
      'a grace period without time for requests': [
        { shutdownDelayDuration: '25s' },
        /^minTerminationGracePeriodSeconds \(30\): must be at least max\(shutdownDelayDuration 25s, pre-shutdown hooks 5s\) \+ requests 1s \+ destroy hooks 3s \+ reserve 2s = 31; raise it, or shorten shutdownDelayDuration$/,
      ],
      'an allPods that is not a boolean': [
        { allPods: 'yes please' },
        /^allPods \(yes please\): must be true or false; correct it, or leave it out for false$/,
      ],
      'an unknown delivery': [{ delivery: 'webhook' }, /^delivery \(webhook\): must be imageVolume or initContainer; /],
      'an unknown preStopHook': [{ preStopHook: true }, /^preStopHook \(true\): must be auto, always or never; /],
      'an unknown value': [
        { images: 'x' },
        /^images \(x\): the chart has no such value; correct its name, or leave it out$/,
      ],
    };
    for (const [title, [values, line]] of Object.entries(cases)) {
      it(`the injector chart rejects an invalid value in one line: ${title}`, async () => {
        const lines = await errors(values);
        assert.equal(lines.length, 1, lines.join('\n'));
        assert.match(lines[0] ?? '', line);
      });
    }

    it('the injector chart rejects all invalid values in one message', async () => {
      const values = { image: 'x', shutdownDelayDuration: 'x', allPods: 1, delivery: 'x', preStopHook: 'x', other: 1 };
      assert.deepEqual(
        (await errors(values)).map((line) => line.split(' ')[0]),
        ['other', 'image', 'shutdownDelayDuration', 'allPods', 'preStopHook', 'delivery'],
      );
    });

    it('M-07 the injector chart rejects image volumes for a version of Kubernetes whose API server may remove the image volume from a pod', async () => {
      const lines = await errors({ delivery: 'imageVolume' }, ['--kube-version', '1.35.4']);
      assert.match(
        lines.join('\n'),
        /^delivery \(imageVolume\): an image volume needs Kubernetes 1\.36, and the cluster has v1\.35\.4\. .*; set initContainer, or leave it out$/,
      );
    });
  },
);

test('the injector chart computes the shortest valid grace period with the default hook timeouts of the package', () => {
  const defaultOf = (name: 'preShutdownHookTimeout' | 'destroyHookTimeout'): unknown =>
    settingsTable[name].default(true);
  assert.deepEqual([defaultOf('preShutdownHookTimeout'), defaultOf('destroyHookTimeout')], [5000, 3000]);
});

test('the injector chart accepts images with a tag or a digest', async () => {
  for (const image of [
    'registry.example:5000/a/b:1.2.3',
    `registry.example/a@${digest}`,
    `a/b:1@${digest}`,
    'node:24-slim',
  ]) {
    assert.ok((await template({ image }, { chart: injectorChart, release })).includes(`'${image}'`), image);
  }
});

test('M-07 M-16 from Kubernetes 1.36 on, the injector has a v1 policy and an image volume. On older Kubernetes, it has a v1beta1 policy and an init container', async () => {
  const policyOf = async (version: string, values: Values) => {
    const [policy, binding] = await rendered(values, ['--kube-version', version]);
    assert.equal(policy?.apiVersion, binding?.apiVersion);
    return policy;
  };
  const [newer, older] = [await policyOf('1.36.0-gke.1', {}), await policyOf('1.34.2', {})];
  assert.equal(newer?.apiVersion, 'admissionregistration.k8s.io/v1');
  assert.equal(older?.apiVersion, 'admissionregistration.k8s.io/v1beta1');
  assert.match(JSON.stringify(newer), /Object\.spec\.volumes\.image/);
  assert.match(JSON.stringify(older), /Object\.spec\.initContainers/);
  const same = await policyOf('1.36.0', { delivery: 'initContainer' });
  assert.deepEqual(older['spec'], same?.['spec']);
  assert.match(
    await complaint({}, { chart: injectorChart, release, args: ['--kube-version', '1.33.9'] }),
    /kubeVersion: >=1\.34\.0-0/,
  );
});

test('M-02 M-13 the policy of the injector has failurePolicy Ignore, and uses no parameter object that could be missing', async () => {
  const [policy] = await rendered();
  const spec = policy?.['spec'] as Record<string, unknown>;
  assert.equal(spec['failurePolicy'], 'Ignore');
  assert.equal(spec['reinvocationPolicy'], 'IfNeeded');
  assert.equal(spec['paramKind'], undefined);
});

test('Helm 3 and Helm 4 render the same injector, and helm lint reports nothing', async () => {
  const [first, second] = await Promise.all(
    helms.map((helm) => objects({ allPods: true }, { chart: injectorChart, release, helm })),
  );
  assert.deepEqual(first, second);
  for (const helm of helms) assert.equal((await run(helm, ['lint', '--strict', injectorChart])).code, 0);
});

interface Property {
  readonly description: string;
  readonly default: unknown;
}

const read = (file: string): string => readFileSync(join(injectorChart, file), 'utf8');
const { properties } = JSON.parse(read('values.schema.json')) as { properties: Record<string, Property> };

test('values.yaml of the injector has the values, defaults and descriptions of the schema', () => {
  const values = parseDocument(read('values.yaml'));
  const described = (values.contents as YAMLMap<Scalar<string>, Scalar>).items.map(({ key, value }, index) => {
    const comment = index === 0 ? values.commentBefore?.split('\n\n').at(-1) : key.commentBefore;
    const text = (comment ?? '').replaceAll(/\n?^ /gm, ' ').trim();
    return [key.value, { text, default: value?.value }] as const;
  });
  assert.deepEqual(
    Object.fromEntries(described.map(([name, { default: value }]) => [name, value])),
    defaultsOf(properties),
  );
  for (const [name, { text }] of described.slice(1)) {
    const said = properties[name]?.description.replaceAll('`', '') ?? '';
    assert.ok(text.replaceAll('`', '').startsWith(said.split('. ')[0] ?? ''), `${name}: ${text}`);
  }
});

function defaultsOf(all: Readonly<Record<string, Property>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(all).map(([name, property]) => [name, property.default]));
}

test("the table in the injector's README has the names, defaults and descriptions of the values in values.schema.json", () => {
  const [first, last] = [
    '<!-- The table comes from values.schema.json: UPDATE=1 npm run test:chart. -->',
    '<!-- Up to here. -->',
  ];
  const rows = Object.entries(properties).map(
    ([name, { description, default: value }]) =>
      `| \`${name}\` | ${value === '' ? '' : `\`${String(value)}\``} | ${description} |`,
  );
  const table = ['| value | default | meaning |', '| --- | --- | --- |', ...rows];
  const lines = [first, '<!-- prettier-ignore-start -->', '', ...table, '', '<!-- prettier-ignore-end -->', last];
  const readme = read('README.md');
  const [before = '', rest = ''] = readme.split(first);
  const whole = `${before}${lines.join('\n')}${rest.split(last)[1] ?? ''}`;
  if (process.env['UPDATE'] === '1') writeFileSync(join(injectorChart, 'README.md'), whole);
  else assert.equal(readme, whole);
});
