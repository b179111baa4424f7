// Tests that the folders and commands in CONTRIBUTING.md exist.
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { blocksIn, readPage, root } from '../support/markdown.ts';

const page = readPage('CONTRIBUTING.md');
const [map = ''] = blocksIn(page).flatMap(({ text }) => (text.startsWith('src/') ? [text] : []));

test('the list of folders in CONTRIBUTING.md has every folder of src, and no other folder', () => {
  const named = [...map.matchAll(/src\/([a-z-]+)\//g)].map(([, name = '']) => name);
  const folders = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  assert.deepEqual(named.sort(), folders.map(({ name }) => name).sort());
  const files = [...page.matchAll(/`([a-z]+\.ts)`/g), ...map.matchAll(/([a-z]+\.ts)/g)];
  const others = [...map.matchAll(/\b(?:test|docs|helm|docker)\/[a-z]*/g)].map(([path]) => path);
  const opened = [...page.matchAll(/`((?:src|docs|helm)\/[\w/.-]+)`/g)].map(([, path = '']) => path);
  for (const path of [...files.map(([, file = '']) => join('src', file)), ...others, ...opened])
    assert.ok(existsSync(join(root, path)), path);
});

test('the commands in CONTRIBUTING.md are scripts of the package', () => {
  const { scripts } = JSON.parse(readPage('package.json')) as { scripts: Readonly<Record<string, string>> };
  const commands = [...page.matchAll(/npm (?:run ([a-z:]+)|(test|start)\b)/g)].map(([, run, short]) => run ?? short);
  assert.notEqual(commands.length, 0);
  for (const command of commands) assert.ok(command !== undefined && command in scripts, command);
});
