// Tests the rules of `npm run prose`, and tests to which texts of a file these rules are applied.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { proseOf } from '../../scripts/prose/comments.ts';
import { problemsOf, sentencesOf } from '../../scripts/prose/rules.ts';

const long = `The drain ${'really '.repeat(23)}waits.`;

for (const [sentence, problems] of [
  ['The drain waits for `a b c d e f` and [one more](https://example.com/a) response.', []],
  [long.replace('really ', ''), []],
  [long, ['26 words, at most 25: split the sentence']],
  ['What a handler writes arrives.', ['begins with "What": begin with who or what acts']],
  ['What does a handler write?', []],
  ['ask sends one request.', []],
  ['The kubelet asks the server.', ['"asks": write "probes", "requests", "calls" or "reads"']],
  ['The server is behind a load balancer.', []],
  ['The server sends a FIN behind the response.', ['"behind": write "after"']],
] as const) {
  test(`the prose check finds ${String(problems.length)} problems in ${JSON.stringify(sentence)}`, () => {
    assert.deepEqual(problemsOf(sentence), problems);
  });
}

test('the prose check recognizes the end of a sentence after a unit and after a number', () => {
  const texts = sentencesOf('It takes 20 ms.\nThe answer is `a. b` or 503. It took 1.5 s.').map(({ text }) => text);
  assert.deepEqual(texts, ['It takes 20 xx.', 'The answer is `xxxx` or 50x.', 'It took 1.5 s.']);
});

test('the prose check reads comments that fill whole lines; it skips code, comments after code, and comment lines that show the usage of a command', () => {
  const code = [
    '// Why.',
    '//   usage [PATH]',
    "const text = '// no comment';",
    '/**',
    ' * Meaning.',
    ' */',
    'go(); // At once.',
  ];
  assert.deepEqual(proseOf('a.ts', code.join('\n')).split('\n'), [
    'Why.',
    '       usage [PATH]',
    '',
    '',
    'Meaning.',
    '',
    'At once.',
  ]);
  assert.deepEqual(proseOf('a.yaml', '#!sh\n# Why.\na: b').split('\n'), ['', 'Why.', '']);
  const template = '{{- /* Why\nand how. */ -}}\n# When.\na: {{ .b }}';
  assert.deepEqual(proseOf('a.tpl', template).split('\n'), ['Why', 'and how.', 'When.', '']);
  assert.equal(proseOf('a.md', '# Title'), '# Title');
});
