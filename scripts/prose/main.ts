// Checks the English of every page and of every comment, and exits with 1 if a sentence breaks a rule:
//
//   npm run prose -- [PATH...]   checks only the files whose path begins with PATH
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TextlintKernel } from '@textlint/kernel';
import markdown from '@textlint/textlint-plugin-markdown';
import { proseOf } from './comments.ts';
import { sentences } from './rules.ts';

const root = join(import.meta.dirname, '../..');
const patterns = [
  '*.md',
  '{docs,helm,examples,.github}/**/*.md',
  '{src,test,bench,scripts,examples}/**/*.{ts,mts,cts,js,mjs,cjs}',
  '{helm,docker,examples,.github}/**/*.{yaml,yml,tpl,sh,cjs}',
  '{docker,test}/**/{Dockerfile*,*.sh}',
  '.ci/*',
  '*.{js,ts}',
];
/**
 * The prose check skips files of other projects. It skips conformance.md, because that page repeats the titles of
 * tests, and rehearsal-truth.md, because that page has measured times.
 */
const others = [
  '**/node_modules/**',
  '**/charts/**',
  'test/suites/adoption/programs/**',
  'docs/conformance.md',
  'docs/rehearsal-truth.md',
];

const prefixes = process.argv.slice(2);
const files = globSync(patterns, { cwd: root, exclude: others })
  .filter((file) => prefixes.length === 0 || prefixes.some((prefix) => file.startsWith(prefix)))
  .sort();
if (files.length === 0) throw new Error(`no file begins with ${prefixes.join(' or ')}`);

const kernel = new TextlintKernel();
const options = {
  ext: '.md',
  plugins: [{ pluginId: 'markdown', plugin: markdown.default }],
  rules: [{ ruleId: 'sentences', rule: sentences }],
};
let problems = 0;
for (const file of files) {
  const { messages } = await kernel.lintText(proseOf(file, readFileSync(join(root, file), 'utf8')), options);
  for (const { loc, message } of messages) console.log(`${file}:${String(loc.start.line)}: ${message}`);
  problems += messages.length;
}
if (problems > 0) {
  console.error(`${String(problems)} sentences to rewrite`);
  process.exitCode = 1;
}
