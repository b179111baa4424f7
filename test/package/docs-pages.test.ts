// Tests every hand-written page: its links must lead to something that exists, and its defaults must equal those of the
// settings table.
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { settingVariables } from '../../src/settings/complete.ts';
import { settingsTable, type SettingName } from '../../src/settings/table.ts';
import { disabledVariable } from '../../src/settings/environment.ts';
import { linksIn, readPage, root, tablesIn } from '../support/markdown.ts';

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'examples/README.md',
  ...readdirSync(join(root, 'docs')).map((file) => `docs/${file}`),
].filter((file) => file.endsWith('.md'));
const isGenerated = (file: string): boolean => readPage(file).includes('Written by `npm run docs`');

for (const file of pages) {
  test(`the links in ${file} lead to a file and a heading that exist`, () => {
    for (const link of linksIn(readPage(file)).filter((target) => !target.startsWith('http'))) {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? file : join(dirname(file), path);
      assert.ok(existsSync(join(root, target)), link);
      if (anchor !== undefined) assert.ok(anchorsOf(target).includes(anchor), link);
    }
  });

  test(`${file} names only LAMEDUCK_ variables that exist`, () => {
    const known = [...settingVariables, disabledVariable];
    const named = readPage(file).match(/\bLAMEDUCK_[A-Z_]*[A-Z]\b/g) ?? [];
    for (const name of named.filter((found) => !found.startsWith('LAMEDUCK_ERR_')))
      assert.ok(known.includes(name), name);
  });
}

for (const file of pages.filter((page) => !isGenerated(page))) {
  test(`${file} contains none of the words just, easy, easily, simple and simply`, () => {
    assert.deepEqual(readPage(file).match(/\b(just|eas(y|ily)|simpl[ey])\b/gi), null);
  });
}

test('docs/README.md lists every page of docs/', () => {
  const listed = new Set(linksIn(readPage('docs/README.md')).map((link) => link.replace(/#.*/, '')));
  const missing = readdirSync(join(root, 'docs')).filter((file) => file.endsWith('.md') && !listed.has(file));
  assert.deepEqual(missing, ['README.md']);
});

test('the settings in the README have the defaults of docs/settings.md', () => {
  const inSettings = new Map(
    (tablesIn(readPage('docs/settings.md'))[0] ?? []).map(([name = '', , byDefault]) => [
      name.replace(/<br>.*/, ''),
      byDefault,
    ]),
  );
  const [, ...rows] = tablesIn(readPage('README.md')).find(([head]) => head?.[0] === 'option') ?? [];
  assert.notEqual(rows.length, 0);
  for (const [name = '', byDefault] of rows) assert.equal(byDefault, inSettings.get(name), name);
});

test('the sum of the shutdown budget in docs/lifecycle.md results from the default settings in a cluster', () => {
  const inCluster = true;
  const rows = tablesIn(readPage('docs/lifecycle.md')).find(([head]) => head?.[0] === 'part') ?? [];
  const seconds = (text: string): number => {
    const [, value = ''] = rows.find(([part]) => part?.includes(text)) ?? [];
    return Number(value.replace(' s', ''));
  };
  const byDefault = (name: SettingName): number => Number(settingsTable[name].default(inCluster));
  assert.equal(seconds('terminationGracePeriodSeconds'), byDefault('terminationGracePeriodSeconds'));
  assert.equal(seconds('preStopSeconds'), byDefault('preStopSeconds'));
  assert.equal(seconds('shutdownDelayDuration') * 1_000, byDefault('shutdownDelayDuration'));
  assert.equal(seconds('destroyHookTimeout') * 1_000, byDefault('destroyHookTimeout'));
});

// Derives anchors from headings as GitHub does.
function anchorsOf(file: string): string[] {
  return [...readPage(file).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}
