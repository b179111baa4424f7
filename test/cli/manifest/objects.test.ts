import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readObjects } from '../../../src/cli/manifest/objects.ts';

const names = (content: string): string[] => readObjects(content, 'all.yaml').objects.map(({ name }) => name);

const reasons = (content: string): string[] =>
  readObjects(content, 'all.yaml').unreadable.map(({ file, line, reason }) => `${file}:${String(line)}: ${reason}`);

test('an invalid document in a manifest is reported with file and line, and the other documents are read', () => {
  const content = [
    'kind: Pod',
    'metadata: { name: first }',
    '---',
    'kind: Pod',
    'metadata: { name: "second',
    '---',
    'kind: Pod',
    'metadata: { name: third }',
    '',
  ].join('\n');
  assert.deepEqual(names(content), ['first', 'third']);
  assert.deepEqual(reasons(content), ['all.yaml:5: the document is not YAML: Missing closing "quote']);
});

test('the items of a List are read as objects, and each of their fields has its line number', () => {
  const content = [
    '# rendered',
    'kind: List',
    'items:',
    '  - kind: Pod',
    '    metadata:',
    '      name: a',
    '    spec:',
    '      containers:',
    '        - name: app',
    '  - kind: PodList',
    '    items:',
    '      - kind: Pod',
    '',
  ].join('\n');
  const { objects } = readObjects(content, 'list.yaml');
  assert.deepEqual(
    objects.map(({ kind, line }) => [kind, line]),
    [
      ['Pod', 4],
      ['Pod', 12],
    ],
  );
  assert.equal(objects[0]?.lineOf(['spec', 'containers', 0, 'name']), 9);
  assert.equal(
    objects[0].lineOf(['spec', 'containers', 0, 'image']),
    9,
    'the parsed object must not have a field that the YAML text lacks',
  );
  assert.equal(objects[0].lineOf(['status', 'phase']), 4);
});

for (const [items, line, got] of [
  ['', 1, 'but is not set'],
  ['items: null\n', 2, 'got null'],
  ['items: {}\n', 2, 'got {}'],
] as const) {
  test(`a List whose field \`items\` is not a list is reported at its line, and the other documents are read: ${items}`, () => {
    for (const kind of ['List', 'PodList']) {
      const content = `kind: ${kind}\n${items}---\nkind: Pod\nmetadata: { name: a }\n`;
      const reason = `the field items of a ${kind} must be a list of objects, ${got}`;
      assert.deepEqual(reasons(content), [`all.yaml:${String(line)}: ${reason}`]);
      assert.deepEqual(names(content), ['a']);
    }
  });
}

test('a List without objects is valid, and a null in a List is reported as an object without a kind', () => {
  assert.deepEqual(readObjects('kind: List\nitems: []\n', 'a'), { objects: [], unreadable: [] });
  assert.deepEqual(reasons('kind: List\nitems:\n  - kind: Pod\n  - null\n'), [
    'all.yaml:4: the document is not a Kubernetes object, because it has no kind',
  ]);
});

test('an object of another kind whose name ends with List needs no items', () => {
  assert.equal(readObjects('apiVersion: example.com/v1\nkind: AllowList\n', 'a').objects[0]?.kind, 'AllowList');
});

test('aliases and merge keys in YAML are resolved, and each field has its line number', () => {
  const content = 'kind: Pod\nbase: &base\n  grace: 5\nspec: *base\nother: { <<: *base, more: 1 }\n';
  const [pod] = readObjects(content, 'alias.yaml').objects;
  assert.deepEqual([pod?.fields['spec'], pod?.fields['other']], [{ grace: 5 }, { grace: 5, more: 1 }]);
  assert.equal(pod?.lineOf(['spec', 'grace']), 3);
});

test('a YAML alias without an anchor before it is reported at its own line, and the other documents are read', () => {
  const content = 'kind: Pod\nspec:\n  first: &known 1\n  second: *known\n  third: *foo\nfoo: &foo 2\n---\nkind: Job\n';
  assert.deepEqual(reasons(content), ['all.yaml:5: the document is not YAML: no anchor &foo precedes the alias *foo']);
  assert.equal(readObjects(content, 'all.yaml').objects[0]?.kind, 'Job');
});

for (const [what, content, line] of [
  ['in a map', 'kind: Pod\na: &x\n  b: *x\n', 3],
  ['in a list within its value', 'kind: Pod\na: &x\n  - b:\n      - *x\n', 4],
  ['as a merge key', 'kind: Pod\na: &x\n  more: 1\n  <<: *x\n', 4],
  ['although the anchor is used again later', 'kind: Pod\na: &x\n  - *x\nb: &x 1\n', 3],
] as const) {
  test(`a YAML alias inside the value of its own anchor is reported at its own line, and the other documents are read: ${what}`, () => {
    const reason = 'the alias *x is inside the value of its own anchor &x, so this value would contain itself';
    assert.deepEqual(reasons(`${content}---\nkind: Job\n`), [`all.yaml:${String(line)}: ${reason}`]);
    assert.equal(readObjects(`${content}---\nkind: Job\n`, 'all.yaml').objects[0]?.kind, 'Job');
  });
}

test('a manifest whose YAML aliases would expand beyond a limit is rejected', () => {
  const levels = Array.from('abcdefghij', (name) => name).map((name, index, all) => {
    const before = all[index - 1];
    return `${name}: &${name} [${Array(9)
      .fill(before === undefined ? 'lol' : `*${before}`)
      .join(', ')}]`;
  });
  assert.match(reasons(`kind: Pod\n${levels.join('\n')}\n`).join(), /all\.yaml:1: Excessive alias count/);
  assert.equal(readObjects('kind: Pod\nloop: &loop [*loop]\n', 'loop.yaml').objects.length, 0);
});

test('numbers and booleans in a manifest are parsed as in YAML 1.1, except that dates and base-60 numbers stay strings', () => {
  const content = 'kind: Pod\nmode: 0644\nwanted: yes\nwhen: 2026-01-01\nports: 22:22\n';
  const { kind, mode, wanted, when, ports } = readObjects(content, 'types.yaml').objects[0]?.fields ?? {};
  assert.deepEqual([kind, mode, wanted, when, ports], ['Pod', 420, true, '2026-01-01', '22:22']);
});

// Plain YAML scalars and their values. `yaml.YAMLToJSON` of sigs.k8s.io/yaml v1.6.0 returns each scalar in `strings` as
// the same string, and each scalar in `numbers` as the number after the `=`.
const strings = [
  'e2 E5 e10 . + .e3 +.e3 _1 .41_ 1e 1e+ 1.2.3 0x 0xg 0b2 -.nan 1:30 2026-01-01 .5e999 1e400 -1e400 12e4567',
  '0x52908400098527886E0F7030069857D2E4169EE7',
];
const numbers = [
  '0_=0 00=0 0o17=15 0O17=15 -0o17=-15 017=15 0644=420 08=8 09.5=9.5 0x1F=31 -0X1f=-31 0b11=3 +0B11=3 -7=-7',
  '1_000=1000 5.=5 .5=0.5 +.5=0.5 -.5e1=-5 1e3=1000 1E-3=0.001 1e_3=1000 1.5e+3=1500 1_2.3=12.3',
  '18446744073709551615=18446744073709551615 077777777777777777777777777=7.777777777777777e+25',
];

test('the plain scalars of a manifest are read as kubectl reads them: e2 and `.` are strings, and 0o17 is a number', () => {
  const words = (lines: readonly string[]): string[] => lines.join(' ').split(' ');
  const all = [
    ...words(strings).map((text) => [text, text] as const),
    ...words(numbers)
      .map((one) => one.split('='))
      .map(([text = '', number]) => [text, Number(number)] as const),
  ];
  const content = `kind: Pod\nread:\n${all.map(([text]) => `  - ${text}\n`).join('')}`;
  const read = readObjects(content, 'scalars.yaml').objects[0]?.fields['read'];
  assert.ok(Array.isArray(read));
  assert.deepEqual(
    all.map(([text], index) => [text, read[index] as unknown]),
    all,
  );
  const explicit = 'kind: Pod\nread: [!!str 5, !!int 5, !!float 5, !!int 0o17, "5", \'e2\']\n';
  assert.deepEqual(readObjects(explicit, 'a').objects[0]?.fields['read'], ['5', 5, 5, 15, '5', 'e2']);
});

test('a number that JSON does not have, such as .inf, is reported at its line, because kubectl rejects the document', () => {
  for (const text of ['.inf', '+.Inf', '-.INF', '.nan', '.NaN'])
    assert.deepEqual(reasons(`kind: Pod\nmetadata: { name: a }\nspec: ${text}\n---\nkind: Job\n`), [
      `all.yaml:3: the document is not YAML: kubectl cannot convert ${text} to JSON`,
    ]);
});

test('a duplicate key in YAML is reported, and the object is read in spite of it', () => {
  const content = 'kind: Pod\nmetadata:\n  name: old\n  name: new\n';
  assert.deepEqual(names(content), ['new']);
  assert.deepEqual(reasons(content), ['all.yaml:4: a key is repeated in one map, and its last value takes effect']);
  assert.equal(readObjects(content, 'a').objects[0]?.lineOf(['metadata', 'name']), 4);
});

test('a YAML document that is not a Kubernetes object is reported as such, and the report of a Helm template says how to render it', () => {
  assert.deepEqual(reasons('a: 1\n---\n- b\n---\njust words\n---\n# nothing\n'), [
    'all.yaml:1: the document is not a Kubernetes object, because it has no kind',
    'all.yaml:3: the document is not a Kubernetes object, because it has no kind',
    'all.yaml:5: the document is not a Kubernetes object, because it has no kind',
  ]);
  assert.match(
    reasons('kind: {{ .Values.kind }}\n').join(),
    /render the template first, for example with helm template/,
  );
});

test('if the field `kind` of an object is not a string, the report has its line, its value, and an example of a valid kind', () => {
  const reason = 'the document is not a Kubernetes object: kind must be a string such as Deployment, got';
  for (const [kind, got] of [
    ['5', '5'],
    ['[Pod]', '["Pod"]'],
    ['true', 'true'],
  ] as const)
    assert.deepEqual(reasons(`metadata: { name: shop }\nkind: ${kind}\n`), [`all.yaml:2: ${reason} ${got}`]);
  assert.deepEqual(reasons('kind: List\nitems:\n  - metadata: {}\n    kind: 5\n'), [`all.yaml:4: ${reason} 5`]);
  assert.match(reasons('kind:\n').join(), /because it has no kind$/);
});

test('YAML directives, comments, Windows line ends and JSON are read', () => {
  assert.deepEqual(names('# first\n%YAML 1.1\n---\nkind: Pod\nmetadata: { name: a }\n'), ['a']);
  assert.deepEqual(names('kind: Pod\r\nmetadata:\r\n  name: a\r\n---\r\nkind: Pod\r\n'), ['a', '']);
  assert.deepEqual(names('{"kind": "Pod", "metadata": {"name": "a"}}'), ['a']);
});
