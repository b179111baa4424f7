// Runs `lameduck lint` as a user does: files and standard input, formats, suppressions, exit codes, invalid arguments.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { judge } from '../../../src/cli/lint/judge.ts';
import { readObjects } from '../../../src/cli/manifest/objects.ts';
import { CommandUnderTest } from '../../support/command-under-test.ts';
import { disposed } from '../../support/disposed.ts';
import { lameduck, main } from '../../support/lameduck-command.ts';

const bad = `kind: Deployment
metadata:
  name: shop
spec:
  template:
    spec:
      containers:
        - name: shop
          lifecycle: { preStop: { sleep: { seconds: 30 } } }
`;
const good = bad.replace('seconds: 30', 'seconds: 10');

function folder(t: TestContext, files: Readonly<Record<string, string>>): string {
  const path = mkdtempSync(join(tmpdir(), 'lint-'));
  t.after(() => {
    rmSync(path, { recursive: true });
  });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  return path;
}

interface Printed {
  readonly schema: string;
  readonly workloads: number;
  readonly findings: readonly Readonly<Record<string, unknown>>[];
  readonly suppressed: readonly Readonly<Record<string, unknown>>[];
  readonly skipped: readonly Readonly<Record<string, unknown>>[];
}

async function lintJson(t: TestContext, files: Readonly<Record<string, string>>): Promise<Printed & { code: number }> {
  const path = folder(t, files);
  const names = Object.keys(files).map((name) => join(path, name));
  const { code, output } = await lameduck(t, ['lint', '--format=json', ...names]);
  const printed = JSON.parse(output.replaceAll(`${path}/`, '')) as Printed;
  return { ...printed, code: code ?? -1 };
}

test('a finding of `lameduck lint` has rule, file, line, path, value, remedy and link, and the exit code is 1', async (t) => {
  const path = folder(t, { 'bad.yaml': bad, 'good.yaml': good });
  const { code, output } = await lameduck(t, ['lint', join(path, 'good.yaml'), join(path, 'bad.yaml')]);
  assert.equal(code, 1);
  assert.equal(
    output.replaceAll(`${path}/`, ''),
    [
      'bad.yaml:9  error  pre-stop-fills-grace-period  Deployment shop',
      '  spec.template.spec.containers[0].lifecycle.preStop.sleep.seconds: 30',
      '  The preStop hook sleeps for 30 s of a grace period of 30 s. The process gets at most 2 s between the stop signal and SIGKILL.',
      '  remedy: Set terminationGracePeriodSeconds to 30 s for the preStop hook, plus the longest request, plus a margin of some seconds.',
      '  docs/lint.md#pre-stop-fills-grace-period',
      '',
      '1 error in 2 workloads',
      '',
    ].join('\n'),
  );
});

test('`lameduck lint` exits with 0 for a correct manifest, and reports advice only with the option --advice', async (t) => {
  const path = folder(t, { 'good.yaml': good });
  const file = join(path, 'good.yaml');
  assert.deepEqual(await lameduck(t, ['lint', file]), { code: 0, output: 'no errors in 1 workload\n' });
  const { code, output } = await lameduck(t, ['lint', '--advice', file]);
  assert.equal(code, 1);
  assert.match(output, /good\.yaml:8 {2}advice {2}no-memory-limit[^]*\nno errors, 1 advice in 1 workload\n$/);
});

test('`lameduck lint` reads standard input if the file argument is missing or is -', async (t) => {
  for (const args of [[], ['-']]) {
    const command = disposed(t, new CommandUnderTest(process.execPath, [main, 'lint', ...args], { stdin: 'pipe' }));
    command.child.stdin?.end(bad);
    assert.equal((await command.exit).code, 1);
    assert.match(command.output, /^standard input:9 {2}error/);
  }
});

test('the JSON of `lameduck lint` follows its schema, and has the value null for a field that the manifest lacks', async (t) => {
  const { code, schema, workloads, findings } = await lintJson(t, {
    'a.yaml': `${bad}---\nkind: ServiceMonitor\nmetadata: { name: shop }\n`,
  });
  assert.deepEqual([code, schema, workloads], [1, 'lameduck/lint/v1', 1]);
  const [finding] = findings;
  assert.deepEqual(
    [finding?.['rule'], finding?.['severity'], finding?.['file'], finding?.['line'], finding?.['value']],
    ['pre-stop-fills-grace-period', 'error', 'a.yaml', 9, 30],
  );
  assert.deepEqual(finding?.['object'], { kind: 'Deployment', namespace: '', name: 'shop' });
  const { output } = await lameduck(t, [
    'lint',
    '--format=json',
    '--advice',
    join(folder(t, { 'b.yaml': good }), 'b.yaml'),
  ]);
  assert.equal((JSON.parse(output) as Printed).findings[0]?.['value'], null);
});

test('the output of `lameduck lint` for GitHub is escaped, and is empty for a correct manifest', async (t) => {
  const path = folder(t, { 'a,b.yaml': bad, 'good.yaml': good });
  const { output } = await lameduck(t, ['lint', '--format', 'github', join(path, 'a,b.yaml')]);
  assert.match(
    output,
    /^::error file=\/[^,]*a%2Cb\.yaml,line=9,title=lameduck lint%3A pre-stop-fills-grace-period::spec\.template[^\n]*%0AThe preStop [^\n]*%0Adocs\/lint\.md#pre-stop-fills-grace-period\n$/,
  );
  assert.deepEqual(await lameduck(t, ['lint', '--format=github', join(path, 'good.yaml')]), { code: 0, output: '' });
});

test('an annotation with a reason, on an object or on its pod template, suppresses a finding of `lameduck lint`', async (t) => {
  const note = 'lameduck/ignore-pre-stop-fills-grace-period: it serves nothing';
  const onObject = bad.replace('  name: shop\n', `  name: shop\n  annotations:\n    ${note}\n`);
  const onPods = bad.replace('    spec:\n', `    metadata:\n      annotations:\n        ${note}\n    spec:\n`);
  for (const manifest of [onObject, onPods]) {
    const { code, findings, suppressed } = await lintJson(t, { 'a.yaml': manifest });
    assert.deepEqual([code, findings], [0, []]);
    assert.deepEqual(
      suppressed.map(({ rule, reason }) => [rule, reason]),
      [['pre-stop-fills-grace-period', 'it serves nothing']],
    );
  }
});

test('an annotation without a reason or with an unknown rule is an error for `lameduck lint`, and suppresses no finding', async (t) => {
  for (const note of ['lameduck/ignore-pre-stop-fills-grace-period: ""', 'lameduck/ignore-pre-stop: fine']) {
    const manifest = bad.replace('  name: shop\n', `  name: shop\n  annotations:\n    ${note}\n`);
    const { findings } = await lintJson(t, { 'a.yaml': manifest });
    assert.deepEqual(
      findings.map(({ rule, line }) => [rule, line]),
      [
        ['bad-suppression', 5],
        ['pre-stop-fills-grace-period', 11],
      ],
    );
  }
});

test('`lameduck lint` names invalid documents and unknown kinds by file and line, and checks the remaining documents', async (t) => {
  const list = `kind: List\nitems:\n${bad.replace(/^/gm, '    ').replace('    kind', '  - kind').trimEnd()}\n`;
  const { findings, skipped } = await lintJson(t, {
    'broken.yaml': `kind: Pod\n  metadata: {}\n---\n${bad}`,
    'list.yaml': `kind: Rollout\nmetadata: { name: shop }\n---\n${list}`,
  });
  assert.deepEqual(
    findings.map(({ rule, file, line }) => [rule, file, line]),
    [
      ['unreadable', 'broken.yaml', 1],
      ['pre-stop-fills-grace-period', 'broken.yaml', 12],
      ['pre-stop-fills-grace-period', 'list.yaml', 14],
    ],
  );
  assert.deepEqual(skipped, [
    { file: 'list.yaml', line: 1, reason: 'Rollout shop is not judged: lint has no rules for this kind' },
  ]);
});

test('`lameduck lint` does not check an object that has the name of a Kubernetes kind but another API group', () => {
  const foreign = ['serving.knative.dev/v1 Service', 'batch.volcano.sh/v1alpha1 Job', 'apps.kruise.io/v1 StatefulSet'];
  const manifest = [...foreign, 'extensions/v1beta1 Deployment', 'v1 Service', 'keda.sh/v1alpha1 ScaledObject']
    .map((one) => one.split(' '))
    .map(([version = '', kind = '']) => `apiVersion: ${version}\nkind: ${kind}\nmetadata: { name: a }\nspec: 5\n`)
    .join('---\n');
  const { findings, skipped } = judge([readObjects(manifest, 'a.yaml')], true);
  assert.deepEqual(
    findings.map(({ rule, line }) => [rule, line]),
    [16, 21, 26].map((line) => ['wrong-type', line + 3]),
  );
  const reason = 'a is not judged: lint has no rules for this kind';
  assert.deepEqual(skipped, [
    { file: 'a.yaml', line: 1, reason: `Service.serving.knative.dev ${reason}` },
    { file: 'a.yaml', line: 6, reason: `Job.batch.volcano.sh ${reason}` },
    { file: 'a.yaml', line: 11, reason: `StatefulSet.apps.kruise.io ${reason}` },
  ]);
});

test('`lameduck lint` names each file that it cannot read, judges the remaining files, and exits with 2', async (t) => {
  const path = folder(t, { 'bad.yaml': bad });
  const files = ['first.yaml', 'bad.yaml', 'last.yaml'].map((name) => join(path, name));
  const { code, output } = await lameduck(t, ['lint', ...files]);
  assert.equal(code, 2);
  const printed = output.replaceAll(`${path}/`, '');
  assert.match(printed, /^bad\.yaml:9 {2}error {2}pre-stop-fills-grace-period[^]*\n1 error in 1 workload$/m);
  assert.match(printed, /^lameduck lint: unable to read first\.yaml: ENOENT.*; unable to read last\.yaml: ENOENT/m);
});

test('`lameduck lint` exits with 2 and names the input if standard input or a file has no Kubernetes object', async (t) => {
  for (const empty of ['', '# only a comment\n---\n', 'kind: List\nitems: []\n']) {
    const path = folder(t, { 'a.yaml': empty, 'b.yaml': empty, 'good.yaml': good });
    for (const [files, names] of [
      [[], 'standard input'],
      [['-'], 'standard input'],
      [['a.yaml'], 'a.yaml'],
      [['a.yaml', 'b.yaml'], 'a.yaml, b.yaml'],
    ] as const) {
      const args = ['lint', '--format=json', ...files.map((name) => (name === '-' ? name : join(path, name)))];
      const command = disposed(t, new CommandUnderTest(process.execPath, [main, ...args], { stdin: 'pipe' }));
      command.child.stdin?.end(empty);
      assert.equal((await command.exit).code, 2);
      assert.equal(
        command.output.replaceAll(`${path}/`, ''),
        `lameduck lint: nothing was judged, because there is no Kubernetes object in ${names}\nlameduck lint --help shows examples\n`,
      );
    }
    const { code } = await lameduck(t, ['lint', join(path, 'a.yaml'), join(path, 'good.yaml')]);
    assert.equal(code, 0);
  }
});

test('`lameduck lint` never crashes on a field of an unexpected type', async (t) => {
  const wrong = ['null', '[]', '"text"', '7', '{}', '[null]', '[7]', '[{}]'];
  const paths = [
    'metadata: X',
    'spec: X',
    'spec: { template: X }',
    'spec: { template: { spec: X } }',
    'spec: { template: { spec: { containers: X } } }',
    'spec: { template: { metadata: X, spec: {} } }',
    ...['env', 'ports', 'lifecycle', 'livenessProbe', 'command', 'resources', 'image'].map(
      (field) => `spec: { template: { spec: { containers: [{ ${field}: X }] } } }`,
    ),
    ...['selector', 'ports', 'rules', 'metrics', 'strategy', 'scaleTargetRef'].map((field) => `spec: { ${field}: X }`),
  ];
  const kinds = ['Deployment', 'StatefulSet', 'Service', 'Ingress', 'HorizontalPodAutoscaler', 'PodDisruptionBudget'];
  const documents = kinds.flatMap((kind) =>
    paths.flatMap((path) => wrong.map((value) => `kind: ${kind}\n${path.replace('X', value)}\n`)),
  );
  const file = join(folder(t, { 'wrong.yaml': documents.join('---\n') }), 'wrong.yaml');
  const { code, output } = await lameduck(t, ['lint', '--advice', '--format=json', file]);
  assert.equal(code, 1, output.slice(0, 2_000));
});

for (const [args, problem] of [
  [['nowhere.yaml'], /^lameduck lint: unable to read nowhere\.yaml: ENOENT/],
  [['src'], /^lameduck lint: src is a folder: name its files, such as src\/\*\.yaml\n/],
  [['--format=xml', 'a.yaml'], /^lameduck lint: --format must be one of text, json, github, got "xml"\n/],
  [
    ['--kubernetes-version=latest', 'a.yaml'],
    /^lameduck lint: --kubernetes-version must be a version such as 1\.29, got "latest"\n/,
  ],
  [
    ['--kubernetes-version=1.29..1.30', 'a.yaml'],
    /^lameduck lint: --kubernetes-version must be a version such as 1\.29, got "1\.29\.\.1\.30"\n/,
  ],
  [
    ['--kubernetes-version=', 'a.yaml'],
    /^lameduck lint: --kubernetes-version must be a version such as 1\.29, got ""\n/,
  ],
  [['--advise'], /^lameduck lint: Unknown option '--advise'/],
] as const) {
  test(`the command lameduck lint ${args.join(' ')} exits with 2, and prints the reason and a hint`, async (t) => {
    const { code, output } = await lameduck(t, ['lint', ...args]);
    assert.equal(code, 2);
    assert.match(output, problem);
    assert.match(output, /\nlameduck lint --help shows examples\n$/);
  });
}

test('H-080 `lameduck lint` finds a preStop sleep that a version of Kubernetes removes, if --kubernetes-version names this version', async (t) => {
  const file = join(folder(t, { 'good.yaml': good }), 'good.yaml');
  for (const version of ['1.29', 'v1.29.4']) {
    const { code, output } = await lameduck(t, ['lint', '--kubernetes-version', version, file]);
    assert.equal(code, 1);
    assert.match(output, /good\.yaml:9 {2}error {2}dropped-pre-stop-sleep/);
  }
  assert.equal((await lameduck(t, ['lint', '--kubernetes-version=1.30', file])).code, 0);
  assert.match((await lameduck(t, ['lint', '--help'])).output, /\n {2}--kubernetes-version 1\.29 /);
});

test('`lameduck lint --help` begins with examples, and its output has no colour without a terminal or with NO_COLOR', async (t) => {
  const { code, output } = await lameduck(t, ['lint', '--help'], { FORCE_COLOR: '' });
  assert.equal(code, 0);
  assert.match(output, /^Examples:\n {2}lameduck lint /);
  assert.equal((await lameduck(t, ['lint', '-h'])).output, output);
  assert.match((await lameduck(t, ['-h'])).output, /^Examples:\n {2}lameduck rehearse /);
  const file = join(folder(t, { 'bad.yaml': bad }), 'bad.yaml');
  const plain = await lameduck(t, ['lint', file]);
  assert.ok(!plain.output.includes('\x1b'));
  assert.ok(!(await lameduck(t, ['lint', file], { NO_COLOR: '1' })).output.includes('\x1b'));
});
