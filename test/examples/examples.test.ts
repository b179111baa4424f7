// Tests the folders of examples/ that have their own package.json. `.ci/register-programs` runs the programs.
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readPage, root } from '../support/markdown.ts';

const names = readdirSync(join(root, 'examples')).filter((name) => {
  return existsSync(join(root, 'examples', name, 'package.json'));
});

test('each example is listed in examples/README.md, and .ci/register-programs runs it', () => {
  assert.notEqual(names.length, 0);
  const page = readPage('examples/README.md');
  const script = readPage('.ci/register-programs').replaceAll('\\\n', ' ');
  const placed = [...script.matchAll(/^ *place_examples (?:\.|long) (.*)$/gm)].flatMap(([, list = '']) =>
    list.trim().split(/ +/),
  );
  assert.deepEqual(placed.sort(), names.sort());
  const run = readPage('test/suites/adoption/examples.ts');
  for (const name of names) {
    assert.ok(page.includes(`](${name})`), name);
    assert.ok(run.includes(`name: '${name}'`), name);
  }
});

test('each file of a folder in examples/ has fewer than 40 lines', () => {
  for (const name of names) {
    const folder = join(root, 'examples', name);
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
      /\.(c?js|jsx|ts)$/.test(file),
    );
    assert.notEqual(files.length, 0, name);
    for (const file of files) {
      const lines = readPage(join('examples', name, file)).split('\n').length - 1;
      assert.ok(lines < 40, `${name}/${file} has ${String(lines)} lines`);
    }
  }
});

test('the package.json of each example depends on the current version of lameduck', () => {
  const { version } = JSON.parse(readPage('package.json')) as { version: string };
  for (const name of names) {
    const { dependencies } = JSON.parse(readPage(`examples/${name}/package.json`)) as {
      dependencies: Readonly<Record<string, string>>;
    };
    assert.equal(dependencies['lameduck'], `^${version}`, name);
  }
});
